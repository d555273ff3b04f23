//! ICMP messages that say that a packet is larger than the MTU of a link.

use std::net::{IpAddr, SocketAddr};

use rtolab_packet::protocol::{EXTENSIONS, IpNumber};
use rtolab_packet::{Ip, NoSegment};

use crate::frame::{self, Link};

/// The maximum number of messages that are kept.
const MAX_KEPT: usize = 64;
/// The bytes of an ICMP header, after which the packet follows that was too big.
const ICMP_HEADER: usize = 8;

/// A message of a router that a TCP packet is too big for its next link: *fragmentation needed* of
/// IPv4 (RFC 1191 section 4) or *packet too big* of IPv6 (RFC 4443 section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketTooBig {
    /// The router.
    pub router: IpAddr,
    /// The MTU of the link, in bytes.
    pub mtu: u32,
    /// The source of the packet.
    pub from: SocketAddr,
    /// The destination of the packet.
    pub to: SocketAddr,
}

impl PacketTooBig {
    /// The message in an IP packet. `None` if it is another packet, or lacks the MTU.
    fn in_ip(ip: &Ip<'_>) -> Option<Self> {
        let header: [u8; ICMP_HEADER] = ip.payload.get(..ICMP_HEADER)?.try_into().ok()?;
        let [kind, code, _, _, high, low, upper, lower] = header;
        let mtu = match (ip.protocol, kind, code) {
            (IpNumber::ICMP, 3, 4) => u32::from_be_bytes([0, 0, upper, lower]),
            (IpNumber::IPV6_ICMP, 2, 0) => u32::from_be_bytes([high, low, upper, lower]),
            _ => return None,
        };
        let quoted = &ip.payload[ICMP_HEADER..];
        let quoted = Ip::parse(quoted, quoted.len(), EXTENSIONS).ok().filter(Ip::is_tcp)?;
        let [a, b, c, d] = quoted.payload.get(..4)?.try_into().ok()?;
        let addresses = quoted.header.addresses;
        let from = SocketAddr::new(addresses.from(), u16::from_be_bytes([a, b]));
        let to = SocketAddr::new(addresses.to(), u16::from_be_bytes([c, d]));
        let is_known = ip.fragment.is_none() && mtu > 0;
        is_known.then_some(Self { router: ip.header.addresses.from(), mtu, from, to })
    }
}

/// The different messages so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct TooBigMessages(Vec<PacketTooBig>);

impl TooBigMessages {
    /// Notes a frame of `original` bytes that has no TCP segment. `bytes` is the captured part.
    pub fn note(&mut self, link: Link, bytes: &[u8], original: usize) {
        let found = frame::ip(link, bytes, original);
        let found: Result<_, NoSegment> = found.map(|ip| PacketTooBig::in_ip(&ip));
        let Ok(Some(message)) = found else { return };
        if self.0.len() < MAX_KEPT && !self.0.contains(&message) {
            self.0.push(message);
        }
    }

    pub fn all(&self) -> &[PacketTooBig] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An IPv4 header from and to these addresses of 10.0.0.0/24.
    fn v4(protocol: u8, from: u8, to: u8) -> Vec<u8> {
        let mut header = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0];
        header.extend([10, 0, 0, from, 10, 0, 0, to]);
        header
    }

    fn fragmentation_needed(mtu: u16) -> Vec<u8> {
        let [upper, lower] = mtu.to_be_bytes();
        let mut packet = v4(1, 9, 1);
        packet.extend([3, 4, 0, 0, 0, 0, upper, lower]);
        packet.extend(v4(6, 1, 2));
        packet.extend([0x9c, 0x40, 0, 80, 0, 0, 0, 7]);
        packet
    }

    fn noted(packets: &[Vec<u8>]) -> Vec<PacketTooBig> {
        let mut messages = TooBigMessages::default();
        for packet in packets {
            messages.note(Link::Raw, packet, packet.len());
        }
        messages.all().to_vec()
    }

    #[test]
    fn a_message_names_the_router_its_mtu_and_the_connection() {
        let packet = fragmentation_needed(1400);
        let [message] = noted(&[packet.clone(), packet.clone()])[..] else { panic!("one") };
        let expected = "10.0.0.9 1400 10.0.0.1:40000 10.0.0.2:80";
        let PacketTooBig { router, mtu, from, to } = message;
        assert_eq!(format!("{router} {mtu} {from} {to}"), expected);
        // Without an MTU, of another type, and cut before the ports.
        let mut other = packet.clone();
        other[20] = 11;
        let cut = packet[..50].to_vec();
        assert_eq!(noted(&[fragmentation_needed(0), other, cut]), []);
    }

    #[test]
    fn a_message_of_ipv6_has_an_mtu_of_four_bytes() {
        let header = |next: u8, from: u8, to: u8| {
            let mut header = vec![0x60, 0, 0, 0, 0, 0, next, 64];
            header.extend([0xfd; 15].into_iter().chain([from]));
            header.extend([0xfd; 15].into_iter().chain([to]));
            header
        };
        let mut packet = header(58, 9, 1);
        packet.extend([2, 0, 0, 0, 0, 1, 0, 0]);
        packet.extend(header(6, 1, 2));
        packet.extend([0x9c, 0x40, 0, 80, 0, 0, 0, 7]);
        let [message] = noted(&[packet])[..] else { panic!("one") };
        assert_eq!((message.mtu, message.from.port(), message.to.port()), (0x1_0000, 40_000, 80));
    }

    #[test]
    fn the_number_of_messages_is_bounded() {
        let packets: Vec<_> = (1..200).map(fragmentation_needed).collect();
        assert_eq!(noted(&packets).len(), MAX_KEPT);
    }
}
