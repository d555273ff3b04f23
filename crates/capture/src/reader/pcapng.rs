//! The blocks of a pcapng file (draft-ietf-opsawg-pcapng).

use std::borrow::Cow;
use std::io::Read;

use pcap_parser::pcapng::{
    Block, EnhancedPacketBlock, InterfaceDescriptionBlock, OptionCode, PcapNGOption,
    parse_block_be, parse_block_le,
};
use rtolab_time::Instant;

use super::error::ReadError;
use super::source::{BUFFER, PlainFrame, ReadOutcome, Record, Source};
use crate::frame::Link;

const SECTION_HEADER: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
const BIG_ENDIAN: [u8; 4] = [0x1a, 0x2b, 0x3c, 0x4d];
const LITTLE_ENDIAN: [u8; 4] = [0x4d, 0x3c, 0x2b, 0x1a];
const OBSOLETE_PACKET: u32 = 2;
const ENHANCED_PACKET: u32 = 6;
/// The bytes of an enhanced packet block before those of the packet.
const ENHANCED_HEAD: usize = 28;
/// The size of an enhanced packet block without options and without a packet.
const MIN_ENHANCED: usize = ENHANCED_HEAD + 4;
/// The options of an interface statistics block with the packets that the interface dropped, and
/// those that the system dropped.
const IF_DROP: u16 = 5;
const OS_DROP: u16 = 7;
const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// The size of the smallest block: its type, and its length at the beginning and at the end.
const MIN_BLOCK: u32 = 12;

/// Does a file that begins with `magic` consist of pcapng blocks?
pub(super) fn begins(magic: &[u8]) -> bool {
    magic == SECTION_HEADER
}

/// The state of a section.
#[derive(Debug, Default)]
pub(super) struct Section {
    big_endian: bool,
    interfaces: Vec<Interface>,
    /// Packets that the interfaces of earlier sections dropped.
    dropped_before: u64,
}

#[derive(Debug)]
struct Interface {
    link_type: u16,
    ticks_per_second: u64,
    /// The nanoseconds of a tick, if it has a whole number of them.
    nanos_per_tick: Option<u64>,
    /// The offset of its timestamps, in seconds.
    offset_s: i64,
    /// Packets that the interface or the system dropped so far.
    dropped: u64,
    /// The link type and the nanoseconds of a tick, if its frames can take the fast path.
    plain: Option<(Link, u64)>,
}

impl Section {
    pub(super) fn has_several_interfaces(&self) -> bool {
        self.interfaces.len() > 1
    }

    /// Packets that the capture dropped, according to the statistics of its interfaces so far.
    pub(super) fn dropped(&self) -> u64 {
        let of = |sum: u64, interface: &Interface| sum.saturating_add(interface.dropped);
        self.interfaces.iter().fold(self.dropped_before, of)
    }

    /// The fast path: the frame of an enhanced packet block without options at the start of
    /// `buffered`, in a little-endian section. `None` for anything else; the caller then reads the
    /// record with [`Section::read_record`], which has the same result for such a frame.
    #[inline]
    pub(super) fn plain_block<'a>(&self, buffered: &'a [u8]) -> Option<PlainFrame<'a>> {
        let (head, body) = buffered.split_first_chunk::<ENHANCED_HEAD>()?;
        let word =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let captured = word(20) as usize;
        if self.big_endian || word(0) != ENHANCED_PACKET || captured > BUFFER {
            return None;
        }
        let padded = captured.next_multiple_of(4);
        let trailer = body.get(padded..padded + 4)?;
        let record_len = padded + MIN_ENHANCED;
        if word(4) as usize != record_len || trailer != &head[4..8] {
            return None;
        }
        let interface = word(8);
        let (link, nanos_per_tick) = self.interfaces.get(interface as usize)?.plain?;
        let ticks = u64::from(word(12)) << 32 | u64::from(word(16));
        let at = Instant::from_nanos(ticks.checked_mul(nanos_per_tick)?);
        Some(PlainFrame { at, link, interface, bytes: &body[..captured], record_len })
    }

    pub(super) fn read_record<'a, R: Read>(
        &mut self,
        source: &'a mut Source<R>,
    ) -> Result<ReadOutcome<'a>, ReadError> {
        let offset = source.offset();
        let damaged = |what: String| ReadError::Damaged { offset, what };
        let Some(head) = source.head(MIN_BLOCK as usize)? else { return Ok(ReadOutcome::End) };
        if head.starts_with(&SECTION_HEADER) {
            let order = [head[8], head[9], head[10], head[11]];
            if order != BIG_ENDIAN && order != LITTLE_ENDIAN {
                return Err(damaged("a section header without a byte order".into()));
            }
            let big_endian = order == BIG_ENDIAN;
            *self = Self { big_endian, interfaces: Vec::new(), dropped_before: self.dropped() };
        }
        let length = [head[4], head[5], head[6], head[7]];
        let length = match self.big_endian {
            true => u32::from_be_bytes(length),
            false => u32::from_le_bytes(length),
        };
        let Some(rest) = length.checked_sub(MIN_BLOCK) else {
            return Err(damaged(format!("a block of {length} bytes; expected at least 12")));
        };
        let record = source.rest(rest)?;
        if let Some(frame) = self.plain_frame(record, offset) {
            return Ok(ReadOutcome::Frame(frame));
        }
        let parse = if self.big_endian { parse_block_be } else { parse_block_le };
        let (_, block) = parse(record).map_err(|_| damaged("its lengths disagree".into()))?;
        self.block(block, offset).map_err(|Damage(what)| damaged(what))
    }

    /// The frame of an enhanced packet block without options, which most blocks are; `None` for any
    /// other block and for a damaged one.
    fn plain_frame<'a>(&self, record: &'a [u8], offset: u64) -> Option<Record<'a>> {
        let (head, body) = record.split_first_chunk::<ENHANCED_HEAD>()?;
        let word = |at: usize| {
            let bytes = [head[at], head[at + 1], head[at + 2], head[at + 3]];
            if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
        };
        let captured = word(20) as usize;
        let padded = captured.checked_next_multiple_of(4)?;
        if word(0) != ENHANCED_PACKET || body.get(padded..)? != &head[4..8] {
            return None;
        }
        let index = word(8);
        let interface = self.interfaces.get(index as usize)?;
        let ticks = u64::from(word(12)) << 32 | u64::from(word(16));
        let original_len = captured.max(word(24) as usize);
        Some(interface.record((offset, index, ticks), (&body[..captured], original_len), None))
    }

    fn block<'a>(&mut self, block: Block<'a>, offset: u64) -> Result<ReadOutcome<'a>, Damage> {
        match block {
            Block::InterfaceDescription(block) => {
                self.interfaces.push(Interface::described(&block, self.big_endian)?);
                Ok(ReadOutcome::Other)
            }
            Block::InterfaceStatistics(block) => {
                let big_endian = self.big_endian;
                let count = |code: u16| {
                    let bytes = option(&block.options, OptionCode(code))?;
                    let bytes = <[u8; 8]>::try_from(bytes.get(..8)?).ok()?;
                    Some(if big_endian {
                        u64::from_be_bytes(bytes)
                    } else {
                        u64::from_le_bytes(bytes)
                    })
                };
                let dropped = [IF_DROP, OS_DROP].into_iter().filter_map(count);
                if let Some(interface) = self.interfaces.get_mut(block.if_id as usize) {
                    // The counters of a later block include those of an earlier one.
                    interface.dropped = interface.dropped.max(dropped.fold(0, u64::saturating_add));
                }
                Ok(ReadOutcome::Other)
            }
            Block::EnhancedPacket(block) => {
                let count = self.interfaces.len();
                match self.interfaces.get(block.if_id as usize) {
                    Some(interface) => interface.frame(&block, offset).map(ReadOutcome::Frame),
                    None => Err(Damage(format!(
                        "a packet of interface {}, but the section has {count}",
                        block.if_id
                    ))),
                }
            }
            Block::SimplePacket(_) => Ok(ReadOutcome::Untimed),
            Block::Unknown(block) if block.block_type == OBSOLETE_PACKET => {
                Ok(ReadOutcome::Untimed)
            }
            _ => Ok(ReadOutcome::Other),
        }
    }
}

/// An error in a block.
struct Damage(String);

impl Interface {
    /// The interface of a block. The library does not support resolutions in powers of two, and it
    /// reads offsets as little-endian, so this function parses both.
    fn described(block: &InterfaceDescriptionBlock<'_>, big_endian: bool) -> Result<Self, Damage> {
        let resolution = block.if_tsresol;
        let exponent = u32::from(resolution & 0x7f);
        let ticks_per_second = match resolution {
            0x80.. => 1_u64.checked_shl(exponent),
            _ => 10_u64.checked_pow(exponent),
        };
        let Some(ticks_per_second) = ticks_per_second else {
            return Err(Damage(format!("a time resolution of {resolution:#04x}")));
        };
        let offset_s = option(&block.options, OptionCode::IfTsoffset);
        let offset_s = match offset_s.and_then(|bytes| <[u8; 8]>::try_from(bytes).ok()) {
            None => 0,
            Some(bytes) if big_endian => i64::from_be_bytes(bytes),
            Some(bytes) => i64::from_le_bytes(bytes),
        };
        let is_whole = NANOS_PER_SECOND % ticks_per_second == 0;
        let nanos_per_tick = is_whole.then(|| NANOS_PER_SECOND / ticks_per_second);
        let link_type = block.linktype.0 as u16;
        let plain = Link::from_link_type(link_type).zip(nanos_per_tick);
        Ok(Self {
            link_type,
            ticks_per_second,
            nanos_per_tick,
            offset_s,
            dropped: 0,
            plain: plain.filter(|_| offset_s == 0),
        })
    }

    fn frame<'a>(
        &self,
        block: &EnhancedPacketBlock<'a>,
        offset: u64,
    ) -> Result<Record<'a>, Damage> {
        let Some(bytes) = block.data.get(..block.caplen as usize) else {
            return Err(Damage("its lengths disagree".into()));
        };
        let comment = option(&block.options, OptionCode::Comment)
            .map(|text| Cow::Owned(String::from_utf8_lossy(text).into_owned()));
        let ticks = u64::from(block.ts_high) << 32 | u64::from(block.ts_low);
        let original_len = bytes.len().max(block.origlen as usize);
        Ok(self.record((offset, block.if_id, ticks), (bytes, original_len), comment))
    }

    fn record<'a>(
        &self,
        (offset, index, ticks): (u64, u32, u64),
        (bytes, original_len): (&'a [u8], usize),
        comment: Option<Cow<'static, str>>,
    ) -> Record<'a> {
        let (at, interface) = (self.time(ticks), (self.link_type, index));
        Record { at, offset, interface, bytes, original_len, comment }
    }

    /// The time of a timestamp. Times before 1970 count as its beginning.
    fn time(&self, ticks: u64) -> Instant {
        let nanos = self.nanos_per_tick.and_then(|nanos| ticks.checked_mul(nanos));
        if let (Some(nanos), 0) = (nanos, self.offset_s) {
            return Instant::from_nanos(nanos);
        }
        let nanos = i128::from(ticks) * i128::from(NANOS_PER_SECOND)
            / i128::from(self.ticks_per_second)
            + i128::from(self.offset_s) * i128::from(NANOS_PER_SECOND);
        Instant::from_nanos(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX))
    }
}

/// The value of the first option of a kind.
fn option<'a>(options: &'a [PcapNGOption<'_>], code: OptionCode) -> Option<&'a [u8]> {
    let found = options.iter().find(|option| option.code == code)?;
    found.as_bytes().ok()
}
