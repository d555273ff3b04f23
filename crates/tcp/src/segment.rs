//! A segment as the engine sees it: sequence range, flags and options, and no payload.

use core::fmt;
use core::ops::{BitOr, BitOrAssign, Range};

use crate::seq::Seq;

/// The most SACK blocks that fit into one segment (RFC 2018 section 3).
pub const MAX_SACK_BLOCKS: usize = 4;

/// Control bits of the TCP header (RFC 9293 section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(u16);

impl Flags {
    /// No bit set.
    pub const NONE: Self = Self(0);
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgment field is significant.
    pub const ACK: Self = Self(0x10);
    /// The urgent pointer is significant.
    pub const URG: Self = Self(0x20);
    /// ECN echo.
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced.
    pub const CWR: Self = Self(0x80);
    /// The segment is a retransmission (RXT, draft-ludwig-tsvwg-tcp-rxt-flag-03). The draft never
    /// got a bit; this one is reserved in RFC 9293, and only this implementation assigns it.
    pub const RXT: Self = Self(0x200);
    /// The acknowledgment answers a segment with [`Flags::RXT`]. As in Ludwig and Katz 2000 it is a
    /// separate bit, because data may flow both ways.
    pub const RXT_ECHO: Self = Self(0x400);

    /// The wireless link lost the segment for which the duplicate acknowledgment waits: explicit
    /// loss notification (ELN, Balakrishnan, Padmanabhan, Seshan and Katz 1997). A base station
    /// sets it. This bit, too, is reserved in RFC 9293.
    pub const ELN: Self = Self(0x800);

    /// All bits of the header.
    const ALL: u16 = 0x0fff;

    /// The twelve bits of the wire, of which the highest four are reserved.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The flags of the wire's twelve bits.
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits & Self::ALL)
    }

    /// Are all bits of `other` set?
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The same without the bits of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Is any bit of `other` set?
    pub const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl fmt::Display for Flags {
    /// The letters of packet analysers, such as `SA` for SYN and ACK; `X` for RXT, `Y` for its
    /// echo, `L` for ELN.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = ['F', 'S', 'R', 'P', 'A', 'U', 'E', 'C', 'N', 'X', 'Y', 'L'];
        (0..letters.len())
            .filter(|bit| self.0 & (1 << bit) != 0)
            .try_for_each(|bit: usize| write!(f, "{}", letters[bit]))
    }
}

/// The timestamps option (RFC 7323 section 3), in ticks of the sender's timestamp clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval: the sender's clock.
    pub value: u32,
    /// TSecr: the clock value echoed; zero where the segment has no ACK.
    pub echo: u32,
}

/// The largest window shift (RFC 7323 section 2.3); a larger one is treated as this one.
pub const MAX_WINDOW_SHIFT: u8 = 14;

/// The options of a SYN other than timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SynOptions {
    /// The largest payload that the sender of the SYN takes, in bytes.
    pub mss: Option<u16>,
    /// The shift of all later windows (RFC 7323 section 2).
    pub window_scale: Option<u8>,
    /// "You may send me SACK options" (RFC 2018 section 2).
    pub sack_permitted: bool,
    /// Does the option that permits SACK take the place of the padding of timestamps, as in Linux
    /// (`tcp_options_write`)?
    pub compact: bool,
}

/// The ECN field in the IP header of a segment (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Codepoint {
    /// Not-ECT: a congested router drops the packet.
    #[default]
    NotEct = 0b00,
    /// ECT(1): a congested router may mark it instead.
    Ect1 = 0b01,
    /// ECT(0): a congested router may mark it instead.
    Ect0 = 0b10,
    /// CE: a router marked it.
    Ce = 0b11,
}

impl Codepoint {
    /// The codepoint in the two lowest bits of the traffic class octet.
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            0b11 => Self::Ce,
            _ => Self::NotEct,
        }
    }

    /// The two bits.
    pub const fn bits(self) -> u8 {
        self as u8
    }
}

/// One segment in 64 bytes: a range of sequence space, flags and options. The fields that every
/// segment has come first.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Segment {
    /// The first sequence number, of the SYN if there is one.
    pub seq: Seq,
    /// The next sequence number that the sender of this segment expects; zero without
    /// [`Flags::ACK`].
    pub ack: Seq,
    /// Payload in bytes.
    pub len: u32,
    /// The advertised window in bytes, unscaled.
    pub window: u32,
    /// Control bits.
    pub flags: Flags,
    /// The options present (`HAS_*` bits and the count of SACK blocks) and the ECN field (`IS_*`).
    present: u16,
    /// Timestamps, if any, in the first two words; then SACK blocks, as distances from `ack`; the
    /// options of a SYN in the last two words.
    words: [u32; 8],
}

const HAS_TIMESTAMPS: u16 = 0x10;
const HAS_MSS: u16 = 0x20;
const HAS_WINDOW_SCALE: u16 = 0x40;
const HAS_SACK_PERMITTED: u16 = 0x80;
const HAS_SYN_OPTIONS: u16 = HAS_MSS | HAS_WINDOW_SCALE | HAS_SACK_PERMITTED;
const SACK_COUNT: u16 = 0x07;
const IS_ECT_0: u16 = 0x0100;
const IS_ECT_1: u16 = 0x0200;
const IS_CE: u16 = 0x0400;
const IS_OF_ECN: u16 = IS_ECT_0 | IS_ECT_1 | IS_CE;
const IS_COMPACT: u16 = 0x0800;
const MSS_WORD: usize = 6;
const WINDOW_SCALE_WORD: usize = 7;

impl Segment {
    /// A segment without options.
    pub const fn new(seq: Seq, len: u32, flags: Flags) -> Self {
        Self { seq, ack: Seq::new(0), len, window: 0, flags, present: 0, words: [0; 8] }
    }

    /// SEG.LEN: the sequence numbers of payload, SYN and FIN.
    pub const fn sequence_length(&self) -> u32 {
        self.len + self.flags.has(Flags::SYN) as u32 + self.flags.has(Flags::FIN) as u32
    }

    /// The sequence number after the last one of the segment.
    pub fn end(&self) -> Seq {
        self.seq + self.sequence_length()
    }

    /// The timestamps option.
    pub const fn timestamps(&self) -> Option<Timestamps> {
        match self.present & HAS_TIMESTAMPS {
            0 => None,
            _ => Some(Timestamps { value: self.words[0], echo: self.words[1] }),
        }
    }

    /// Adds timestamps; they come before SACK blocks.
    pub fn set_timestamps(&mut self, timestamps: Timestamps) {
        debug_assert!(self.sack_count() == 0, "timestamps come before SACK blocks");
        self.present |= HAS_TIMESTAMPS;
        self.words[0] = timestamps.value;
        self.words[1] = timestamps.echo;
    }

    /// The options of a SYN.
    pub const fn syn_options(&self) -> SynOptions {
        SynOptions {
            mss: if self.present & HAS_MSS != 0 { Some(self.words[MSS_WORD] as u16) } else { None },
            window_scale: match self.present & HAS_WINDOW_SCALE {
                0 => None,
                _ => Some(self.words[WINDOW_SCALE_WORD] as u8),
            },
            sack_permitted: self.present & HAS_SACK_PERMITTED != 0,
            compact: self.present & IS_COMPACT != 0,
        }
    }

    /// Adds the options of a SYN, which leave no room for SACK blocks.
    pub fn set_syn_options(&mut self, options: SynOptions) {
        debug_assert!(self.sack_count() == 0, "a SYN carries no SACK blocks");
        if let Some(mss) = options.mss {
            self.present |= HAS_MSS;
            self.words[MSS_WORD] = u32::from(mss);
        }
        if let Some(shift) = options.window_scale {
            self.present |= HAS_WINDOW_SCALE;
            self.words[WINDOW_SCALE_WORD] = u32::from(shift);
        }
        if options.sack_permitted {
            self.present |= HAS_SACK_PERMITTED;
        }
        if options.compact {
            self.present |= IS_COMPACT;
        }
    }

    /// The number of SACK blocks.
    pub const fn sack_count(&self) -> usize {
        (self.present & SACK_COUNT) as usize
    }

    /// Are there no options but timestamps, and no CE mark?
    #[inline]
    pub const fn has_timestamps_at_most(&self) -> bool {
        self.present & !(HAS_TIMESTAMPS | IS_ECT_0 | IS_ECT_1) == 0
    }

    /// The ECN field of its IP header.
    pub const fn codepoint(&self) -> Codepoint {
        match self.present & IS_OF_ECN {
            0 => Codepoint::NotEct,
            IS_ECT_0 => Codepoint::Ect0,
            IS_ECT_1 => Codepoint::Ect1,
            _ => Codepoint::Ce,
        }
    }

    /// Sets the ECN field of its IP header.
    pub const fn set_codepoint(&mut self, codepoint: Codepoint) {
        let bits = match codepoint {
            Codepoint::NotEct => 0,
            Codepoint::Ect0 => IS_ECT_0,
            Codepoint::Ect1 => IS_ECT_1,
            Codepoint::Ce => IS_CE,
        };
        self.present = self.present & !IS_OF_ECN | bits;
    }

    /// The same segment without its SACK blocks.
    #[must_use]
    pub const fn without_sack(mut self) -> Self {
        self.present &= !SACK_COUNT;
        self
    }

    /// The number of SACK blocks that fit: 3 with timestamps, else 4; none in a SYN with options.
    pub const fn sack_room(&self) -> usize {
        match self.present & (HAS_TIMESTAMPS | HAS_SYN_OPTIONS) {
            0 => MAX_SACK_BLOCKS,
            HAS_TIMESTAMPS => MAX_SACK_BLOCKS - 1,
            _ => 0,
        }
    }

    /// Adds a SACK or D-SACK block, if there is room for it and it lies within 2^31 of the
    /// acknowledgment number, which must have been set before.
    pub fn push_sack(&mut self, block: Range<Seq>) {
        let count = self.sack_count();
        if count == self.sack_room() {
            return;
        }
        let word = self.sack_word(count);
        self.words[word] = (block.start.value() as u32).wrapping_sub(self.ack.value() as u32);
        self.words[word + 1] = (block.end.value() as u32).wrapping_sub(self.ack.value() as u32);
        self.present += 1;
    }

    /// The SACK blocks in their order, a D-SACK block first (RFC 2883 section 4).
    pub fn sack_blocks(&self) -> impl Iterator<Item = Range<Seq>> + '_ {
        let offset =
            |word: u32| Seq::new(self.ack.value().wrapping_add_signed((word as i32).into()));
        (0..self.sack_count()).map(move |block| {
            let word = self.sack_word(block);
            offset(self.words[word])..offset(self.words[word + 1])
        })
    }

    const fn sack_word(&self, block: usize) -> usize {
        let first = if self.present & HAS_TIMESTAMPS != 0 { 2 } else { 0 };
        first + 2 * block
    }

    /// A hash of the options: equal options have equal hashes.
    pub fn options_hash(&self) -> u64 {
        // FNV-1a over the words that are set; those of missing options are zero.
        let words = self.sack_blocks().flat_map(|block| [block.start.value(), block.end.value()]);
        let stamps = self.timestamps().map(|stamps| [stamps.value.into(), stamps.echo.into()]);
        let words = words.chain(stamps.into_iter().flatten());
        let present = u64::from(self.present & !IS_OF_ECN);
        words.fold(0xcbf2_9ce4_8422_2325 ^ present, |hash: u64, word| {
            (hash ^ word).wrapping_mul(0x0100_0000_01b3)
        })
    }

    /// The length of the options on the wire with their padding, in bytes: each option is padded
    /// to a multiple of four, as stacks do. In a [compact](SynOptions::compact) SYN the option that
    /// permits SACK pads the timestamps.
    #[inline]
    pub const fn option_bytes(&self) -> u32 {
        if self.present & !IS_OF_ECN == 0 {
            return 0;
        }
        let timestamps = if self.present & HAS_TIMESTAMPS != 0 { 12 } else { 0 };
        let syn = if self.present & HAS_SYN_OPTIONS != 0 { self.syn_option_bytes() } else { 0 };
        let count = self.sack_count() as u32;
        let sack = if count > 0 { 4 + 8 * count } else { 0 };
        timestamps + syn + sack
    }

    /// The length of the options of a SYN without timestamps.
    #[cold]
    const fn syn_option_bytes(&self) -> u32 {
        let is_padding = self.present & IS_COMPACT != 0 && self.present & HAS_TIMESTAMPS != 0;
        let mss = if self.present & HAS_MSS != 0 { 4 } else { 0 };
        let scale = if self.present & HAS_WINDOW_SCALE != 0 { 4 } else { 0 };
        let permitted = self.present & HAS_SACK_PERMITTED != 0 && !is_padding;
        mss + scale + if permitted { 4 } else { 0 }
    }

    /// The length of the TCP header with options, in bytes.
    #[inline]
    pub const fn header_bytes(&self) -> u32 {
        20 + self.option_bytes()
    }
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}..{}", self.flags, self.seq, self.end())?;
        if self.flags.has(Flags::ACK) {
            write!(f, " ack {}", self.ack)?;
        }
        write!(f, " win {}", self.window)?;
        if self.codepoint() != Codepoint::NotEct {
            write!(f, " {:?}", self.codepoint())?;
        }
        if let Some(Timestamps { value, echo }) = self.timestamps() {
            write!(f, " ts {value}/{echo}")?;
        }
        self.sack_blocks().try_for_each(|block| write!(f, " {{{}..{}}}", block.start, block.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_fits_a_cache_line() {
        assert_eq!(size_of::<Segment>(), 64);
    }

    #[test]
    fn three_sack_blocks_fit_with_timestamps_and_four_without() {
        for (timestamps, room) in [(true, 3), (false, 4)] {
            let mut segment = Segment::new(Seq::FIRST, 0, Flags::ACK);
            segment.ack = Seq::FIRST + 1000;
            if timestamps {
                segment.set_timestamps(Timestamps { value: 7, echo: 3 });
            }
            let blocks =
                [500, 2000, 3000, 4000, 5000].map(|at| Seq::FIRST + at..Seq::FIRST + at + 100);
            for block in &blocks {
                segment.push_sack(block.clone());
            }
            assert!(segment.sack_blocks().eq(blocks.iter().take(room).cloned()));
            assert_eq!(segment.timestamps().is_some(), timestamps);
            assert!(segment.option_bytes() <= 40);
        }
    }

    #[test]
    fn a_syn_with_options_has_no_room_for_sack_blocks() {
        let mut syn = Segment::new(Seq::FIRST, 0, Flags::SYN | Flags::ACK);
        syn.set_timestamps(Timestamps { value: 7, echo: 3 });
        syn.set_syn_options(SynOptions { mss: Some(1460), ..SynOptions::default() });
        syn.push_sack(Seq::FIRST..Seq::FIRST + 1);
        assert_eq!((syn.sack_room(), syn.sack_count(), syn.option_bytes()), (0, 0, 16));
    }

    #[test]
    fn in_a_compact_syn_the_option_that_permits_sack_pads_the_timestamps() {
        for (compact, timestamps, bytes) in
            [(false, true, 24), (true, true, 20), (false, false, 12), (true, false, 12)]
        {
            let mut syn = Segment::new(Seq::FIRST, 0, Flags::SYN);
            if timestamps {
                syn.set_timestamps(Timestamps { value: 7, echo: 3 });
            }
            let (mss, window_scale) = (Some(1460), Some(7));
            let options = SynOptions { mss, window_scale, sack_permitted: true, compact };
            syn.set_syn_options(options);
            assert_eq!((syn.option_bytes(), syn.syn_options()), (bytes, options));
        }
    }
}
