//! The bytes of a direction that the capture has seen, to find segments that come twice or late.

use rtolab_tcp::{Segment, Seq};
use rtolab_time::{Duration, Instant};

use super::frame::Frame;
use crate::rtt::RoundTrips;

/// The most gaps remembered at once.
const MOST_GAPS: usize = 256;
/// Networks seldom reorder by more than this; a retransmission comes later.
const REORDERING: Duration = Duration::from_millis(20);

/// How the capture sees a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// Above all bytes seen.
    New,
    /// Some of its bytes were seen before.
    Again,
    /// Below other bytes, but none of its own were seen: its original was lost before the capture
    /// point.
    FillsHole,
    /// Below other bytes, but sent before them: the network reordered it.
    Reordered,
    /// All of it precedes the capture.
    Earlier,
    /// None of its bytes were seen, but they had been acknowledged.
    Acknowledged,
}

/// A gap in the bytes seen.
#[derive(Clone, Copy, Debug)]
struct Gap {
    start: Seq,
    end: Seq,
    /// The packet that opened the gap.
    opened: Opened,
}

#[derive(Clone, Copy, Debug)]
struct Opened {
    at: Instant,
    identification: u16,
    timestamp: Option<u32>,
}

/// The bytes seen of one direction.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    first: Seq,
    max: Seq,
    gaps: Vec<Gap>,
    /// The highest acknowledgment number in the capture.
    acked: Option<Seq>,
    /// Acknowledged bytes that the capture lacks.
    pub missed: u64,
}

impl Arrivals {
    pub const fn starting_at(first: Seq) -> Self {
        Self { first, max: first, gaps: Vec::new(), acked: None, missed: 0 }
    }

    /// Processes a segment that takes sequence numbers.
    pub fn take(&mut self, segment: &Segment, frame: &Frame, trips: &RoundTrips) -> Arrival {
        let (start, end) = (segment.seq, segment.end());
        if start >= self.max {
            if start > self.max && self.gaps.len() < MOST_GAPS {
                let timestamp = segment.timestamps().map(|timestamps| timestamps.value);
                let identification = frame.identification;
                let opened = Opened { at: frame.at, identification, timestamp };
                self.gaps.push(Gap { start: self.max, end: start, opened });
            }
            self.max = end;
            return Arrival::New;
        }
        let arrival = self.late(segment, frame, trips);
        self.fill(start, end);
        self.max = self.max.max(end);
        arrival
    }

    fn late(&self, segment: &Segment, frame: &Frame, trips: &RoundTrips) -> Arrival {
        let (start, end) = (segment.seq, segment.end());
        if end <= self.first {
            // It can only be a retransmission, whether its original arrived or not.
            let known = self.acked.is_some_and(|acked| end <= acked);
            return if known { Arrival::Acknowledged } else { Arrival::Earlier };
        }
        let Some(gap) = self.gaps.iter().find(|gap| gap.start <= start && end <= gap.end) else {
            return Arrival::Again;
        };
        match gap.opened.overtook(segment, frame, trips) {
            true => Arrival::Reordered,
            false => Arrival::FillsHole,
        }
    }

    fn fill(&mut self, start: Seq, end: Seq) {
        if self.gaps.is_empty() {
            return;
        }
        let rest = |gap: &Gap| {
            let left = Gap { end: gap.end.min(start), ..*gap };
            let right = Gap { start: gap.start.max(end), ..*gap };
            [left, right].into_iter().filter(|gap| gap.start < gap.end)
        };
        self.gaps = self.gaps.iter().flat_map(rest).take(MOST_GAPS).collect();
    }

    /// Everything below is acknowledged: the capture lacks what is missing there.
    pub fn forget(&mut self, una: Seq) {
        self.acked = Some(una);
        if self.gaps.is_empty() {
            return;
        }
        let missed = |gap: &Gap| gap.end.min(una).since(gap.start);
        self.missed += self.gaps.iter().map(missed).sum::<u64>();
        self.gaps.retain(|gap| gap.end > una);
        for gap in &mut self.gaps {
            gap.start = gap.start.max(una);
        }
    }

    /// Data up to `ack` is acknowledged that the capture lacks.
    pub fn missed(&mut self, ack: Seq) {
        self.missed += ack.since(self.max);
        self.max = self.max.max(ack);
    }
}

impl Opened {
    /// Was the packet that opened the gap sent after `segment`? The sender's IP identification or
    /// timestamps tell, and otherwise the time.
    fn overtook(&self, segment: &Segment, frame: &Frame, trips: &RoundTrips) -> bool {
        let stamped = segment.timestamps().map(|timestamps| timestamps.value);
        if let (Some(own), Some(other)) = (stamped, self.timestamp) {
            if own != other {
                return (own.wrapping_sub(other) as i32) < 0;
            }
        }
        if frame.identification != 0 && self.identification != 0 {
            let distance = frame.identification.wrapping_sub(self.identification) as i16;
            // Distant identifications come from different counters, or are random.
            if distance.unsigned_abs() < 4096 {
                return distance < 0;
            }
        }
        let reordering = trips.least.map_or(REORDERING, |least| (least / 4).min(REORDERING));
        frame.at.since(self.at) < reordering
    }
}
