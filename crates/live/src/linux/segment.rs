//! Parsing and building of IP packets with TCP segments.

use std::net::IpAddr;

use rtolab_packet::protocol::OPTIONS;
use rtolab_packet::{Ip, NoSegment, Path, TCP_HEADER, header_checksum_holds, ip_header};
use rtolab_tcp::Codepoint;
use rtolab_tcp::wire::{Payload, WireSegment, checksum_holds};

/// A segment from a client.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedSegment<'a> {
    /// The path from the client to the server.
    pub path: Path,
    pub segment: WireSegment,
    pub codepoint: Codepoint,
    pub payload: &'a [u8],
}

/// The reason why a packet is silently dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DropReason {
    /// Neither IPv4 nor IPv6, another protocol, or incomplete.
    NotTcp,
    /// A fragment.
    Fragment,
    /// A wrong checksum, or an impossible header.
    Damaged,
    /// From or to an address that no host on a network has.
    Martian,
}

impl<'a> ReceivedSegment<'a> {
    /// Parses a packet from the device.
    pub(crate) fn read(packet: &'a [u8]) -> Result<Self, DropReason> {
        let ip = Ip::parse(packet, 0, OPTIONS).map_err(|error| match error {
            NoSegment::Other => DropReason::NotTcp,
            NoSegment::Malformed => DropReason::Damaged,
        })?;
        if !ip.is_tcp() {
            return Err(DropReason::NotTcp);
        }
        let tcp = ip.payload.get(..ip.length).ok_or(DropReason::Damaged)?;
        if !header_checksum_holds(packet) {
            return Err(DropReason::Damaged);
        }
        if ip.fragment.is_some() {
            return Err(DropReason::Fragment);
        }
        let addresses = ip.header.addresses;
        if !checksum_holds(tcp, addresses) {
            return Err(DropReason::Damaged);
        }
        if !is_host_address(addresses.from()) || !is_host_address(addresses.to()) {
            return Err(DropReason::Martian);
        }
        let segment = WireSegment::parse(tcp, tcp.len()).map_err(|_| DropReason::Damaged)?;
        if segment.ports.from == 0 || segment.ports.to == 0 {
            return Err(DropReason::Martian);
        }
        let payload = &tcp[tcp.len() - segment.len as usize..];
        let path = Path { addresses, ports: segment.ports };
        Ok(Self { path, segment, codepoint: ip.header.codepoint, payload })
    }
}

/// Can a host on a network have this address? The kernel delivers packets to the unspecified
/// address and to loopback addresses locally, so they must not reach it.
fn is_host_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            !(v4.is_unspecified()
                || v4.is_loopback()
                || v4.is_multicast()
                || v4.is_broadcast()
                || v4.octets()[0] == 0)
        }
        IpAddr::V6(v6) => {
            !(v6.is_unspecified()
                || v6.is_loopback()
                || v6.is_multicast()
                // An IPv4-mapped address, to which an IPv6 socket would connect.
                || v6.to_ipv4_mapped().is_some())
        }
    }
}

/// Writes the headers of `packet`, whose payload is already at its end.
pub(crate) fn complete(
    packet: &mut [u8],
    path: &Path,
    (segment, codepoint): (&WireSegment, Codepoint),
) {
    let payload = packet.len() - segment.len as usize;
    let tcp = segment.emit(path.addresses, Payload::Bytes(&packet[payload..]));
    let length = tcp.len() + segment.len as usize;
    // No path has an MTU above the limit of IP.
    let Some(ip) = ip_header(path.addresses, codepoint, 0, length) else { return };
    packet[payload - tcp.len()..payload].copy_from_slice(&tcp);
    packet[..ip.len()].copy_from_slice(&ip);
}

/// A packet without payload and without TCP options.
pub(crate) fn without_payload(path: &Path, segment: &WireSegment) -> Vec<u8> {
    let mut packet = vec![0; path.ip_header() + TCP_HEADER];
    complete(&mut packet, path, (segment, Codepoint::NotEct));
    packet
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use rtolab_tcp::wire::{Addresses, Ports};
    use rtolab_tcp::{Flags, SynOptions};

    use super::*;

    fn segment(len: u32) -> WireSegment {
        WireSegment {
            ports: Ports { from: 1000, to: 80 },
            seq: 7,
            ack: 9,
            len,
            window: 100,
            flags: Flags::ACK | Flags::PSH,
            syn: SynOptions::default(),
            timestamps: None,
            sack: <_>::default(),
        }
    }

    fn v4(from: [u8; 4], to: [u8; 4]) -> Addresses {
        Addresses::V4 { from: from.into(), to: to.into() }
    }

    fn v6(from: &str, to: &str) -> Addresses {
        Addresses::V6 { from: from.parse().unwrap(), to: to.parse().unwrap() }
    }

    fn packet(addresses: Addresses, payload: &[u8]) -> Vec<u8> {
        let segment = segment(payload.len() as u32);
        let path = Path { addresses, ports: segment.ports };
        let mut packet = vec![0; path.ip_header() + TCP_HEADER];
        packet.extend(payload);
        complete(&mut packet, &path, (&segment, Codepoint::Ect0));
        packet
    }

    #[test]
    fn a_built_packet_is_parsed() {
        for addresses in [v4([10, 0, 0, 1], [10, 0, 0, 2]), v6("fd00::1", "fd00::2")] {
            let packet = packet(addresses, b"payload");
            let arrived = ReceivedSegment::read(&packet).unwrap();
            assert_eq!((arrived.path.addresses, arrived.payload), (addresses, &b"payload"[..]));
            assert_eq!((arrived.segment, arrived.codepoint), (segment(7), Codepoint::Ect0));
        }
    }

    #[test]
    fn damaged_packets_and_martians_are_dropped() {
        let read = |packet: &[u8]| ReceivedSegment::read(packet).map(drop).unwrap_err();
        let good = packet(v4([10, 0, 0, 1], [10, 0, 0, 2]), b"payload");
        for at in [8, 12, 25, 45] {
            let mut damaged = good.clone();
            damaged[at] ^= 1;
            assert_eq!(read(&damaged), DropReason::Damaged, "{at}");
        }
        assert_eq!(read(&good[..30]), DropReason::Damaged);
        for to in [[127, 0, 0, 1], [0, 0, 0, 0], [224, 0, 0, 1], [255; 4], [0, 1, 2, 3]] {
            assert_eq!(read(&packet(v4([10, 0, 0, 1], to), b"")), DropReason::Martian, "{to:?}");
        }
        for to in ["::1", "::", "ff02::1", "::ffff:127.0.0.1"] {
            assert_eq!(read(&packet(v6("fd00::1", to), b"")), DropReason::Martian, "{to}");
        }
    }

    #[test]
    fn fragments_are_dropped_and_extension_headers_are_skipped() {
        let mut fragment = packet(v4([10, 0, 0, 1], [10, 0, 0, 2]), b"payload");
        // The identification compensates for the flags, so that the checksum is correct.
        (fragment[4], fragment[6]) = (0x20, 0x20);
        assert_eq!(ReceivedSegment::read(&fragment).map(drop), Err(DropReason::Fragment));

        let plain = packet(v6("fd00::1", "fd00::2"), b"payload");
        let mut extended = plain.clone();
        // Destination options of eight bytes: six of padding.
        extended.splice(40..40, [6, 0, 1, 4, 0, 0, 0, 0]);
        extended[6] = 60;
        extended[5] += 8;
        assert_eq!(ReceivedSegment::read(&extended).unwrap().payload, b"payload");
        extended[6] = 44;
        assert_eq!(ReceivedSegment::read(&extended).map(drop), Err(DropReason::Fragment));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(mut bytes in vec(any::<u8>(), 0..120), v6 in any::<bool>()) {
            if let Some(first) = bytes.first_mut() {
                *first = if v6 { 0x60 } else { 0x45 };
            }
            let _ = ReceivedSegment::read(&bytes);
        }
    }
}
