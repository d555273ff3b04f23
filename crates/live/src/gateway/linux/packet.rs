//! IP packets with TCP in them: what arrives from the device, and what leaves.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use rtolab_tcp::Codepoint;
use rtolab_tcp::wire::{Addresses, Payload, Ports, WireSegment, checksum_holds};

const TCP: u8 = 6;
const HOP_LIMIT: u8 = 64;
/// The length of an IPv4 header without options.
pub(super) const IPV4_HEADER: usize = 20;
/// The length of an IPv6 header.
pub(super) const IPV6_HEADER: usize = 40;

/// Both ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Way {
    pub addresses: Addresses,
    pub ports: Ports,
}

impl Way {
    #[must_use]
    pub(crate) const fn reversed(self) -> Self {
        Self { addresses: self.addresses.reversed(), ports: self.ports.reversed() }
    }

    pub(crate) const fn to(&self) -> SocketAddr {
        SocketAddr::new(self.addresses.to(), self.ports.to)
    }

    /// The bytes of an IP header without options.
    pub(crate) const fn ip_header(&self) -> usize {
        match self.addresses {
            Addresses::V4 { .. } => IPV4_HEADER,
            Addresses::V6 { .. } => IPV6_HEADER,
        }
    }
}

/// A segment that arrived.
#[derive(Clone, Debug)]
pub(crate) struct Arrived<'a> {
    /// As it came: from the client to the server.
    pub way: Way,
    pub segment: WireSegment,
    pub codepoint: Codepoint,
    pub payload: &'a [u8],
}

/// Why a packet is dropped in silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// Neither IPv4 nor IPv6, another protocol, or not all of it.
    NotTcp,
    /// A part of a packet only.
    Fragment,
    /// A checksum does not hold, or a header is impossible.
    Damaged,
    /// From or for an address that no host on a network has.
    Martian,
}

impl<'a> Arrived<'a> {
    /// Reads a packet as the device gives it.
    pub(crate) fn read(packet: &'a [u8]) -> Result<Self, Unfit> {
        let (addresses, traffic_class, tcp) = match packet.first().map(|byte| byte >> 4) {
            Some(4) => read_ipv4(packet)?,
            Some(6) => read_ipv6(packet)?,
            _ => return Err(Unfit::NotTcp),
        };
        if !checksum_holds(tcp, addresses) {
            return Err(Unfit::Damaged);
        }
        if !speaks(addresses.from()) || !speaks(addresses.to()) {
            return Err(Unfit::Martian);
        }
        let segment = WireSegment::parse(tcp, tcp.len()).map_err(|_| Unfit::Damaged)?;
        if segment.ports.from == 0 || segment.ports.to == 0 {
            return Err(Unfit::Martian);
        }
        let payload = &tcp[tcp.len() - segment.len as usize..];
        let way = Way { addresses, ports: segment.ports };
        Ok(Self { way, segment, codepoint: Codepoint::from_bits(traffic_class), payload })
    }
}

fn read_ipv4(packet: &[u8]) -> Result<(Addresses, u8, &[u8]), Unfit> {
    let fixed: &[u8; IPV4_HEADER] = packet.first_chunk().ok_or(Unfit::NotTcp)?;
    let header = usize::from(fixed[0] & 0xf) * 4;
    let total = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
    if fixed[9] != TCP {
        return Err(Unfit::NotTcp);
    }
    let tcp = packet.get(header..total).ok_or(Unfit::Damaged)?;
    if header < IPV4_HEADER || sum(&packet[..header]) != u16::MAX {
        return Err(Unfit::Damaged);
    }
    // More fragments, or not the first.
    if u16::from_be_bytes([fixed[6], fixed[7]]) & 0x3fff != 0 {
        return Err(Unfit::Fragment);
    }
    let from = Ipv4Addr::new(fixed[12], fixed[13], fixed[14], fixed[15]);
    let to = Ipv4Addr::new(fixed[16], fixed[17], fixed[18], fixed[19]);
    Ok((Addresses::V4 { from, to }, fixed[1], tcp))
}

fn read_ipv6(packet: &[u8]) -> Result<(Addresses, u8, &[u8]), Unfit> {
    let fixed: &[u8; IPV6_HEADER] = packet.first_chunk().ok_or(Unfit::NotTcp)?;
    let length = usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
    let rest = packet.get(IPV6_HEADER..IPV6_HEADER + length).ok_or(Unfit::Damaged)?;
    let address = |at: usize| {
        let octets: [u8; 16] = std::array::from_fn(|index| fixed[at + index]);
        Ipv6Addr::from(octets)
    };
    let addresses = Addresses::V6 { from: address(8), to: address(24) };
    Ok((addresses, fixed[1] >> 4, behind_extensions(fixed[6], rest)?))
}

/// What follows the extension headers (RFC 8200 section 4), if it is TCP.
fn behind_extensions(mut kind: u8, mut rest: &[u8]) -> Result<&[u8], Unfit> {
    const HOP_BY_HOP: u8 = 0;
    const FRAGMENT: u8 = 44;
    const DESTINATION: u8 = 60;
    loop {
        match kind {
            TCP => return Ok(rest),
            FRAGMENT => return Err(Unfit::Fragment),
            HOP_BY_HOP | DESTINATION => {
                let &[next, length, ..] = rest else { return Err(Unfit::Damaged) };
                let length = (usize::from(length) + 1) * 8;
                (kind, rest) = (next, rest.get(length..).ok_or(Unfit::Damaged)?);
            }
            _ => return Err(Unfit::NotTcp),
        }
    }
}

/// May a host on a network have this address? The kernel would take the unspecified address and those
/// of loopback for this machine itself, to which a client on the other side of a link has no way.
fn speaks(address: IpAddr) -> bool {
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
                // An IPv4 address in disguise, to which a socket of IPv6 would connect.
                || v6.to_ipv4_mapped().is_some())
        }
    }
}

/// How many bytes the headers of a packet take.
pub(crate) const fn headers(way: &Way, tcp: usize) -> usize {
    way.ip_header() + tcp
}

/// Writes the headers of `packet`, at the end of which its payload already lies.
pub(crate) fn complete(
    packet: &mut [u8],
    way: &Way,
    (segment, codepoint): (&WireSegment, Codepoint),
) {
    let payload = packet.len() - segment.len as usize;
    let header = segment.emit(way.addresses, Payload::Bytes(&packet[payload..]));
    let ip = payload - header.len();
    packet[ip..payload].copy_from_slice(&header);
    let length = (packet.len() - ip) as u16;
    match way.addresses {
        Addresses::V4 { from, to } => {
            let total = length + IPV4_HEADER as u16;
            packet[..2].copy_from_slice(&[0x45, codepoint.bits()]);
            packet[2..4].copy_from_slice(&total.to_be_bytes());
            // Not to be fragmented: then the identification may be anything (RFC 6864).
            packet[4..12].copy_from_slice(&[0, 0, 0x40, 0, HOP_LIMIT, TCP, 0, 0]);
            packet[12..16].copy_from_slice(&from.octets());
            packet[16..20].copy_from_slice(&to.octets());
            let checksum = !sum(&packet[..IPV4_HEADER]);
            packet[10..12].copy_from_slice(&checksum.to_be_bytes());
        }
        Addresses::V6 { from, to } => {
            packet[..4].copy_from_slice(&[0x60, codepoint.bits() << 4, 0, 0]);
            packet[4..6].copy_from_slice(&length.to_be_bytes());
            packet[6..8].copy_from_slice(&[TCP, HOP_LIMIT]);
            packet[8..24].copy_from_slice(&from.octets());
            packet[24..40].copy_from_slice(&to.octets());
        }
    }
}

/// A packet without payload.
pub(crate) fn bare(way: &Way, segment: &WireSegment) -> Vec<u8> {
    // Such as no connection sends: without options.
    let mut packet = vec![0; headers(way, 20)];
    complete(&mut packet, way, (segment, Codepoint::NotEct));
    packet
}

/// The Internet checksum of a header before it is complemented (RFC 1071): all ones where it holds.
fn sum(header: &[u8]) -> u16 {
    let halves = header.chunks_exact(2).map(|half| u32::from(half[0]) << 8 | u32::from(half[1]));
    let mut sum: u32 = halves.sum();
    while sum > u32::from(u16::MAX) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
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
        let way = Way { addresses, ports: segment.ports };
        let mut packet = vec![0; headers(&way, 20)];
        packet.extend(payload);
        complete(&mut packet, &way, (&segment, Codepoint::Ect0));
        packet
    }

    #[test]
    fn what_was_written_is_read() {
        for addresses in [v4([10, 0, 0, 1], [10, 0, 0, 2]), v6("fd00::1", "fd00::2")] {
            let packet = packet(addresses, b"payload");
            let arrived = Arrived::read(&packet).unwrap();
            assert_eq!((arrived.way.addresses, arrived.payload), (addresses, &b"payload"[..]));
            assert_eq!((arrived.segment, arrived.codepoint), (segment(7), Codepoint::Ect0));
        }
    }

    #[test]
    fn what_is_damaged_or_for_nobody_is_dropped() {
        let read = |packet: &[u8]| Arrived::read(packet).map(drop).unwrap_err();
        let good = packet(v4([10, 0, 0, 1], [10, 0, 0, 2]), b"payload");
        for at in [8, 12, 25, 45] {
            let mut damaged = good.clone();
            damaged[at] ^= 1;
            assert_eq!(read(&damaged), Unfit::Damaged, "{at}");
        }
        assert_eq!(read(&good[..30]), Unfit::Damaged);
        for to in [[127, 0, 0, 1], [0, 0, 0, 0], [224, 0, 0, 1], [255; 4], [0, 1, 2, 3]] {
            assert_eq!(read(&packet(v4([10, 0, 0, 1], to), b"")), Unfit::Martian, "{to:?}");
        }
        for to in ["::1", "::", "ff02::1", "::ffff:127.0.0.1"] {
            assert_eq!(read(&packet(v6("fd00::1", to), b"")), Unfit::Martian, "{to}");
        }
    }

    #[test]
    fn a_fragment_is_one_and_headers_before_tcp_are_passed() {
        let mut fragment = packet(v4([10, 0, 0, 1], [10, 0, 0, 2]), b"payload");
        fragment[6] = 0x20;
        let checksum = {
            fragment[10..12].fill(0);
            !sum(&fragment[..20])
        };
        fragment[10..12].copy_from_slice(&checksum.to_be_bytes());
        assert_eq!(Arrived::read(&fragment).map(drop), Err(Unfit::Fragment));

        let plain = packet(v6("fd00::1", "fd00::2"), b"payload");
        let mut extended = plain.clone();
        // Destination options of eight bytes: six of padding.
        extended.splice(40..40, [TCP, 0, 1, 4, 0, 0, 0, 0]);
        extended[6] = 60;
        extended[5] += 8;
        assert_eq!(Arrived::read(&extended).unwrap().payload, b"payload");
        extended[6] = 44;
        assert_eq!(Arrived::read(&extended).map(drop), Err(Unfit::Fragment));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(mut bytes in vec(any::<u8>(), 0..120), v6 in any::<bool>()) {
            if let Some(first) = bytes.first_mut() {
                *first = if v6 { 0x60 } else { 0x45 };
            }
            let _ = Arrived::read(&bytes);
        }
    }
}
