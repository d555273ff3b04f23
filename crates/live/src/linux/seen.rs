//! The packets of a flow as the engine's segments, with their fates.

use std::collections::BTreeMap;
use std::ops::Range;

use rtolab_record::{Fate, Place};
use rtolab_tcp::Segment;
use rtolab_time::{Duration, Instant};

/// A packet of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// The number of its copy in the log.
    pub copy: u64,
    /// The end at which it was sent.
    pub from: Place,
    /// Without flags it is a datagram.
    pub segment: Segment,
    pub sent: Instant,
    /// With IP and TCP or UDP headers.
    pub bytes: u32,
    pub fate: Fate,
    pub fate_at: Option<Instant>,
    pub held: Duration,
    /// It arrived, but its receiver dropped its data because of its timestamp.
    pub dropped_as_old: bool,
    /// Was a part of it sent before?
    pub retransmission: bool,
    /// For a retransmission: had earlier copies delivered every byte of it?
    pub unneeded: bool,
}

impl Seen {
    /// When it arrived, if it did.
    pub(crate) fn arrived(&self) -> Option<Instant> {
        self.fate_at.filter(|_| self.fate == Fate::Delivered)
    }

    /// When it delivered its data to its receiver, if it did.
    pub(crate) fn delivered(&self) -> Option<Instant> {
        self.arrived().filter(|_| !self.dropped_as_old)
    }

    /// The sequence numbers that it takes.
    pub(crate) fn range(&self) -> Range<u64> {
        self.segment.seq.value()..self.segment.end().value()
    }
}

/// A set of ranges of sequence numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds a range.
    pub(crate) fn add(&mut self, range: Range<u64>) {
        let Range { mut start, mut end } = range;
        while let Some((from, to)) = self.0.range(..=end).next_back().map(|(f, t)| (*f, *t)) {
            if to < start {
                break;
            }
            self.0.remove(&from);
            (start, end) = (start.min(from), end.max(to));
        }
        self.0.insert(start, end);
    }

    /// Is all of the range in the set?
    pub(crate) fn hold(&self, range: &Range<u64>) -> bool {
        self.0.range(..=range.start).next_back().is_some_and(|(_, end)| *end >= range.end)
    }

    /// The end of the range that contains or precedes `start`, but at least `start`.
    pub(crate) fn reach(&self, start: u64) -> u64 {
        self.0.range(..=start).next_back().map_or(start, |(_, end)| start.max(*end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_touch_become_one() {
        let mut ranges = Ranges::default();
        for (start, end) in [(10, 20), (30, 40), (50, 60), (20, 30)] {
            ranges.add(start..end);
        }
        assert!(ranges.hold(&(10..40)) && ranges.hold(&(55..60)));
        assert!(!ranges.hold(&(10..41)) && !ranges.hold(&(45..55)));
        ranges.add(35..55);
        assert!(ranges.hold(&(10..60)));
        assert_eq!((ranges.reach(10), ranges.reach(5)), (60, 5));
        ranges.add(1..100);
        assert_eq!(ranges.0.len(), 1);
    }
}
