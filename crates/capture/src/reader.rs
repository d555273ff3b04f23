//! The reader of pcap and pcapng files.

mod clock;
mod error;
mod in_order;
mod pcap;
mod pcapng;
mod source;

use std::io::Read;

use rtolab_packet::protocol::EXTENSIONS;
use rtolab_packet::{NoSegment, PacketTooBig};

pub use clock::ClockSteps;
pub use error::ReadError;
pub use in_order::InOrder;
use pcap::Header;
use pcapng::Section;
use source::{PlainFrame, Source};
pub(crate) use source::{ReadOutcome, Record};

use crate::fragments::{Fragments, Reassembly};
use crate::frame::{self, Captured, Link, Verification, plain};
use crate::too_big::TooBigMessages;

/// The numbers of skipped packets, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Not TCP over IPv4 or IPv6.
    pub other: u64,
    /// Fragments of packets that were not complete within a minute, or that exceeded the limits.
    pub fragments: u64,
    /// Fragments of packets that were discarded because fragments overlap or end in the wrong place
    /// (RFC 5722).
    pub overlapping: u64,
    /// On an interface of unknown link type.
    pub unknown_link: u64,
    /// TCP without a complete header.
    pub malformed: u64,
    /// In a block without a timestamp.
    pub untimed: u64,
    /// Not in the file: the capture dropped them, according to the statistics of its interfaces.
    pub dropped: u64,
}

/// An iterator over the TCP packets of a pcap or pcapng file, in order. It ends after an error.
#[derive(Debug)]
pub struct Reader<R> {
    source: Source<R>,
    format: Format,
    number: u64,
    checksums: Verification,
    fragments: Fragments,
    skipped: Skipped,
    too_big: TooBigMessages,
    links: Links,
    is_over: bool,
}

/// The link types so far.
#[derive(Debug, Default)]
struct Links {
    any_known: bool,
    /// The unknown types, with the offsets of their first frames.
    unknown: Vec<(u16, u64)>,
}

#[derive(Debug)]
enum Format {
    Pcap(Header),
    Pcapng(Section),
}

impl<R: Read> Reader<R> {
    /// A reader of `input`, which needs no buffering.
    ///
    /// # Errors
    /// The input cannot be read, or it is neither pcap nor pcapng.
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
            checksums: Verification::On,
            fragments: Fragments::default(),
            skipped: Skipped::default(),
            too_big: TooBigMessages::default(),
            links: Links::default(),
            is_over: false,
        })
    }

    /// Disables the verification of checksums.
    #[must_use]
    pub fn without_checksums(self) -> Self {
        Self { checksums: Verification::Off, ..self }
    }

    /// The packets skipped so far.
    pub fn skipped(&self) -> Skipped {
        let Fragments { incomplete: fragments, overlapping, .. } = self.fragments;
        let dropped = match &self.format {
            Format::Pcap(_) => 0,
            Format::Pcapng(section) => section.dropped(),
        };
        Skipped { fragments, overlapping, dropped, ..self.skipped }
    }

    /// The different ICMP messages so far that a TCP packet was too big, up to 64.
    pub fn too_big(&self) -> &[PacketTooBig] {
        self.too_big.all()
    }

    /// The link types of [`Skipped::unknown_link`], in the order of their first packets.
    pub fn unknown_links(&self) -> impl Iterator<Item = u16> {
        self.links.unknown.iter().map(|&(link_type, _)| link_type)
    }

    /// The next record of any kind; packets are counted.
    pub(crate) fn record(&mut self) -> Result<(u64, ReadOutcome<'_>), ReadError> {
        self.source.next_record();
        let outcome = self.format.read_record(&mut self.source)?;
        self.number += u64::from(matches!(outcome, ReadOutcome::Frame(_) | ReadOutcome::Untimed));
        Ok((self.number, outcome))
    }

    /// The number of bytes read.
    pub fn offset(&self) -> u64 {
        self.source.offset()
    }

    /// The fast path of [`Reader::advance`]: reads the current record into `captured` if it is a
    /// plain TCP packet. Otherwise returns false, and the reader has not changed.
    #[inline]
    fn read_plain(&mut self, captured: &mut Captured) -> bool {
        let Self { source, format, number, checksums, links, .. } = self;
        let buffered = source.buffered();
        let frame = match format {
            Format::Pcapng(section) => section.plain_block(buffered),
            Format::Pcap(header) => header.plain_record(buffered),
        };
        let Some(PlainFrame { at, link, interface, bytes, record_len }) = frame else {
            return false;
        };
        if *checksums == Verification::On || !plain::fill(captured, link, bytes) {
            return false;
        }
        captured.interface = frame::interface(link, interface, bytes);
        source.request_buffered(record_len);
        links.any_known = true;
        *number += 1;
        (captured.number, captured.packet.at) = (*number, at);
        true
    }

    /// Reads the next packet into `captured`. False at the end of the file; an error ends the
    /// reading, too.
    fn advance(&mut self, captured: &mut Captured) -> Result<bool, ReadError> {
        loop {
            self.source.next_record();
            if self.read_plain(captured) {
                return Ok(true);
            }
            let outcome = self.format.read_record(&mut self.source)?;
            self.number +=
                u64::from(matches!(outcome, ReadOutcome::Frame(_) | ReadOutcome::Untimed));
            let record = match outcome {
                ReadOutcome::End => return self.links.at_end().map(|()| false),
                ReadOutcome::Other => continue,
                ReadOutcome::Untimed => {
                    self.skipped.untimed += 1;
                    continue;
                }
                ReadOutcome::Frame(record) => record,
            };
            let Some(link) = self.links.of(&record, &self.format)? else {
                self.skipped.unknown_link += 1;
                continue;
            };
            let (bytes, original_len) = (record.bytes, record.original_len);
            let frame = (self.number, link, record);
            match fill(captured, frame, self.checksums, &mut self.fragments) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(NoSegment::Other) => {
                    self.skipped.other += 1;
                    self.too_big.note(link, bytes, original_len);
                }
                Err(NoSegment::Malformed) => self.skipped.malformed += 1,
            }
        }
    }

    /// Reads the next packet into `captured`, which is faster than [`Iterator::next`] and has the
    /// same results: `None` after the last packet and after an error.
    pub fn next_into(&mut self, captured: &mut Captured) -> Option<Result<(), ReadError>> {
        if self.is_over {
            return None;
        }
        let next = self.advance(captured);
        if matches!(next, Ok(true)) {
            return Some(Ok(()));
        }
        self.is_over = true;
        self.fragments.finish();
        next.err().map(Err)
    }
}

impl Format {
    fn read_record<'a, R: Read>(
        &mut self,
        source: &'a mut Source<R>,
    ) -> Result<ReadOutcome<'a>, ReadError> {
        match self {
            Self::Pcap(header) => header.read_record(source),
            Self::Pcapng(section) => section.read_record(source),
        }
    }
}

impl Links {
    /// The link type of a frame, if it is known. In a pcap file, which has a single type, an
    /// unknown one is an error.
    fn of(&mut self, record: &Record<'_>, format: &Format) -> Result<Option<Link>, ReadError> {
        let (link_type, _) = record.interface;
        let known = Link::from_link_type(link_type);
        self.any_known |= known.is_some();
        if known.is_none() && !self.unknown.iter().any(|&(unknown, _)| unknown == link_type) {
            self.unknown.push((link_type, record.offset));
        }
        if known.is_none() && matches!(format, Format::Pcap(_)) {
            self.at_end()?;
        }
        Ok(known)
    }

    /// An error if none of the file's link types is known.
    fn at_end(&self) -> Result<(), ReadError> {
        match self.unknown[..] {
            [(found, offset), ..] if !self.any_known => Err(ReadError::LinkType { offset, found }),
            _ => Ok(()),
        }
    }
}

/// Fills `captured` with the segment in a frame with this number, or in the packet that a fragment
/// completes. False if the packet is still incomplete.
#[inline]
fn fill(
    captured: &mut Captured,
    (number, link, record): (u64, Link, Record<'_>),
    checksums: Verification,
    fragments: &mut Fragments,
) -> Result<bool, NoSegment> {
    let ip = frame::ip(link, record.bytes, record.original_len)?;
    let head = (number, record.at, record.comment, record.bytes.len());
    captured.interface = frame::interface(link, record.interface.1, record.bytes);
    let Some(fragment) = ip.fragment else {
        return frame::segment(&ip, checksums, head, captured).map(|()| true);
    };
    match fragments.add(&ip, fragment, record.at) {
        Reassembly::Incomplete => Ok(false),
        Reassembly::Complete => match fragments.complete_packet(&ip, fragment) {
            None => Ok(false),
            Some(whole) => {
                let whole = whole.after_extensions(EXTENSIONS)?;
                frame::segment(&whole, checksums, head, captured).map(|()| true)
            }
        },
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Captured, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut captured = Captured::empty();
        self.next_into(&mut captured).map(|next| next.map(|()| captured))
    }
}

#[cfg(test)]
mod tests;
