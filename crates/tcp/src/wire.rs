//! Segments as bytes and back: the TCP header with its options and checksum (RFC 9293 section 3.1).
//!
//! Two steps either way. [`WireSegment`] holds a header's fields as they travel: sequence numbers
//! of 32 bits, the window scaled. `narrow` and `widen` lead between it and the engine's
//! [`Segment`], `emit` and `parse` between it and bytes. What has no connection to be numbered by
//! (a segment to LISTEN or CLOSED) stays a [`WireSegment`].

mod bytes;
mod isn;

pub use bytes::{Header, Payload, WireError, checksum_holds};

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::ops::Range;

use arrayvec::ArrayVec;

use crate::connection::refuse;
use crate::segment::{Flags, MAX_SACK_BLOCKS, Segment, SynOptions, Timestamps};
use crate::seq::Seq;

/// The largest shift of a window (RFC 7323 section 2.3); a larger one means this one.
pub const MAX_WINDOW_SHIFT: u8 = 14;

/// Where an IP packet comes from and where it goes.
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

    /// The way back.
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
    /// The way back.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self { from: self.to, to: self.from }
    }
}

/// How one end of a connection writes its numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// Its initial sequence number: what [`Seq::FIRST`] is on the wire.
    pub isn: u32,
    /// How far the windows that it offers are shifted, except in a SYN.
    pub shift: u8,
}

/// What the 32-bit numbers in one direction of a connection mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbering {
    /// The end that the segment comes from.
    pub from: Side,
    /// The end that it goes to.
    pub to: Side,
}

impl Numbering {
    /// That of the other direction.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self { from: self.to, to: self.from }
    }

    /// Sets the shifts that two SYNs agree on: none unless both carry the option (RFC 7323
    /// section 2.2).
    pub const fn agree(&mut self, from: SynOptions, to: SynOptions) {
        (self.from.shift, self.to.shift) = match (from.window_scale, to.window_scale) {
            (Some(from), Some(to)) => (clamp_shift(from), clamp_shift(to)),
            _ => (0, 0),
        };
    }
}

/// Which of the numbers 2^32 apart are meant: offsets that are less than 2^31 away from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Near {
    /// Near the segment's sequence number, such as RCV.NXT.
    pub seq: Seq,
    /// Near its acknowledgment number, such as SND.UNA.
    pub ack: Seq,
}

/// A SACK block as it travels; nothing says that it makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackBlock {
    /// The left edge: the first sequence number of the block.
    pub start: u32,
    /// The right edge: the sequence number behind its last.
    pub end: u32,
}

/// A TCP header as it travels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireSegment {
    /// The ports.
    pub ports: Ports,
    /// The sequence number.
    pub seq: u32,
    /// The acknowledgment number, whatever it says where the ACK flag is not set.
    pub ack: u32,
    /// Payload in bytes.
    pub len: u32,
    /// The window as written, that is shifted.
    pub window: u16,
    /// Control bits.
    pub flags: Flags,
    /// What belongs into a SYN.
    pub syn: SynOptions,
    /// The timestamps option.
    pub timestamps: Option<Timestamps>,
    /// The SACK option.
    pub sack: ArrayVec<SackBlock, MAX_SACK_BLOCKS>,
}

impl WireSegment {
    /// The segment in the wire's numbers. A window that does not fit is cut to the largest that
    /// does; what the shift cuts off is lost.
    pub fn narrow(segment: &Segment, numbering: &Numbering, ports: Ports) -> Self {
        let has_ack = segment.flags.has(Flags::ACK);
        let shift = window_shift(segment.flags, numbering);
        let isn = numbering.to.isn;
        let mut syn = segment.syn_options();
        syn.window_scale = syn.window_scale.map(clamp_shift);
        Self {
            ports,
            seq: segment.seq.narrow(numbering.from.isn),
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

    /// The segment in the engine's numbers. What its flags give no meaning to is left out: the
    /// acknowledgment number and SACK blocks without ACK, SACK blocks in a SYN, and outside of one
    /// what only a SYN negotiates. So are SACK blocks without a byte in them.
    pub fn widen(&self, numbering: &Numbering, near: Near) -> Segment {
        let seq = Seq::widen(self.seq, numbering.from.isn, near.seq);
        let mut segment = Segment::new(seq, self.len, self.flags);
        segment.window = u32::from(self.window) << window_shift(self.flags, numbering);
        if let Some(timestamps) = self.timestamps {
            segment.set_timestamps(timestamps);
        }
        let is_syn = self.flags.has(Flags::SYN);
        if is_syn {
            let window_scale = self.syn.window_scale.map(clamp_shift);
            segment.set_syn_options(SynOptions { window_scale, ..self.syn });
        }
        if self.flags.has(Flags::ACK) {
            segment.ack = Seq::widen(self.ack, numbering.to.isn, near.ack);
            if !is_syn {
                self.push_sack_blocks(&mut segment, numbering.to.isn);
            }
        }
        segment
    }

    /// What a host answers that has neither a connection nor a listener for the segment (the state
    /// CLOSED, RFC 9293 section 3.10.7.1); `None` to a reset.
    pub fn refuse(&self) -> Option<Self> {
        let numbering = Numbering::default();
        let near = Near { seq: Seq::FIRST, ack: Seq::FIRST };
        let reset = refuse(&self.widen(&numbering, near))?;
        Some(Self::narrow(&reset, &numbering, self.ports.reversed()))
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
const fn window_shift(flags: Flags, numbering: &Numbering) -> u8 {
    if flags.has(Flags::SYN) { 0 } else { clamp_shift(numbering.from.shift) }
}

const fn clamp_shift(shift: u8) -> u8 {
    if shift < MAX_WINDOW_SHIFT { shift } else { MAX_WINDOW_SHIFT }
}

#[cfg(test)]
mod tests;
