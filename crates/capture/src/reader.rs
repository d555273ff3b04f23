//! A pcap or pcapng file, packet by packet.

mod error;
mod in_order;
mod pcap;
mod pcapng;
mod source;

use std::borrow::Cow;
use std::io::Read;

use rtolab_packet::NoSegment;
use rtolab_packet::protocol::EXTENSIONS;
use rtolab_time::Instant;

pub use error::ReadError;
pub use in_order::InOrder;
use pcap::Header;
use pcapng::Section;
use source::Source;

use crate::fragments::{Fragments, Taken};
use crate::frame::{self, Checksum, Checksums, Link};
use crate::{Offer, Packet};

/// A TCP packet of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Which of the file's packets this is, of any protocol, counted from 1 as analysers do; of one
    /// that came in fragments, the one that made it whole.
    pub number: u64,
    /// The packet.
    pub packet: Packet,
    /// Does TCP's checksum hold? In a capture made at the sending host it often does not: the
    /// network card was to fill it in.
    pub checksum: Checksum,
    /// Of a SYN, how it looks.
    pub offer: Option<Offer>,
}

/// How many packets of a file were passed over, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Not TCP over IPv4 or IPv6.
    pub other: u64,
    /// Fragments of IP packets of which others were not seen within a minute, or whose number went
    /// beyond what is kept.
    pub fragments: u64,
    /// Fragments that overlap others of their packet, or do not end where they must: all of these are
    /// refused (RFC 5722).
    pub overlapping: u64,
    /// Of an interface whose link type is not known here.
    pub unknown_link: u64,
    /// TCP without a whole header.
    pub malformed: u64,
    /// In a block that keeps no time.
    pub untimed: u64,
}

/// A frame as the file holds it.
pub(crate) struct Record<'a> {
    pub(crate) at: Instant,
    /// Where its record begins in the file.
    offset: u64,
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
    checksums: Checksums,
    fragments: Fragments,
    skipped: Skipped,
    links: Links,
    is_over: bool,
}

/// Which links the frames so far were of.
#[derive(Debug, Default)]
struct Links {
    any_known: bool,
    /// Types not known here, and where the first frame of each stands in the file.
    unknown: Vec<(u16, u64)>,
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
        Ok(Self {
            source,
            format,
            number: 0,
            checksums: Checksums::Read,
            fragments: Fragments::default(),
            skipped: Skipped::default(),
            links: Links::default(),
            is_over: false,
        })
    }

    /// The same, and no checksum is looked at.
    #[must_use]
    pub fn without_checksums(self) -> Self {
        Self { checksums: Checksums::Unread, ..self }
    }

    /// The packets passed over so far.
    pub const fn skipped(&self) -> Skipped {
        let Fragments { given_up: fragments, overlapping, .. } = self.fragments;
        Skipped { fragments, overlapping, ..self.skipped }
    }

    /// The link types of [`Skipped::unknown_link`], in the order of their first packets.
    pub fn unknown_links(&self) -> impl Iterator<Item = u16> {
        self.links.unknown.iter().map(|&(link_type, _)| link_type)
    }

    /// The next record, whatever it is; packets are counted.
    pub(crate) fn record(&mut self) -> Result<(u64, Step<'_>), ReadError> {
        self.source.next_record();
        let step = self.format.step(&mut self.source)?;
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
            self.source.next_record();
            let step = self.format.step(&mut self.source)?;
            self.number += u64::from(matches!(step, Step::Frame(_) | Step::Untimed));
            let record = match step {
                Step::End => return self.links.at_end().map(|()| None),
                Step::Other => continue,
                Step::Untimed => {
                    self.skipped.untimed += 1;
                    continue;
                }
                Step::Frame(record) => record,
            };
            let Some(link) = self.links.of(&record, &self.format)? else {
                self.skipped.unknown_link += 1;
                continue;
            };
            let found = captured((link, self.checksums), record, &mut self.fragments);
            match found {
                Ok(Some(captured)) => {
                    return Ok(Some(Captured { number: self.number, ..captured }));
                }
                Ok(None) => {}
                Err(NoSegment::Other) => self.skipped.other += 1,
                Err(NoSegment::Malformed) => self.skipped.malformed += 1,
            }
        }
    }
}

impl Format {
    fn step<'a, R: Read>(&mut self, source: &'a mut Source<R>) -> Result<Step<'a>, ReadError> {
        match self {
            Self::Pcap(header) => header.step(source),
            Self::Pcapng(section) => section.step(source),
        }
    }
}

impl Links {
    /// That of a frame, if it is known. A file in which all have the same ends there if it is not.
    fn of(&mut self, record: &Record<'_>, format: &Format) -> Result<Option<Link>, ReadError> {
        let (link_type, _) = record.interface;
        let known = Link::numbered(link_type);
        self.any_known |= known.is_some();
        if known.is_none() && !self.unknown.iter().any(|&(unknown, _)| unknown == link_type) {
            self.unknown.push((link_type, record.offset));
        }
        if known.is_none() && matches!(format, Format::Pcap(_)) {
            self.at_end()?;
        }
        Ok(known)
    }

    /// A file none of whose links is known cannot be read.
    fn at_end(&self) -> Result<(), ReadError> {
        match self.unknown[..] {
            [(found, offset), ..] if !self.any_known => Err(ReadError::LinkType { offset, found }),
            _ => Ok(()),
        }
    }
}

/// The segment that a frame holds, or makes whole; it is numbered by the caller.
fn captured(
    (link, checksums): (Link, Checksums),
    record: Record<'_>,
    fragments: &mut Fragments,
) -> Result<Option<Captured>, NoSegment> {
    let ip = frame::ip(link, record.bytes, record.original)?;
    let (packet, checksum, offer) = match ip.fragment {
        None => frame::segment(&ip, checksums)?,
        Some(fragment) => match fragments.take(&ip, fragment, record.at) {
            Taken::Kept => return Ok(None),
            Taken::Whole => match fragments.whole(&ip, fragment) {
                None => return Ok(None),
                Some(whole) => frame::segment(&whole.behind_extensions(EXTENSIONS)?, checksums)?,
            },
        },
    };
    let packet = Packet { at: record.at, comment: record.comment, ..packet };
    Ok(Some(Captured { number: 0, packet, checksum, offer }))
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Captured, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let next = self.advance().transpose();
        self.is_over = !matches!(next, Some(Ok(_)));
        if self.is_over {
            self.fragments.finish();
        }
        next
    }
}

#[cfg(test)]
mod tests;
