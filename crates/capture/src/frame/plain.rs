//! The fast path of the frame parser: TCP segments without SYN in IPv4 packets without options and
//! without fragmentation.

use std::net::Ipv4Addr;

use rtolab_packet::IPV4_HEADER;
use rtolab_packet::protocol::IpNumber;
use rtolab_tcp::wire::{Addresses, Ports, WireSegment};
use rtolab_tcp::{Codepoint, Flags, SynOptions, Timestamps};

use super::{Captured, Checksum, Link, network};

/// The version of IP and the length of the header, for a header without options.
const V4_WITHOUT_OPTIONS: u8 = 0x45;
/// The bits of the IPv4 header that are set in fragments only: MF and the fragment offset.
const FRAGMENT: u16 = 0x3fff;
/// The lengths of a TCP header without options, and of one with timestamps alone, in bytes.
const TCP_HEADER: usize = 20;
const WITH_TIMESTAMPS: usize = 32;
/// The options before the timestamps: NOP, NOP, kind 8 of 10 bytes (RFC 7323 appendix A).
const BEFORE_TIMESTAMPS: [u8; 4] = [1, 1, 8, 10];

/// Fills `captured` with the segment in a frame, all but its time and its number, and without
/// verification of checksums. False if the frame cannot take the fast path; `captured` is then
/// unspecified. Has the same result as [`super::ip`] and [`super::segment`].
#[inline]
pub(crate) fn fill(captured: &mut Captured, link: Link, bytes: &[u8]) -> bool {
    fill_if_plain(captured, link, bytes).is_some()
}

#[inline]
fn fill_if_plain(captured: &mut Captured, link: Link, bytes: &[u8]) -> Option<()> {
    let (ip, after) = network(link, bytes)?.split_first_chunk::<IPV4_HEADER>()?;
    let half = |at: usize| u16::from_be_bytes([ip[at], ip[at + 1]]);
    let is_plain = ip[0] == V4_WITHOUT_OPTIONS && half(6) & FRAGMENT == 0;
    if !is_plain || ip[9] != IpNumber::TCP.0 {
        return None;
    }
    // The network card may set a length of zero later.
    let length = usize::from(half(2)).checked_sub(IPV4_HEADER)?;
    let payload = after.get(..length).unwrap_or(after);
    fill_segment(&mut captured.packet.segment, payload, length)?;
    captured.cut_at = super::cut_at(payload, length, bytes.len());
    captured.checksum = Checksum::Unverified;
    captured.syn_fingerprint = None;
    captured.hops = ip[8];
    let packet = &mut captured.packet;
    packet.addresses = Addresses::V4 {
        from: Ipv4Addr::new(ip[12], ip[13], ip[14], ip[15]),
        to: Ipv4Addr::new(ip[16], ip[17], ip[18], ip[19]),
    };
    packet.identification = half(4);
    packet.codepoint = Codepoint::from_bits(ip[1]);
    packet.comment = None;
    Some(())
}

/// As [`WireSegment::parse`], in place; `None` for a SYN and for a damaged header.
#[inline]
fn fill_segment(segment: &mut WireSegment, payload: &[u8], length: usize) -> Option<()> {
    let (fixed, options) = payload.split_first_chunk::<TCP_HEADER>()?;
    let half = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let word =
        |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    let header = usize::from(fixed[12] >> 4) * 4;
    let flags = Flags::from_bits(half(12));
    if header > length || flags.has(Flags::SYN) {
        return None;
    }
    let timestamps = match (header, options.first_chunk::<12>()) {
        (TCP_HEADER, _) => None,
        (WITH_TIMESTAMPS, Some([a, b, c, d, stamps @ ..]))
            if [*a, *b, *c, *d] == BEFORE_TIMESTAMPS =>
        {
            let both = u64::from_be_bytes(*stamps);
            Some(Timestamps { value: (both >> 32) as u32, echo: both as u32 })
        }
        _ => {
            *segment = WireSegment::parse(payload, length).ok()?;
            return Some(());
        }
    };
    segment.ports = Ports { from: half(0), to: half(2) };
    (segment.seq, segment.ack) = (word(4), word(8));
    segment.len = (length - header) as u32;
    (segment.window, segment.flags) = (half(14), flags);
    segment.syn = SynOptions::default();
    segment.timestamps = timestamps;
    segment.sack.clear();
    Some(())
}
