//! ICMP messages that a packet was too big for the next link (RFC 792, RFC 1191, RFC 4443).

use std::net::IpAddr;

use etherparse::checksum::Sum16BitWords;
use etherparse::{Icmpv6Slice, IpNumber};
use rtolab_tcp::wire::Addresses;

use crate::ip::protocol::OPTIONS;
use crate::{Ip, Path, header_checksum_holds};

/// The MTUs of common links, for routers that do not report theirs (RFC 1191 section 7).
const PLATEAUS: [u16; 10] = [32_000, 17_914, 8166, 4352, 2002, 1492, 1006, 508, 296, 68];
/// The type and code of "fragmentation needed and DF set" (RFC 792).
const FRAGMENTATION_NEEDED: [u8; 2] = [3, 4];
/// The type and code of "packet too big" (RFC 4443 section 3.2).
const PACKET_TOO_BIG: [u8; 2] = [2, 0];
/// The length of an ICMP header, in bytes.
const ICMP_HEADER: usize = 8;

/// The message of a router that a TCP segment was too big for its next link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketTooBig {
    /// The router.
    pub router: IpAddr,
    /// The path of the segment.
    pub path: Path,
    /// The sequence number of the segment.
    pub seq: u32,
    /// The MTU of the link, in bytes, as the router reports it. A router that reports none has the
    /// largest of the common ones that is smaller than the packet.
    pub mtu: u32,
}

impl PacketTooBig {
    /// Parses the IP packet `packet`. `None` if it is no such message, or damaged.
    pub fn parse(packet: &[u8]) -> Option<Self> {
        let ip = Ip::parse(packet, 0, OPTIONS).ok()?;
        if ip.payload.len() != ip.length || !header_checksum_holds(packet) {
            return None;
        }
        let holds = match ip.header.addresses {
            Addresses::V4 { .. } => {
                Sum16BitWords::new().add_slice(ip.payload).ones_complement() == 0
            }
            Addresses::V6 { from, to } => Icmpv6Slice::from_slice(ip.payload)
                .is_ok_and(|icmp| icmp.is_checksum_valid(from.octets(), to.octets())),
        };
        let (message, length) = Self::quoting(&ip).filter(|_| holds)?;
        let plateau = || PLATEAUS.iter().find(|plateau| usize::from(**plateau) < length);
        let mtu = if message.mtu == 0 { u32::from(*plateau()?) } else { message.mtu };
        Some(Self { mtu, ..message })
    }

    /// The message in an IP packet, of which the first bytes are enough. Checksums are not
    /// verified. `None` also if the router reports no MTU.
    pub fn in_ip(ip: &Ip<'_>) -> Option<Self> {
        let (message, _) = Self::quoting(ip)?;
        (message.mtu > 0).then_some(message)
    }

    /// The message, with an MTU of 0 if the router reports none, and the length of the packet that
    /// was too big.
    fn quoting(ip: &Ip<'_>) -> Option<(Self, usize)> {
        let (header, quoted) = ip.payload.split_first_chunk::<ICMP_HEADER>()?;
        let [kind, code, _, _, high, low, upper, lower] = *header;
        let mtu = match (ip.protocol, [kind, code]) {
            (IpNumber::ICMP, FRAGMENTATION_NEEDED) => [0, 0, upper, lower],
            (IpNumber::IPV6_ICMP, PACKET_TOO_BIG) => [high, low, upper, lower],
            _ => return None,
        };
        let segment = Ip::parse(quoted, quoted.len(), OPTIONS).ok().filter(Ip::is_tcp)?;
        if ip.fragment.is_some() || segment.fragment.is_some() {
            return None;
        }
        let (addresses, ports) = (segment.header.addresses, segment.ports()?);
        let path = Path { addresses, ports };
        let [.., a, b, c, d] = *segment.payload.first_chunk::<8>()?;
        let (router, seq) = (ip.header.addresses.from(), u32::from_be_bytes([a, b, c, d]));
        let message = Self { router, path, seq, mtu: u32::from_be_bytes(mtu) };
        Some((message, path.ip_header() + segment.length))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use etherparse::{Icmpv6Header, Icmpv6Type, Ipv4Header, Ipv6Header};
    use rtolab_tcp::Codepoint;
    use rtolab_tcp::wire::Ports;

    use super::*;
    use crate::ip_header;

    const PORTS: Ports = Ports { from: 80, to: 40_000 };
    const V4: Addresses =
        Addresses::V4 { from: Ipv4Addr::new(10, 0, 0, 2), to: Ipv4Addr::new(10, 0, 0, 1) };

    fn v6() -> Addresses {
        Addresses::V6 { from: "fd00::2".parse().unwrap(), to: "fd00::1".parse().unwrap() }
    }

    /// The first bytes of a packet whose segment has `length` bytes.
    fn quoted(addresses: Addresses, length: usize) -> Vec<u8> {
        let mut quoted = ip_header(addresses, Codepoint::NotEct, 0, length).unwrap();
        quoted.extend(PORTS.from.to_be_bytes());
        quoted.extend(PORTS.to.to_be_bytes());
        quoted.extend(0x8000_0007_u32.to_be_bytes());
        quoted
    }

    fn v4_message(kind: [u8; 2], mtu: u16, quoted: &[u8]) -> Vec<u8> {
        let mut icmp = vec![kind[0], kind[1], 0, 0, 0, 0];
        icmp.extend(mtu.to_be_bytes());
        icmp.extend(quoted);
        let sum = Sum16BitWords::new().add_slice(&icmp).ones_complement();
        icmp[2..4].copy_from_slice(&sum.to_ne_bytes());
        let (from, to) = ([10, 0, 0, 77], [10, 0, 0, 2]);
        let mut ip = Ipv4Header::new(icmp.len() as u16, 64, IpNumber::ICMP, from, to).unwrap();
        ip.header_checksum = ip.calc_header_checksum();
        [ip.to_bytes().to_vec(), icmp].concat()
    }

    fn v6_message(mtu: u32, quoted: &[u8]) -> Vec<u8> {
        let ip = Ipv6Header {
            payload_length: (ICMP_HEADER + quoted.len()) as u16,
            next_header: IpNumber::IPV6_ICMP,
            hop_limit: 64,
            ..Ipv6Header::default()
        };
        let kind = Icmpv6Type::PacketTooBig { mtu };
        let icmp = Icmpv6Header::with_checksum(kind, ip.source, ip.destination, quoted).unwrap();
        [&ip.to_bytes()[..], &icmp.to_bytes(), quoted].concat()
    }

    #[test]
    fn messages_of_both_families_are_parsed() {
        for (packet, addresses) in [
            (v4_message([3, 4], 1300, &quoted(V4, 1480)), V4),
            (v6_message(1300, &quoted(v6(), 1460)), v6()),
        ] {
            let path = Path { addresses, ports: PORTS };
            let router = Ip::parse(&packet, 0, OPTIONS).unwrap().header.addresses.from();
            let expected = PacketTooBig { router, path, seq: 0x8000_0007, mtu: 1300 };
            assert_eq!(PacketTooBig::parse(&packet), Some(expected));
            for at in ICMP_HEADER..packet.len() - 1 {
                let _ = PacketTooBig::parse(&packet[..at]);
            }
        }
    }

    /// RFC 1191 section 5.
    #[test]
    fn a_router_without_an_mtu_has_that_of_the_next_smaller_common_link() {
        for (length, mtu) in [(1480, 1492), (1472, 1006), (556, 508)] {
            let packet = v4_message([3, 4], 0, &quoted(V4, length));
            assert_eq!(PacketTooBig::parse(&packet).unwrap().mtu, mtu, "{length}");
        }
    }

    #[test]
    fn other_and_damaged_messages_are_not_parsed() {
        let quote = quoted(V4, 1480);
        assert_eq!(PacketTooBig::parse(&v4_message([3, 1], 1300, &quote)), None);
        assert_eq!(PacketTooBig::parse(&v4_message([3, 4], 1300, &quote[..quote.len() - 1])), None);
        let mut udp = quote.clone();
        udp[9] = 17;
        assert_eq!(PacketTooBig::parse(&v4_message([3, 4], 1300, &udp)), None);
        for good in [v4_message([3, 4], 1300, &quote), v6_message(1300, &quoted(v6(), 1460))] {
            let mut damaged = good.clone();
            *damaged.last_mut().unwrap() ^= 1;
            assert_eq!(PacketTooBig::parse(&damaged), None);
        }
    }
}
