//! Sorting of the packets of several interfaces by time, because a file may have them in batches.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::io::Read;

use super::{Captured, Format, ReadError, Reader};

/// The maximum number of packets held until it is known that no earlier one follows.
const MAX_WAITING: usize = 4096;

/// The packets of a file. They are sorted by time if the file has several interfaces; otherwise
/// they keep their order.
#[derive(Debug)]
pub struct InOrder<R> {
    reader: Reader<R>,
    waiting: BinaryHeap<Reverse<Waiting>>,
    error: Option<ReadError>,
    is_over: bool,
}

/// A packet, ordered by its time and its number.
#[derive(Debug, PartialEq, Eq)]
struct Waiting(Captured);

impl<R: Read> InOrder<R> {
    pub(super) fn of(reader: Reader<R>) -> Self {
        Self { reader, waiting: BinaryHeap::new(), error: None, is_over: false }
    }

    /// The reader, for [`Reader::skipped`] and [`Reader::offset`].
    pub const fn reader(&self) -> &Reader<R> {
        &self.reader
    }

    /// As [`Reader::next_into`].
    pub fn next_into(&mut self, captured: &mut Captured) -> Option<Result<(), ReadError>> {
        if self.waiting.is_empty() && !self.is_over && !self.reader.has_several_interfaces() {
            return self.reader.next_into(captured);
        }
        self.fill();
        match self.waiting.pop() {
            Some(Reverse(Waiting(earliest))) => {
                *captured = earliest;
                Some(Ok(()))
            }
            None => self.error.take().map(Err),
        }
    }

    /// Reads packets until one can be returned.
    fn fill(&mut self) {
        while !self.is_over && self.waiting.len() < MAX_WAITING {
            match self.reader.next() {
                Some(Ok(captured)) => self.waiting.push(Reverse(Waiting(captured))),
                Some(Err(error)) => (self.error, self.is_over) = (Some(error), true),
                None => self.is_over = true,
            }
        }
    }
}

impl<R: Read> Iterator for InOrder<R> {
    type Item = Result<Captured, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut captured = Captured::empty();
        self.next_into(&mut captured).map(|next| next.map(|()| captured))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.0.packet.at, self.0.number).cmp(&(other.0.packet.at, other.0.number))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<R: Read> Reader<R> {
    /// The packets, sorted by time if the file has several interfaces.
    pub fn in_order(self) -> InOrder<R> {
        InOrder::of(self)
    }

    fn has_several_interfaces(&self) -> bool {
        matches!(&self.format, Format::Pcapng(section) if section.has_several_interfaces())
    }
}
