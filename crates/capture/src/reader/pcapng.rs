//! The blocks of a pcapng file (draft-ietf-opsawg-pcapng).

use std::borrow::Cow;
use std::io::Read;

use pcap_parser::pcapng::{
    Block, EnhancedPacketBlock, InterfaceDescriptionBlock, OptionCode, PcapNGOption,
    parse_block_be, parse_block_le,
};
use rtolab_time::Instant;

use super::error::ReadError;
use super::source::{Record, Source, Step};

const SECTION_HEADER: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
const BIG_ENDIAN: [u8; 4] = [0x1a, 0x2b, 0x3c, 0x4d];
const LITTLE_ENDIAN: [u8; 4] = [0x4d, 0x3c, 0x2b, 0x1a];
const OBSOLETE_PACKET: u32 = 2;
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
}

#[derive(Debug)]
struct Interface {
    link_type: u16,
    ticks_per_second: u64,
    /// The offset of its timestamps, in seconds.
    offset_s: i64,
}

impl Section {
    pub(super) fn has_several_interfaces(&self) -> bool {
        self.interfaces.len() > 1
    }

    pub(super) fn step<'a, R: Read>(
        &mut self,
        source: &'a mut Source<R>,
    ) -> Result<Step<'a>, ReadError> {
        let offset = source.offset();
        let damaged = |what: String| ReadError::Damaged { offset, what };
        let Some(head) = source.head(MIN_BLOCK as usize)? else { return Ok(Step::End) };
        if head.starts_with(&SECTION_HEADER) {
            let order = [head[8], head[9], head[10], head[11]];
            if order != BIG_ENDIAN && order != LITTLE_ENDIAN {
                return Err(damaged("a section header without a byte order".into()));
            }
            *self = Self { big_endian: order == BIG_ENDIAN, interfaces: Vec::new() };
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
        let parse = if self.big_endian { parse_block_be } else { parse_block_le };
        let (_, block) = parse(record).map_err(|_| damaged("its lengths disagree".into()))?;
        self.block(block, offset).map_err(|Damage(what)| damaged(what))
    }

    fn block<'a>(&mut self, block: Block<'a>, offset: u64) -> Result<Step<'a>, Damage> {
        match block {
            Block::InterfaceDescription(block) => {
                self.interfaces.push(Interface::described(&block, self.big_endian)?);
                Ok(Step::Other)
            }
            Block::EnhancedPacket(block) => {
                let count = self.interfaces.len();
                match self.interfaces.get(block.if_id as usize) {
                    Some(interface) => interface.frame(&block, offset).map(Step::Frame),
                    None => Err(Damage(format!(
                        "a packet of interface {}, but the section has {count}",
                        block.if_id
                    ))),
                }
            }
            Block::SimplePacket(_) => Ok(Step::Untimed),
            Block::Unknown(block) if block.block_type == OBSOLETE_PACKET => Ok(Step::Untimed),
            _ => Ok(Step::Other),
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
        Ok(Self { link_type: block.linktype.0 as u16, ticks_per_second, offset_s })
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
        Ok(Record {
            at: self.time(u64::from(block.ts_high) << 32 | u64::from(block.ts_low)),
            offset,
            interface: (self.link_type, block.if_id),
            bytes,
            original_len: bytes.len().max(block.origlen as usize),
            comment,
        })
    }

    /// The time of a timestamp. Times before 1970 count as its beginning.
    fn time(&self, ticks: u64) -> Instant {
        let nanos = i128::from(ticks) * 1_000_000_000 / i128::from(self.ticks_per_second)
            + i128::from(self.offset_s) * 1_000_000_000;
        Instant::from_nanos(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX))
    }
}

/// The value of the first option of a kind.
fn option<'a>(options: &'a [PcapNGOption<'_>], code: OptionCode) -> Option<&'a [u8]> {
    let found = options.iter().find(|option| option.code == code)?;
    found.as_bytes().ok()
}
