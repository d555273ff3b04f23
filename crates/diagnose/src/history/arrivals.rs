//! The bytes of a direction that the capture contains, to find segments that arrive twice or late.

use rtolab_tcp::{Segment, Seq};
use rtolab_time::{Duration, Instant};

use super::frame::Frame;
use crate::rtt::RttStatistics;

/// The maximum number of gaps per direction, which take 160 kB.
const MAX_GAPS: usize = 4096;
/// The longest reordering to expect. A retransmission comes later.
const REORDERING: Duration = Duration::from_millis(20);

/// The relation of a segment to those that the capture has seen before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// Above all bytes seen.
    New,
    /// Some of its bytes were seen before.
    SeenBefore,
    /// Below the highest byte seen, with none of its own bytes seen: its original was lost before
    /// the capture point.
    FillsHole,
    /// As `FillsHole`, but its original arrived, and the receiver discarded it.
    ReplacesDiscarded,
    /// Below the highest byte seen, but sent before it: the network reordered it.
    Reordered,
    /// Below the first byte of the capture.
    BeforeCapture,
    /// Not seen before, but acknowledged before.
    Acknowledged,
    /// In a region with too many gaps to keep track of, so it may or may not have been seen before.
    Untracked,
}

/// A gap in the bytes seen.
#[derive(Clone, Copy, Debug)]
struct Gap {
    start: Seq,
    end: Seq,
    /// The packet after the gap.
    opened: Opened,
}

#[derive(Clone, Copy, Debug)]
struct Opened {
    at: Instant,
    ip_id: u16,
    timestamp: Option<u32>,
}

/// The bytes seen of one direction.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    first: Seq,
    max: Seq,
    /// In the order of their sequence numbers.
    gaps: Vec<Gap>,
    /// The latest segments in gaps that the receiver discarded.
    discarded: Vec<(Seq, Seq)>,
    /// The end of the newest gap beyond the maximum.
    forgotten: Option<Seq>,
    /// The highest acknowledgment number in the capture.
    acked: Option<Seq>,
    /// Acknowledged bytes that the capture lacks.
    pub missed: u64,
}

impl Arrivals {
    pub const fn starting_at(first: Seq) -> Self {
        Self {
            first,
            max: first,
            gaps: Vec::new(),
            discarded: Vec::new(),
            forgotten: None,
            acked: None,
            missed: 0,
        }
    }

    /// Adds a segment that the receiver discards for its old timestamp: none of its bytes arrives.
    pub fn discard(&mut self, segment: &Segment, frame: &Frame, rtt: &RttStatistics) -> Arrival {
        if self.gaps.is_empty() || self.discarded.len() == MAX_GAPS {
            self.discarded.clear();
        }
        self.discarded.push((segment.seq, segment.end()));
        if segment.seq < self.max {
            return self.late(segment, frame, rtt);
        }
        let timestamp = segment.timestamps().map(|timestamps| timestamps.value);
        let opened = Opened { at: frame.at, ip_id: frame.ip_id, timestamp };
        self.open(Gap { start: self.max, end: segment.end(), opened });
        self.max = segment.end();
        Arrival::New
    }

    /// Does the capture lack the byte at `seq`, although it has later ones?
    pub fn lacks(&self, seq: Seq) -> bool {
        self.gaps.iter().any(|gap| gap.start <= seq && seq < gap.end)
    }

    /// Does a segment that begins at `seq` follow all bytes seen without a gap?
    pub fn expects(&self, seq: Seq) -> bool {
        seq == self.max
    }

    /// As [`Self::take`], for a segment that follows all bytes seen without a gap.
    pub fn take_expected(&mut self, segment: &Segment) {
        self.max = segment.end();
    }

    /// Adds a segment that occupies sequence numbers.
    pub fn take(&mut self, segment: &Segment, frame: &Frame, rtt: &RttStatistics) -> Arrival {
        let (start, end) = (segment.seq, segment.end());
        if start >= self.max {
            if start > self.max {
                let timestamp = segment.timestamps().map(|timestamps| timestamps.value);
                let ip_id = frame.ip_id;
                let opened = Opened { at: frame.at, ip_id, timestamp };
                self.open(Gap { start: self.max, end: start, opened });
            }
            self.max = end;
            return Arrival::New;
        }
        let arrival = match self.late(segment, frame, rtt) {
            Arrival::FillsHole if self.is_discarded(start) => Arrival::ReplacesDiscarded,
            arrival => arrival,
        };
        self.fill(start, end);
        self.max = self.max.max(end);
        arrival
    }

    fn late(&self, segment: &Segment, frame: &Frame, rtt: &RttStatistics) -> Arrival {
        let (start, end) = (segment.seq, segment.end());
        if end <= self.first {
            // It is a retransmission, even if its original precedes the capture.
            let known = self.acked.is_some_and(|acked| end <= acked);
            return if known { Arrival::Acknowledged } else { Arrival::BeforeCapture };
        }
        let at = self.gaps.partition_point(|gap| gap.end <= start);
        let Some(gap) = self.gaps.get(at).filter(|gap| gap.start <= start && end <= gap.end) else {
            let forgotten = self.forgotten.is_some_and(|edge| start < edge);
            return if forgotten { Arrival::Untracked } else { Arrival::SeenBefore };
        };
        match gap.opened.overtook(segment, frame, rtt) {
            true => Arrival::Reordered,
            false => Arrival::FillsHole,
        }
    }

    /// Did the receiver discard a segment with this byte?
    fn is_discarded(&self, seq: Seq) -> bool {
        self.discarded.iter().any(|(start, end)| *start <= seq && seq < *end)
    }

    /// Adds a gap above all others.
    fn open(&mut self, gap: Gap) {
        match self.gaps.len() < MAX_GAPS {
            true => self.gaps.push(gap),
            false => self.forgotten = Some(gap.end),
        }
    }

    fn fill(&mut self, start: Seq, end: Seq) {
        let from = self.gaps.partition_point(|gap| gap.end <= start);
        let to = self.gaps.partition_point(|gap| gap.start < end);
        if from >= to {
            return;
        }
        let left = Gap { end: start, ..self.gaps[from] };
        let right = Gap { start: end, ..self.gaps[to - 1] };
        let rest = [left, right].into_iter().filter(|gap| gap.start < gap.end);
        self.gaps.splice(from..to, rest);
    }

    /// Removes the gaps below `una`. Their bytes were acknowledged, so they count as missed.
    #[inline]
    pub fn forget(&mut self, una: Seq) {
        self.acked = Some(una);
        self.forgotten = self.forgotten.filter(|&edge| edge > una);
        if self.gaps.is_empty() {
            return;
        }
        let below = self.gaps.partition_point(|gap| gap.start < una);
        let missed = |gap: &Gap| gap.end.min(una).since(gap.start);
        self.missed += self.gaps[..below].iter().map(missed).sum::<u64>();
        let gone = self.gaps.partition_point(|gap| gap.end <= una);
        self.gaps.drain(..gone);
        if let Some(first) = self.gaps.first_mut() {
            first.start = first.start.max(una);
        }
    }

    /// The bytes below the maximum that the capture lacks and that were not acknowledged; 0 if the
    /// receiver discarded segments, which arrived.
    pub fn lacking(&self) -> u64 {
        let is_known = self.discarded.is_empty();
        self.gaps.iter().filter(|_| is_known).map(|gap| gap.end.since(gap.start)).sum()
    }

    /// Counts the bytes up to `ack` above all bytes seen as missed: they were acknowledged.
    pub fn missed(&mut self, ack: Seq) {
        self.missed += ack.since(self.max);
        self.max = self.max.max(ack);
    }
}

impl Opened {
    /// Was the packet after the gap sent after `segment`? The sender's timestamps or IP
    /// identifications decide; without them the time between the packets does.
    fn overtook(&self, segment: &Segment, frame: &Frame, rtt: &RttStatistics) -> bool {
        let stamped = segment.timestamps().map(|timestamps| timestamps.value);
        if let (Some(own), Some(other)) = (stamped, self.timestamp) {
            if own != other {
                return (own.wrapping_sub(other) as i32) < 0;
            }
        }
        if frame.ip_id != 0 && self.ip_id != 0 {
            let distance = frame.ip_id.wrapping_sub(self.ip_id) as i16;
            // Distant identifications are from different counters, or random.
            if distance.unsigned_abs() < 4096 {
                return distance < 0;
            }
        }
        let reordering_window = rtt.min.map_or(REORDERING, |min| (min / 4).min(REORDERING));
        frame.at.since(self.at) < reordering_window
    }
}

#[cfg(test)]
mod tests {
    use rtolab_tcp::{Flags, Segment, Timestamps};

    use super::*;

    /// The arrivals after every second segment of `2 * count` arrived.
    fn with_gaps(count: u64) -> Arrivals {
        let mut arrivals = Arrivals::starting_at(Seq::new(0));
        for number in 0..count {
            assert_eq!(at(0, &mut arrivals, 2 * number + 1), Arrival::New);
        }
        arrivals
    }

    fn at(secs: u64, arrivals: &mut Arrivals, number: u64) -> Arrival {
        let segment = Segment::new(Seq::new(number * 1000), 1000, Flags::ACK);
        let at = Instant::from_nanos(secs * 1_000_000_000);
        let frame = Frame { number: 1, at, ip_id: 0, raw_seq: 0 };
        arrivals.take(&segment, &frame, &RttStatistics::default())
    }

    fn late(arrivals: &mut Arrivals, number: u64) -> Arrival {
        at(1, arrivals, number)
    }

    #[test]
    fn every_gap_below_the_maximum_is_recognised() {
        let mut arrivals = with_gaps(1000);
        for number in 0..999 {
            assert_eq!(late(&mut arrivals, 2 * number), Arrival::FillsHole, "{number}");
            assert_eq!(late(&mut arrivals, 2 * number), Arrival::SeenBefore, "{number}");
        }
    }

    #[test]
    fn segments_fill_parts_of_a_gap() {
        let mut arrivals = with_gaps(1);
        at(0, &mut arrivals, 8);
        for number in [5, 3, 4, 7, 2, 6] {
            assert_eq!(late(&mut arrivals, number), Arrival::FillsHole, "{number}");
            assert_eq!(late(&mut arrivals, number), Arrival::SeenBefore, "{number}");
        }
        assert_eq!(arrivals.gaps.len(), 1);
    }

    #[test]
    fn gaps_beyond_the_maximum_are_forgotten() {
        let mut arrivals = with_gaps(MAX_GAPS as u64 + 10);
        let last = 2 * MAX_GAPS as u64;
        assert_eq!(late(&mut arrivals, last - 2), Arrival::FillsHole);
        assert_eq!(late(&mut arrivals, last), Arrival::Untracked);
        assert_eq!(late(&mut arrivals, last + 1), Arrival::Untracked);
    }

    /// Until all of its gap is filled.
    #[test]
    fn a_copy_of_a_discarded_segment_replaces_it() {
        let mut arrivals = with_gaps(3);
        let rtt = RttStatistics::default();
        let mut discard = |number: u64| {
            let segment = Segment::new(Seq::new(number * 1000), 1000, Flags::ACK);
            let frame = Frame { number: 1, at: Instant::START, ip_id: 0, raw_seq: 0 };
            arrivals.discard(&segment, &frame, &rtt)
        };
        assert_eq!([discard(2), discard(6)], [Arrival::Reordered, Arrival::New]);
        assert_eq!(late(&mut arrivals, 0), Arrival::FillsHole);
        assert_eq!(late(&mut arrivals, 2), Arrival::ReplacesDiscarded);
        assert_eq!(late(&mut arrivals, 2), Arrival::SeenBefore);
        assert_eq!(late(&mut arrivals, 4), Arrival::FillsHole);
        assert_eq!(late(&mut arrivals, 6), Arrival::ReplacesDiscarded);
    }

    #[test]
    fn gaps_below_an_ack_count_as_missed() {
        let mut arrivals = with_gaps(10);
        arrivals.forget(Seq::new(4500));
        assert_eq!(arrivals.missed, 2500);
        assert_eq!(arrivals.gaps.len(), 8);
        assert_eq!(arrivals.gaps[0].start, Seq::new(4500));
    }
    /// A segment fills a gap. Those around it left later if the sender's timestamp says so, or its
    /// IP identification, or if little time has passed: then the network reordered it.
    #[test]
    fn what_left_before_the_segment_after_its_gap_is_reordered() {
        let (stamp, near, far) = (Some(1_000), 5, 60);
        for (after, own, millis, expected) in [
            // Timestamps decide before anything else, also across a wrap.
            ((stamp, 500), (Some(999), 501), far, Arrival::Reordered),
            ((stamp, 500), (Some(1_001), 499), near, Arrival::FillsHole),
            ((Some(3), 0), (Some(u32::MAX), 0), far, Arrival::Reordered),
            // Equal timestamps do not.
            ((stamp, 500), (stamp, 499), far, Arrival::Reordered),
            ((stamp, 500), (stamp, 501), near, Arrival::FillsHole),
            // Identifications wrap, too, and distant ones are from different counters.
            ((None, 3), (None, 65_535), far, Arrival::Reordered),
            ((None, 10_000), (None, 10_000 - 4_095), far, Arrival::Reordered),
            ((None, 10_000), (None, 10_000 - 4_096), far, Arrival::FillsHole),
            ((None, 10_000), (None, 10_000 + 4_096), near, Arrival::Reordered),
            // Without either it is 20 ms, or a quarter of the smallest round trip if that is less.
            ((None, 0), (None, 0), 19, Arrival::Reordered),
            ((None, 0), (None, 0), 20, Arrival::FillsHole),
            ((None, 0), (None, 7), 19, Arrival::Reordered),
        ] {
            let mut arrivals = Arrivals::starting_at(Seq::new(0));
            let mut take = |number: u64, millis, (stamp, ip_id): (Option<u32>, u16)| {
                let mut segment = Segment::new(Seq::new(number * 1000), 1000, Flags::ACK);
                if let Some(value) = stamp {
                    segment.set_timestamps(Timestamps { value, echo: 0 });
                }
                let at = Instant::START + Duration::from_millis(1_000_u64 + millis);
                let frame = Frame { number: 1, at, ip_id, raw_seq: 0 };
                arrivals.take(&segment, &frame, &RttStatistics::default())
            };
            assert_eq!(take(1, 0, after), Arrival::New);
            assert_eq!(take(0, millis, own), expected, "{after:?} {own:?} after {millis} ms");
        }
    }

    #[test]
    fn reordering_takes_at_most_a_quarter_of_the_smallest_round_trip() {
        for (millis, expected) in [(9, Arrival::Reordered), (10, Arrival::FillsHole)] {
            let mut arrivals = with_gaps(1);
            let at = Instant::from_nanos(millis * 1_000_000);
            let frame = Frame { number: 1, at, ip_id: 0, raw_seq: 0 };
            let segment = Segment::new(Seq::new(0), 1000, Flags::ACK);
            let mut rtt = RttStatistics::default();
            rtt.min = Some(Duration::from_millis(40));
            assert_eq!(arrivals.take(&segment, &frame, &rtt), expected, "{millis} ms");
        }
    }
}
