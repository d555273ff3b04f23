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
struct Record<'a> {
    at: Instant,
    link: Link,
    /// What was captured of it.
    bytes: &'a [u8],
    /// Its length on the link, in bytes.
    original: usize,
    comment: Option<Cow<'static, str>>,
}

/// What the next record is.
enum Step<'a> {
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

    /// The next packet; `None` at the file's end.
    fn advance(&mut self) -> Result<Option<Captured>, ReadError> {
        loop {
            self.source.next_record();
            let step = match &mut self.format {
                Format::Pcap(header) => header.step(&mut self.source)?,
                Format::Pcapng(section) => section.step(&mut self.source)?,
            };
            let record = match step {
                Step::End => return Ok(None),
                Step::Other => continue,
                Step::Untimed => {
                    self.number += 1;
                    self.skipped.untimed += 1;
                    continue;
                }
                Step::Frame(record) => record,
            };
            self.number += 1;
            match frame::packet(record.link, record.bytes, record.original) {
                Ok((packet, checksum)) => {
                    let packet = Packet { at: record.at, comment: record.comment, ..packet };
                    return Ok(Some(Captured { number: self.number, packet, checksum }));
                }
                Err(NoSegment::Other) => self.skipped.other += 1,
                Err(NoSegment::Fragment) => self.skipped.fragments += 1,
                Err(NoSegment::Malformed) => self.skipped.malformed += 1,
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
