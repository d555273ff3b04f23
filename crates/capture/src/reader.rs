//! A pcap or pcapng file, packet by packet.

mod error;
mod pcap;
mod pcapng;
mod source;

use std::borrow::Cow;
use std::io::Read;

use rtolab_time::Instant;

pub use error::ReadError;
use pcap::Header;
use pcapng::Section;
use source::Source;

use crate::Packet;
use crate::frame::{self, Link, NoSegment};

/// A TCP packet of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Which of the file's packets this is, of any protocol, counted from 1 as analysers do.
    pub number: u64,
    /// The packet.
    pub packet: Packet,
    /// Does TCP's checksum hold? In a capture made at the sending host it often does not: the
    /// network card was to fill it in.
    pub checksum: Checksum,
}

/// What the checksum of a segment says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// The segment is as it was sent.
    Good,
    /// It is not, or its checksum was still to be filled in.
    Bad,
    /// Not all of the segment was captured.
    Cut,
}

/// How many packets of a file were passed over, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Not TCP over IPv4 or IPv6.
    pub other: u64,
    /// Fragments of IP packets.
    pub fragments: u64,
    /// TCP without a whole header.
    pub malformed: u64,
    /// In a block that keeps no time.
    pub untimed: u64,
}

/// A frame as the file holds it.
pub(crate) struct Record<'a> {
    pub(crate) at: Instant,
    link: Link,
    /// The number of the link's type, and which of the file's interfaces it is.
    pub(crate) interface: (u16, u32),
    /// What was captured of it.
    pub(crate) bytes: &'a [u8],
    /// Its length on the link, in bytes.
    pub(crate) original: usize,
    pub(crate) comment: Option<Cow<'static, str>>,
}

/// What the next record is.
pub(crate) enum Step<'a> {
    Frame(Record<'a>),
    /// A frame whose time was not kept.
    Untimed,
    /// Nothing about frames.
    Other,
    End,
}

/// Reads the TCP packets of a pcap or pcapng file, one at a time, in its order. Behind an error
/// there is nothing more.
#[derive(Debug)]
pub struct Reader<R> {
    source: Source<R>,
    format: Format,
    number: u64,
    skipped: Skipped,
    is_over: bool,
}

#[derive(Debug)]
enum Format {
    Pcap(Header),
    Pcapng(Section),
}

impl<R: Read> Reader<R> {
    /// Begins to read; needs no buffering around `input`.
    pub fn new(input: R) -> Result<Self, ReadError> {
        let (mut source, magic) = Source::open(input)?;
        let format = match pcapng::begins(&magic) {
            true => Format::Pcapng(Section::default()),
            false => Format::Pcap(Header::read(&mut source, &magic)?),
        };
        Ok(Self { source, format, number: 0, skipped: Skipped::default(), is_over: false })
    }

    /// The packets passed over so far.
    pub const fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// The next record, whatever it is; packets are counted.
    pub(crate) fn record(&mut self) -> Result<(u64, Step<'_>), ReadError> {
        self.source.next_record();
        let step = match &mut self.format {
            Format::Pcap(header) => header.step(&mut self.source)?,
            Format::Pcapng(section) => section.step(&mut self.source)?,
        };
        self.number += u64::from(matches!(step, Step::Frame(_) | Step::Untimed));
        Ok((self.number, step))
    }

    /// How many bytes of the file were read.
    pub fn offset(&self) -> u64 {
        self.source.offset()
    }

    /// The next packet; `None` at the file's end.
    fn advance(&mut self) -> Result<Option<Captured>, ReadError> {
        loop {
            let (number, step) = self.record()?;
            let skipped = match step {
                Step::End => return Ok(None),
                Step::Other => continue,
                Step::Untimed => {
                    self.skipped.untimed += 1;
                    continue;
                }
                Step::Frame(record) => {
                    match frame::packet(record.link, record.bytes, record.original) {
                        Ok((packet, checksum)) => {
                            let packet =
                                Packet { at: record.at, comment: record.comment, ..packet };
                            return Ok(Some(Captured { number, packet, checksum }));
                        }
                        Err(why) => why,
                    }
                }
            };
            match skipped {
                NoSegment::Other => self.skipped.other += 1,
                NoSegment::Fragment => self.skipped.fragments += 1,
                NoSegment::Malformed => self.skipped.malformed += 1,
            }
        }
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Captured, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let next = self.advance().transpose();
        self.is_over = !matches!(next, Some(Ok(_)));
        next
    }
}

#[cfg(test)]
mod tests;
