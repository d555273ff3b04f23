//! Sorting of packets by time: a file may have those of several interfaces in batches, and those of
//! one slightly unsorted.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::io::Read;

use super::clock::{CaptureClock, ClockSteps};
use super::{Captured, Format, ReadError, Reader};

/// The maximum number of packets held until it is known that no earlier one follows.
const MAX_WAITING: usize = 4096;

/// The packets of a file, sorted by time. If the file has one interface, only packets that are
/// slightly out of place are sorted, and the times after a step back of the clock are corrected.
#[derive(Debug)]
pub struct InOrder<R> {
    reader: Reader<R>,
    waiting: BinaryHeap<Reverse<Waiting>>,
    clock: CaptureClock,
    error: Option<ReadError>,
    is_over: bool,
}

/// A packet, ordered by its time and its number.
#[derive(Debug, PartialEq, Eq)]
struct Waiting(Captured);

impl<R: Read> InOrder<R> {
    pub(super) fn of(reader: Reader<R>) -> Self {
        let (waiting, clock) = (BinaryHeap::new(), CaptureClock::default());
        Self { reader, waiting, clock, error: None, is_over: false }
    }

    /// The reader, for [`Reader::skipped`] and [`Reader::offset`].
    pub const fn reader(&self) -> &Reader<R> {
        &self.reader
    }

    /// The steps back of the clock, if the file has one interface. The times of later packets are
    /// corrected, so that time goes on from the last packet before each step.
    pub const fn clock_steps(&self) -> ClockSteps {
        self.clock.steps
    }

    /// As [`Reader::next_into`].
    pub fn next_into(&mut self, captured: &mut Captured) -> Option<Result<(), ReadError>> {
        let is_of_one = self.waiting.is_empty() && !self.reader.has_several_interfaces();
        if is_of_one || !self.clock.is_empty() {
            return self.next_of_one_interface(captured);
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

    fn next_of_one_interface(&mut self, captured: &mut Captured) -> Option<Result<(), ReadError>> {
        if self.clock.is_empty() && !self.is_over {
            let read = self.reader.next_into(captured);
            if !matches!(read, Some(Ok(()))) || self.clock.correct(captured) {
                return read;
            }
            std::mem::swap(captured, self.clock.next_place());
            self.clock.push();
        }
        while !self.is_over && self.clock.needs_more() && !self.reader.has_several_interfaces() {
            match self.reader.next_into(self.clock.next_place()) {
                Some(Ok(())) => self.clock.push(),
                Some(Err(error)) => (self.error, self.is_over) = (Some(error), true),
                None => self.is_over = true,
            }
        }
        match self.clock.pop_into(captured) {
            true => Some(Ok(())),
            false => self.error.take().map(Err),
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
    /// The packets, sorted by time.
    pub fn in_order(self) -> InOrder<R> {
        InOrder::of(self)
    }

    fn has_several_interfaces(&self) -> bool {
        matches!(&self.format, Format::Pcapng(section) if section.has_several_interfaces())
    }
}
