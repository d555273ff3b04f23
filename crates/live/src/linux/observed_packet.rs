//! The packets of a flow as segments of the engine, with their fates.

use std::collections::BTreeMap;
use std::ops::Range;

use rtolab_record::{Fate, Place};
use rtolab_tcp::Segment;
use rtolab_time::{Duration, Instant};

/// A packet of a flow.
#[derive(Clone, Debug)]
pub(crate) struct ObservedPacket {
    /// Its number in the log.
    pub copy: u64,
    /// The end at which it was sent.
    pub from: Place,
    /// The segment; a datagram has no flags.
    pub segment: Segment,
    pub sent: Instant,
    /// The size with all headers.
    pub bytes: u32,
    pub fate: Fate,
    pub fate_at: Option<Instant>,
    pub held: Duration,
    /// Did its receiver drop its data because of its timestamp (PAWS)?
    pub dropped_as_old: bool,
    /// Was a part of it sent before?
    pub retransmission: bool,
    /// For a retransmission: had earlier copies delivered all of its bytes?
    pub unneeded: bool,
}

impl ObservedPacket {
    /// When it arrived; `None` if it was lost.
    pub(crate) fn arrived(&self) -> Option<Instant> {
        self.fate_at.filter(|_| self.fate == Fate::Delivered)
    }

    /// When its receiver accepted its data; `None` if it did not.
    pub(crate) fn delivered(&self) -> Option<Instant> {
        self.arrived().filter(|_| !self.dropped_as_old)
    }

    /// The sequence numbers that it occupies.
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
    pub(crate) fn contains(&self, range: &Range<u64>) -> bool {
        self.0.range(..=range.start).next_back().is_some_and(|(_, end)| *end >= range.end)
    }

    /// The end of the range that contains or precedes `start`, but at least `start`.
    pub(crate) fn contiguous_end(&self, start: u64) -> u64 {
        self.0.range(..=start).next_back().map_or(start, |(_, end)| start.max(*end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_ranges_are_merged() {
        let mut ranges = Ranges::default();
        for (start, end) in [(10, 20), (30, 40), (50, 60), (20, 30)] {
            ranges.add(start..end);
        }
        assert!(ranges.contains(&(10..40)) && ranges.contains(&(55..60)));
        assert!(!ranges.contains(&(10..41)) && !ranges.contains(&(45..55)));
        ranges.add(35..55);
        assert!(ranges.contains(&(10..60)));
        assert_eq!((ranges.contiguous_end(10), ranges.contiguous_end(5)), (60, 5));
        ranges.add(1..100);
        assert_eq!(ranges.0.len(), 1);
    }
}

/// Packets for tests.
#[cfg(test)]
pub(super) mod made {
    use rtolab_link::DropCause;
    use rtolab_record::{Fate, Place};
    use rtolab_tcp::Segment;
    use rtolab_time::{Duration, Instant};

    use super::ObservedPacket;

    /// A packet with the times in milliseconds at which it was sent and arrived; 0 if it was lost.
    pub(in super::super) fn packet(
        (copy, from): (u64, Place),
        segment: Segment,
        (sent, arrived): (u64, u64),
    ) -> ObservedPacket {
        let at = |millis| Instant::START + Duration::from_millis(millis);
        ObservedPacket {
            copy,
            from,
            segment,
            sent: at(sent),
            bytes: segment.len + 40,
            fate: if arrived > 0 { Fate::Delivered } else { Fate::Dropped(DropCause::Outage) },
            fate_at: Some(at(arrived.max(sent))),
            held: Duration::ZERO,
            dropped_as_old: false,
            retransmission: false,
            unneeded: false,
        }
    }
}
