//! Parsing and building of frames: IP packets with TCP segments after a link-layer header.

pub(crate) mod plain;

use std::borrow::Cow;
use std::net::Ipv4Addr;

use arrayvec::ArrayVec;
use rtolab_packet::protocol::EXTENSIONS;
use rtolab_packet::{Ip, NoSegment, ip_header};
use rtolab_tcp::wire::{Addresses, Payload, Ports, WireSegment, checksum_holds};
use rtolab_tcp::{Codepoint, Flags, SynOptions};
use rtolab_time::Instant;

use crate::{CapturedPacket, SynFingerprint};

/// A TCP packet of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Its number among all packets of the file, from 1. For a reassembled packet it is the number
    /// of the fragment that completed it.
    pub number: u64,
    /// The packet.
    pub packet: CapturedPacket,
    /// TTL or hop limit.
    pub hops: u8,
    /// The interface: its number in a pcapng section, or its index on the host in Linux cooked
    /// version 2 and in a live capture. 0 if the file has only one.
    pub interface: u32,
    /// The result of the verification of TCP's checksum. In a capture at the sending host it is
    /// often wrong, because the network card computes it later.
    pub checksum: Checksum,
    /// The captured bytes of the frame, if these end before the TCP options do.
    pub cut_at: Option<u32>,
    /// The fingerprint, if it is a SYN.
    pub syn_fingerprint: Option<SynFingerprint>,
}

impl Captured {
    /// The TCP packet in an IP packet of `original` bytes. `bytes` is the captured part. Its number
    /// is 0. `None` if it has no complete TCP header or is a fragment.
    pub fn in_ip(bytes: &[u8], original: usize, at: Instant) -> Option<Self> {
        let packet = ip(Link::Raw, bytes, original).ok()?;
        if packet.fragment.is_some() {
            return None;
        }
        let mut captured = Self::empty();
        segment(&packet, Verification::Off, (0, at, None, bytes.len()), &mut captured).ok()?;
        Some(captured)
    }

    /// A packet without addresses, for a reader to fill.
    pub const fn empty() -> Self {
        let none = Ipv4Addr::UNSPECIFIED;
        Self {
            number: 0,
            packet: CapturedPacket {
                at: Instant::START,
                addresses: Addresses::V4 { from: none, to: none },
                identification: 0,
                codepoint: Codepoint::NotEct,
                segment: WireSegment {
                    ports: Ports { from: 0, to: 0 },
                    seq: 0,
                    ack: 0,
                    len: 0,
                    window: 0,
                    flags: Flags::NONE,
                    syn: SynOptions {
                        mss: None,
                        window_scale: None,
                        sack_permitted: false,
                        compact: false,
                    },
                    timestamps: None,
                    sack: ArrayVec::new_const(),
                },
                comment: None,
            },
            hops: 0,
            interface: 0,
            checksum: Checksum::Unverified,
            cut_at: None,
            syn_fingerprint: None,
        }
    }
}

/// The link-layer header (<https://www.tcpdump.org/linktypes.html>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// Ethernet.
    Ethernet,
    /// None: raw IP.
    Raw,
    /// Four bytes with the address family, as on the loopback device of the BSDs.
    Loopback,
    /// Linux cooked, of 16 bytes, as on the device "any".
    Cooked,
    /// Linux cooked version 2, of 20 bytes.
    Cooked2,
}

impl Link {
    /// The types that [`from_link_type`](Self::from_link_type) knows, for messages.
    pub(crate) const EXPECTED: &str = "expected Ethernet (1), raw IP (101, 228, 229), loopback (0, \
         108) or Linux cooked (113, 276)";

    /// The type with this number in a file.
    pub(crate) const fn from_link_type(link_type: u16) -> Option<Self> {
        match link_type {
            0 | 108 => Some(Self::Loopback),
            1 => Some(Self::Ethernet),
            // 12 and 14 are the numbers of raw IP on some systems.
            12 | 14 | 101 | 228 | 229 => Some(Self::Raw),
            113 => Some(Self::Cooked),
            276 => Some(Self::Cooked2),
            _ => None,
        }
    }
}

/// The result of a checksum verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Checksum {
    Good,
    /// Wrong, or not yet computed by the network card.
    Bad,
    /// Not all of the segment was captured.
    Cut,
    /// Not verified: see [`Reader::without_checksums`](crate::Reader::without_checksums).
    Unverified,
}

/// The verification of checksums, which takes a quarter of the time to read long packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verification {
    On,
    Off,
}

/// The IP and TCP headers of a packet with a payload of zeros; `None` if it would be too long for
/// IP.
pub(crate) fn headers(packet: &CapturedPacket) -> Option<Vec<u8>> {
    let tcp = packet.segment.emit(packet.addresses, Payload::Zeros);
    let length = tcp.len() + packet.segment.len as usize;
    let mut bytes = ip_header(packet.addresses, packet.codepoint, packet.identification, length)?;
    bytes.extend(tcp);
    Some(bytes)
}

/// The IP packet in a frame of `original` bytes. `bytes` is the captured part.
pub(crate) fn ip(link: Link, bytes: &[u8], original: usize) -> Result<Ip<'_>, NoSegment> {
    let packet = network(link, bytes).ok_or(NoSegment::Other)?;
    let header = bytes.len() - packet.len();
    Ip::parse(packet, original.saturating_sub(header), EXTENSIONS)
}

/// The interface of a frame: the one that its header names, or else the one with this number in the
/// file.
#[inline]
pub(crate) fn interface(link: Link, number: u32, bytes: &[u8]) -> u32 {
    match (link, bytes) {
        (Link::Cooked2, [_, _, _, _, a, b, c, d, ..]) => u32::from_be_bytes([*a, *b, *c, *d]),
        _ => number,
    }
}

/// The payload of the link-layer frame, if it is IP.
#[inline]
fn network(link: Link, bytes: &[u8]) -> Option<&[u8]> {
    let ether_type = |at: usize| Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
    match link {
        Link::Raw => Some(bytes),
        Link::Loopback => bytes.get(4..),
        Link::Ethernet => untagged(ether_type(12)?, bytes.get(14..)?),
        Link::Cooked => untagged(ether_type(14)?, bytes.get(16..)?),
        Link::Cooked2 => untagged(ether_type(0)?, bytes.get(20..)?),
    }
}

/// The payload after VLAN tags (IEEE 802.1Q, 802.1ad and its predecessor), if it is IP.
fn untagged(mut ether_type: u16, mut bytes: &[u8]) -> Option<&[u8]> {
    while let (0x8100 | 0x88a8 | 0x9100, [_, _, high, low, rest @ ..]) = (ether_type, bytes) {
        (ether_type, bytes) = (u16::from_be_bytes([*high, *low]), rest);
    }
    matches!(ether_type, 0x0800 | 0x86dd).then_some(bytes)
}

/// The length of a frame, if it ends before the TCP options do. `tcp` is the captured part of a
/// segment of `length` bytes.
#[inline]
fn cut_at(tcp: &[u8], length: usize, frame_len: usize) -> Option<u32> {
    let header = tcp.get(12).map_or(0, |offset| usize::from(offset >> 4) * 4);
    (header > tcp.len() && header <= length).then(|| frame_len.try_into().unwrap_or(u32::MAX))
}

/// Fills `captured` with the segment in a complete IP packet, captured `at` this time as this frame
/// of its file, with this number of captured bytes. In place, because the packet is large.
#[inline]
pub(crate) fn segment(
    ip: &Ip<'_>,
    verification: Verification,
    (number, at, comment, frame_len): (u64, Instant, Option<Cow<'static, str>>, usize),
    captured: &mut Captured,
) -> Result<(), NoSegment> {
    if !ip.is_tcp() {
        return Err(NoSegment::Other);
    }
    let packet = &mut captured.packet;
    packet.segment = WireSegment::parse(ip.payload, ip.length).map_err(|_| NoSegment::Malformed)?;
    captured.checksum = match ip.payload.get(..ip.length) {
        _ if verification == Verification::Off => Checksum::Unverified,
        None => Checksum::Cut,
        Some(whole) if checksum_holds(whole, ip.header.addresses) => Checksum::Good,
        Some(_) => Checksum::Bad,
    };
    captured.cut_at = cut_at(ip.payload, ip.length, frame_len);
    let is_syn = packet.segment.flags.has(Flags::SYN);
    captured.syn_fingerprint = is_syn.then(|| SynFingerprint::of(ip));
    packet.at = at;
    packet.addresses = ip.header.addresses;
    packet.identification = ip.header.identification;
    packet.codepoint = ip.header.codepoint;
    packet.comment = comment;
    captured.hops = ip.header.hops;
    captured.number = number;
    Ok(())
}
