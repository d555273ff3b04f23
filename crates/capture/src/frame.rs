//! One packet as bytes: IP around TCP, and what a link puts before it.

use etherparse::{
    EtherType, IpEcn, IpNumber, Ipv4Header, Ipv6Header, LaxNetSlice, LaxSlicedPacket,
};
use rtolab_tcp::Codepoint;
use rtolab_tcp::wire::{Addresses, Payload, WireSegment, checksum_holds};
use rtolab_time::Instant;

use crate::{Checksum, Packet};

const HOP_LIMIT: u8 = 64;

/// How a capture's frames begin (<https://www.tcpdump.org/linktypes.html>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// With an Ethernet header.
    Ethernet,
    /// With the IP header.
    Raw,
    /// With four bytes that name the address family: the BSDs' loopback.
    Loopback,
    /// With a header of 16 bytes: Linux's device "any".
    Cooked,
    /// With its successor of 20 bytes.
    Cooked2,
}

impl Link {
    /// What [`numbered`](Self::numbered) knows.
    pub(crate) const KNOWN: &str = "known are Ethernet (1), raw IP (101, 228, 229), loopback (0, \
         108) and Linux cooked (113, 276)";

    /// By the number that a file gives it.
    pub(crate) const fn numbered(link_type: i32) -> Option<Self> {
        match link_type {
            0 | 108 => Some(Self::Loopback),
            1 => Some(Self::Ethernet),
            // The systems' own numbers of raw IP slip into files as well.
            12 | 14 | 101 | 228 | 229 => Some(Self::Raw),
            113 => Some(Self::Cooked),
            276 => Some(Self::Cooked2),
            _ => None,
        }
    }
}

/// Why a frame holds no segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoSegment {
    /// It is not TCP over IP.
    Other,
    /// It is a fragment of an IP packet.
    Fragment,
    /// It has no whole TCP header.
    Malformed,
}

/// The IP and TCP headers of a packet whose payload is zeros; `None` if it would be too long for
/// IP.
pub(crate) fn headers(packet: &Packet) -> Option<Vec<u8>> {
    let tcp = packet.segment.emit(packet.addresses, Payload::Zeros);
    let length = u16::try_from(tcp.len() + packet.segment.len as usize).ok()?;
    let mut bytes = match packet.addresses {
        Addresses::V4 { from, to } => {
            let (from, to) = (from.octets(), to.octets());
            let mut ip = Ipv4Header::new(length, HOP_LIMIT, IpNumber::TCP, from, to).ok()?;
            ip.identification = packet.identification;
            ip.ecn = IpEcn::try_new(packet.codepoint.bits()).ok()?;
            ip.header_checksum = ip.calc_header_checksum();
            ip.to_bytes().to_vec()
        }
        Addresses::V6 { from, to } => {
            let ip = Ipv6Header {
                payload_length: length,
                next_header: IpNumber::TCP,
                hop_limit: HOP_LIMIT,
                traffic_class: packet.codepoint.bits(),
                source: from.octets(),
                destination: to.octets(),
                ..Ipv6Header::default()
            };
            ip.to_bytes().to_vec()
        }
    };
    bytes.extend(tcp);
    Some(bytes)
}

/// The segment in a frame of which `bytes` were captured and which had `original` bytes; its time
/// is left to the caller.
pub(crate) fn packet(
    link: Link,
    bytes: &[u8],
    original: usize,
) -> Result<(Packet, Checksum), NoSegment> {
    let net = net_of(link, bytes).ok_or(NoSegment::Other)?;
    let ip = IpPacket::new(&net, bytes, original).ok_or(NoSegment::Other)?;
    let payload = net.ip_payload_ref().ok_or(NoSegment::Other)?;
    if payload.fragmented {
        return Err(NoSegment::Fragment);
    }
    if payload.ip_number != IpNumber::TCP {
        return Err(NoSegment::Other);
    }
    let header = payload.payload.as_ptr().addr() - ip.start;
    let length = ip.length.checked_sub(header).ok_or(NoSegment::Malformed)?;
    let segment = WireSegment::parse(payload.payload, length).map_err(|_| NoSegment::Malformed)?;
    let checksum = match payload.payload.get(..length) {
        None => Checksum::Cut,
        Some(whole) if checksum_holds(whole, ip.addresses) => Checksum::Good,
        Some(_) => Checksum::Bad,
    };
    let packet = Packet {
        at: Instant::START,
        addresses: ip.addresses,
        identification: ip.identification,
        codepoint: ip.codepoint,
        segment,
        comment: None,
    };
    Ok((packet, checksum))
}

fn net_of(link: Link, bytes: &[u8]) -> Option<LaxNetSlice<'_>> {
    let by_type = |type_at: usize, header: usize| {
        let ether_type = u16::from_be_bytes([*bytes.get(type_at)?, *bytes.get(type_at + 1)?]);
        Some(LaxSlicedPacket::from_ether_type(EtherType(ether_type), bytes.get(header..)?))
    };
    let sliced = match link {
        Link::Ethernet => LaxSlicedPacket::from_ethernet(bytes).ok()?,
        Link::Raw => LaxSlicedPacket::from_ip(bytes).ok()?,
        Link::Loopback => LaxSlicedPacket::from_ip(bytes.get(4..)?).ok()?,
        Link::Cooked => by_type(14, 16)?,
        Link::Cooked2 => by_type(0, 20)?,
    };
    sliced.net
}

/// What the IP header says.
struct IpPacket {
    addresses: Addresses,
    identification: u16,
    codepoint: Codepoint,
    /// The address in memory of the header's first byte.
    start: usize,
    /// With its header, in bytes.
    length: usize,
}

impl IpPacket {
    /// A length of zero is left to the network card by the host that sends: then the frame tells.
    fn new(net: &LaxNetSlice<'_>, frame: &[u8], original: usize) -> Option<Self> {
        let (addresses, identification, ecn, start, told) = match net {
            LaxNetSlice::Ipv4(ip) => {
                let header = ip.header();
                let (from, to) = (header.source_addr(), header.destination_addr());
                let told = Some(usize::from(header.total_len())).filter(|&length| length > 0);
                let start = header.slice().as_ptr().addr();
                let ecn = header.ecn().value();
                (Addresses::V4 { from, to }, header.identification(), ecn, start, told)
            }
            LaxNetSlice::Ipv6(ip) => {
                let header = ip.header();
                let (from, to) = (header.source_addr(), header.destination_addr());
                let told = Some(usize::from(header.payload_length())).filter(|&len| len > 0);
                let told = told.map(|payload| payload + Ipv6Header::LEN);
                let start = header.slice().as_ptr().addr();
                (Addresses::V6 { from, to }, 0, header.traffic_class(), start, told)
            }
            LaxNetSlice::Arp(_) => return None,
        };
        let before = start - frame.as_ptr().addr();
        let length = told.unwrap_or(original.saturating_sub(before));
        let codepoint = Codepoint::from_bits(ecn);
        Some(Self { addresses, identification, codepoint, start, length })
    }
}
