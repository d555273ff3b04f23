//! The bytes of a header: fields, options and checksum.

use arrayvec::ArrayVec;
use thiserror::Error;

use super::{Addresses, Ports, SackBlock, WireSegment};
use crate::segment::{Flags, MAX_SACK_BLOCKS, SynOptions, Timestamps};

/// The bytes of a header: at most 60.
pub type Header = ArrayVec<u8, MAX_HEADER>;

const MIN_HEADER: usize = 20;
const MAX_HEADER: usize = 60;
const CHECKSUM_AT: usize = 16;
const TCP: u16 = 6;

/// The payload, for the checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload<'a> {
    /// As many zeros as the segment is long.
    Zeros,
    /// These bytes, as many as the segment is long.
    Bytes(&'a [u8]),
}

/// Why bytes are not a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// The header is incomplete.
    #[error("a TCP header has at least {MIN_HEADER} bytes, there are {found}")]
    Short {
        /// The number of bytes.
        found: usize,
    },
    /// The data offset is impossible.
    #[error("a TCP header of {found} bytes in a segment of {length}; it has {MIN_HEADER} to 60")]
    HeaderLength {
        /// The data offset, in bytes.
        found: usize,
        /// The length of header and payload, in bytes.
        length: usize,
    },
}

mod kind {
    pub const END: u8 = 0;
    pub const NOP: u8 = 1;
    pub const MSS: u8 = 2;
    pub const WINDOW_SCALE: u8 = 3;
    pub const SACK_PERMITTED: u8 = 4;
    pub const SACK: u8 = 5;
    pub const TIMESTAMPS: u8 = 8;
}

impl WireSegment {
    /// The bytes of the header. NOPs pad each option to end on a word, so that a
    /// [`Segment`](crate::Segment)'s options take [`option_bytes`](crate::Segment::option_bytes)
    /// bytes; SACK blocks that do not fit into 40 bytes of options are left out.
    pub fn emit(&self, addresses: Addresses, payload: Payload<'_>) -> Header {
        let mut header = Header::new();
        header.extend(self.ports.from.to_be_bytes());
        header.extend(self.ports.to.to_be_bytes());
        header.extend(self.seq.to_be_bytes());
        header.extend(self.ack.to_be_bytes());
        header.extend(self.flags.bits().to_be_bytes());
        header.extend(self.window.to_be_bytes());
        header.extend([0; 4]); // checksum and urgent pointer
        self.emit_options(&mut header);
        header[12] |= (header.len() as u8 / 4) << 4;
        let mut sum = Sum::pseudo_header(addresses, header.len() as u32 + self.len);
        sum.add(&header);
        if let Payload::Bytes(bytes) = payload {
            debug_assert_eq!(bytes.len(), self.len as usize, "the payload of another segment");
            sum.add(bytes);
        }
        header[CHECKSUM_AT..CHECKSUM_AT + 2].copy_from_slice(&(!sum.fold()).to_be_bytes());
        header
    }

    fn emit_options(&self, header: &mut Header) {
        let SynOptions { mss, window_scale, sack_permitted, compact } = self.syn;
        if let Some(mss) = mss {
            emit_option(header, kind::MSS, &mss.to_be_bytes());
        }
        if let Some(shift) = window_scale {
            emit_option(header, kind::WINDOW_SCALE, &[shift]);
        }
        let compact = compact && sack_permitted && self.timestamps.is_some();
        match sack_permitted {
            true if compact => header.extend([kind::SACK_PERMITTED, 2]),
            true => emit_option(header, kind::SACK_PERMITTED, &[]),
            false => {}
        }
        if let Some(Timestamps { value, echo }) = self.timestamps {
            let mut body = ArrayVec::<u8, 8>::new();
            body.extend(value.to_be_bytes());
            body.extend(echo.to_be_bytes());
            match compact {
                true => {
                    header.extend([kind::TIMESTAMPS, 10]);
                    header.extend(body);
                }
                false => emit_option(header, kind::TIMESTAMPS, &body),
            }
        }
        let room = header.remaining_capacity().saturating_sub(4) / 8;
        let mut body = ArrayVec::<u8, { 8 * MAX_SACK_BLOCKS }>::new();
        for SackBlock { start, end } in self.sack.iter().take(room) {
            body.extend(start.to_be_bytes());
            body.extend(end.to_be_bytes());
        }
        if !body.is_empty() {
            emit_option(header, kind::SACK, &body);
        }
    }

    /// Parses a header. `bytes` are the captured part of the segment; `length` is the length of
    /// header and payload by the IP header. The options end at one of a wrong length, and at the
    /// end of `bytes`. The checksum is not verified: see [`checksum_holds`].
    pub fn parse(bytes: &[u8], length: usize) -> Result<Self, WireError> {
        let fixed: &[u8; MIN_HEADER] =
            bytes.first_chunk().ok_or(WireError::Short { found: bytes.len() })?;
        let half = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
        let word = |at: usize| u32::from(half(at)) << 16 | u32::from(half(at + 2));
        let header = usize::from(fixed[12] >> 4) * 4;
        if header < MIN_HEADER || header > length {
            return Err(WireError::HeaderLength { found: header, length });
        }
        let mut segment = Self {
            ports: Ports { from: half(0), to: half(2) },
            seq: word(4),
            ack: word(8),
            len: (length - header) as u32,
            window: half(14),
            flags: Flags::from_bits(half(12)),
            syn: SynOptions::default(),
            timestamps: None,
            sack: ArrayVec::new(),
        };
        let mut options = &bytes[MIN_HEADER..header.min(bytes.len())];
        while let Some((kind, body, rest)) = next_option(options) {
            if segment.take_option(kind, body).is_none() {
                break;
            }
            segment.syn.compact |=
                kind == kind::SACK_PERMITTED && rest.first() == Some(&kind::TIMESTAMPS);
            options = rest;
        }
        segment.syn.compact &= segment.timestamps.is_some();
        Ok(segment)
    }

    /// Stores an option; `None` if its length is not that of its kind.
    fn take_option(&mut self, kind: u8, body: &[u8]) -> Option<()> {
        match kind {
            kind::MSS => self.syn.mss = Some(u16::from_be_bytes(body.try_into().ok()?)),
            kind::WINDOW_SCALE => {
                let [shift] = body.try_into().ok()?;
                self.syn.window_scale = Some(shift);
            }
            kind::SACK_PERMITTED => {
                let [] = body.try_into().ok()?;
                self.syn.sack_permitted = true;
            }
            kind::TIMESTAMPS => {
                let [value, echo] = words(body.try_into().ok()?);
                self.timestamps = Some(Timestamps { value, echo });
            }
            kind::SACK => self.sack = sack_blocks(body)?,
            _ => {}
        }
        Some(())
    }
}

/// Pads with NOPs in front so that the option ends on a word.
fn emit_option(header: &mut Header, kind: u8, body: &[u8]) {
    let length = 2 + body.len();
    let padding = length.next_multiple_of(4) - length;
    header.extend(core::iter::repeat_n(kind::NOP, padding));
    header.extend([kind, length as u8]);
    header.extend(body.iter().copied());
}

/// The kind and body of the next option, and the rest; `None` at the end of the list or at a wrong
/// length.
fn next_option(mut options: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    while let [kind::NOP, rest @ ..] = options {
        options = rest;
    }
    match *options {
        [] | [_] | [kind::END, ..] => None,
        [kind, length, ..] => {
            let body = options.get(2..usize::from(length))?;
            Some((kind, body, &options[usize::from(length)..]))
        }
    }
}

fn sack_blocks(body: &[u8]) -> Option<ArrayVec<SackBlock, MAX_SACK_BLOCKS>> {
    if body.is_empty() || body.len() % 8 != 0 {
        return None;
    }
    let mut blocks = ArrayVec::new();
    for block in body.chunks_exact(8) {
        let [start, end] = words(block.try_into().ok()?);
        blocks.try_push(SackBlock { start, end }).ok()?;
    }
    Some(blocks)
}

fn words(bytes: [u8; 8]) -> [u32; 2] {
    let both = u64::from_be_bytes(bytes);
    [(both >> 32) as u32, both as u32]
}

/// Is the checksum of a whole segment, header and payload, right (RFC 9293 section 3.1)?
pub fn checksum_holds(bytes: &[u8], addresses: Addresses) -> bool {
    let mut sum = Sum::pseudo_header(addresses, bytes.len() as u32);
    sum.add(bytes);
    sum.fold() == u16::MAX
}

/// The Internet checksum before it is complemented. Its words have this machine's order of bytes,
/// which only decides which half of the result is which (RFC 1071 section 2).
struct Sum(u64);

impl Sum {
    fn pseudo_header(addresses: Addresses, length: u32) -> Self {
        let mut sum = Self(0);
        sum.add(&TCP.to_be_bytes());
        sum.add(&length.to_be_bytes());
        match addresses {
            Addresses::V4 { from, to } => {
                sum.add(&from.octets());
                sum.add(&to.octets());
            }
            Addresses::V6 { from, to } => {
                sum.add(&from.octets());
                sum.add(&to.octets());
            }
        }
        sum
    }

    /// Adds `bytes`. Only the last part may have an odd length.
    fn add(&mut self, bytes: &[u8]) {
        // A word of 32 bits counts as its two halves, because 2^16 is 1 modulo 2^16 - 1.
        let words = bytes.chunks_exact(4);
        let mut rest = [0; 4];
        rest[..words.remainder().len()].copy_from_slice(words.remainder());
        let word =
            |word: &[u8]| u64::from(u32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
        self.0 += word(&rest) + words.map(word).sum::<u64>();
    }

    fn fold(&self) -> u16 {
        let mut sum = self.0;
        while sum > u64::from(u16::MAX) {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        u16::from_be(sum as u16)
    }
}
