//! Segments as bytes and back: the TCP header with its options and checksum (RFC 9293 section 3.1).
//!
//! The conversion has two steps. [`WireSegment`] holds the header fields of the wire: 32-bit
//! sequence numbers and the scaled window. `narrow` and `widen` convert between it and the engine's
//! [`Segment`], `emit` and `parse` between it and bytes. A segment without a connection, to LISTEN
//! or CLOSED, stays a [`WireSegment`].

mod bytes;
mod isn;

pub use bytes::{Header, Payload, WireError, checksum_holds};

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::ops::Range;

use arrayvec::ArrayVec;

use crate::connection::refuse;
pub use crate::segment::MAX_WINDOW_SHIFT;
use crate::segment::{Flags, MAX_SACK_BLOCKS, Segment, SynOptions, Timestamps};
use crate::seq::Seq;

/// The source and destination of an IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Addresses {
    /// IPv4.
    V4 {
        /// The source.
        from: Ipv4Addr,
        /// The destination.
        to: Ipv4Addr,
    },
    /// IPv6.
    V6 {
        /// The source.
        from: Ipv6Addr,
        /// The destination.
        to: Ipv6Addr,
    },
}

impl Addresses {
    /// The source.
    pub const fn from(self) -> IpAddr {
        match self {
            Self::V4 { from, .. } => IpAddr::V4(from),
            Self::V6 { from, .. } => IpAddr::V6(from),
        }
    }

    /// The destination.
    pub const fn to(self) -> IpAddr {
        match self {
            Self::V4 { to, .. } => IpAddr::V4(to),
            Self::V6 { to, .. } => IpAddr::V6(to),
        }
    }

    /// The addresses of the other direction.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::V4 { from, to } => Self::V4 { from: to, to: from },
            Self::V6 { from, to } => Self::V6 { from: to, to: from },
        }
    }
}

/// The two ports of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ports {
    /// The source.
    pub from: u16,
    /// The destination.
    pub to: u16,
}

impl Ports {
    /// The addresses of the other direction.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self { from: self.to, to: self.from }
    }
}

/// The numbers that one end of a connection has chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// Its initial sequence number, which stands for [`Seq::FIRST`] on the wire.
    pub isn: u32,
    /// The shift of the windows that it advertises, except in a SYN.
    pub shift: u8,
}

/// The mapping between the engine's numbers and those of the wire in one direction of a connection:
/// the initial sequence numbers and window shifts of both ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireMapping {
    /// The end that the segment comes from.
    pub from: Side,
    /// The end that it goes to.
    pub to: Side,
}

impl WireMapping {
    /// The mapping of the other direction.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self { from: self.to, to: self.from }
    }

    /// Sets the shifts negotiated by two SYNs: zero unless both carry the option (RFC 7323
    /// section 2.2).
    pub const fn negotiate(&mut self, from: SynOptions, to: SynOptions) {
        (self.from.shift, self.to.shift) = match (from.window_scale, to.window_scale) {
            (Some(from), Some(to)) => (clamp_shift(from), clamp_shift(to)),
            _ => (0, 0),
        };
    }
}

/// Offsets within 2^31 of those that the 32-bit numbers of a segment stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeqReference {
    /// Near the segment's sequence number, such as RCV.NXT.
    pub seq: Seq,
    /// Near its acknowledgment number, such as SND.UNA.
    pub ack: Seq,
}

/// A SACK block on the wire, not validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackBlock {
    /// The left edge: the first sequence number of the block.
    pub start: u32,
    /// The right edge: the sequence number after its last.
    pub end: u32,
}

/// A TCP header with the values of the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireSegment {
    /// The ports.
    pub ports: Ports,
    /// The sequence number.
    pub seq: u32,
    /// The acknowledgment number, meaningless without the ACK flag.
    pub ack: u32,
    /// Payload in bytes.
    pub len: u32,
    /// The window field, scaled.
    pub window: u16,
    /// Control bits.
    pub flags: Flags,
    /// The options of a SYN.
    pub syn: SynOptions,
    /// The timestamps option.
    pub timestamps: Option<Timestamps>,
    /// The SACK option.
    pub sack: ArrayVec<SackBlock, MAX_SACK_BLOCKS>,
}

impl WireSegment {
    /// Converts a segment to the wire's numbers. A window that does not fit becomes the largest
    /// that does; it is rounded down to the unit of its shift.
    pub fn from_segment(segment: &Segment, mapping: &WireMapping, ports: Ports) -> Self {
        let has_ack = segment.flags.has(Flags::ACK);
        let shift = window_shift(segment.flags, mapping);
        let isn = mapping.to.isn;
        let mut syn = segment.syn_options();
        syn.window_scale = syn.window_scale.map(clamp_shift);
        Self {
            ports,
            seq: segment.seq.narrow(mapping.from.isn),
            ack: if has_ack { segment.ack.narrow(isn) } else { 0 },
            len: segment.len,
            window: u16::try_from(segment.window >> shift).unwrap_or(u16::MAX),
            flags: segment.flags,
            syn,
            timestamps: segment.timestamps(),
            sack: segment
                .sack_blocks()
                .map(|Range { start, end }| SackBlock {
                    start: start.narrow(isn),
                    end: end.narrow(isn),
                })
                .collect(),
        }
    }

    /// Converts to the engine's numbers. Fields without meaning are left out: the acknowledgment
    /// number and SACK blocks without ACK, SACK blocks in a SYN, the options of a SYN elsewhere,
    /// and empty SACK blocks.
    pub fn to_segment(&self, mapping: &WireMapping, near: SeqReference) -> Segment {
        let mut segment = Segment::new(Seq::FIRST, 0, Flags::NONE);
        self.to_segment_in(&mut segment, mapping, near);
        segment
    }

    /// As [`Self::to_segment`], in place: a copy of the segment would have to wait for its fields.
    #[inline]
    pub fn to_segment_in(&self, segment: &mut Segment, mapping: &WireMapping, near: SeqReference) {
        let seq = Seq::widen(self.seq, mapping.from.isn, near.seq);
        *segment = Segment::new(seq, self.len, self.flags);
        segment.window = u32::from(self.window) << window_shift(self.flags, mapping);
        if let Some(timestamps) = self.timestamps {
            segment.set_timestamps(timestamps);
        }
        let is_syn = self.flags.has(Flags::SYN);
        if is_syn {
            let window_scale = self.syn.window_scale.map(clamp_shift);
            segment.set_syn_options(SynOptions { window_scale, ..self.syn });
        }
        if self.flags.has(Flags::ACK) {
            segment.ack = Seq::widen(self.ack, mapping.to.isn, near.ack);
            if !is_syn && !self.sack.is_empty() {
                self.push_sack_blocks(segment, mapping.to.isn);
            }
        }
    }

    /// The reset of a host without a connection or listener for the segment (state CLOSED, RFC 9293
    /// section 3.10.7.1); `None` if the segment is a reset itself.
    pub fn refuse(&self) -> Option<Self> {
        let mapping = WireMapping::default();
        let near = SeqReference { seq: Seq::FIRST, ack: Seq::FIRST };
        let reset = refuse(&self.to_segment(&mapping, near))?;
        Some(Self::from_segment(&reset, &mapping, self.ports.reversed()))
    }

    fn push_sack_blocks(&self, segment: &mut Segment, isn: u32) {
        let widen = |number| Seq::widen(number, isn, segment.ack);
        let blocks: ArrayVec<Range<Seq>, MAX_SACK_BLOCKS> = self
            .sack
            .iter()
            .map(|block| widen(block.start)..widen(block.end))
            .filter(|block| !block.is_empty())
            .collect();
        blocks.into_iter().for_each(|block| segment.push_sack(block));
    }
}

/// The window of a SYN is never shifted (RFC 7323 section 2.2).
const fn window_shift(flags: Flags, mapping: &WireMapping) -> u8 {
    if flags.has(Flags::SYN) { 0 } else { clamp_shift(mapping.from.shift) }
}

const fn clamp_shift(shift: u8) -> u8 {
    if shift < MAX_WINDOW_SHIFT { shift } else { MAX_WINDOW_SHIFT }
}

#[cfg(test)]
mod tests;
