//! The round-trip times of one direction, measured at the capture point by Karn's algorithm.

use rtolab_tcp::{AckFacts, Flight};
use rtolab_time::{Duration, Instant};

/// An ACK earlier than this percentage of the smallest round-trip time cannot answer a segment. The
/// margin is large because on a slow link the smallest sample may be that of two segments in a row,
/// which takes up to twice as long as that of one.
pub(crate) const TOO_SOON: u64 = 60;

/// Linux's minimum of the variance term of the RTO.
const MIN_VARIANCE: Duration = Duration::from_millis(200);

/// The maximum number of samples kept.
const KEPT: usize = 32;

/// The round-trip times of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RttStatistics {
    pub min: Option<Duration>,
    pub srtt: Option<Duration>,
    pub latest: Option<Duration>,
    rttvar: Duration,
    pub samples: u64,
    /// When the newest segment with a sample was sent.
    newest: Option<Instant>,
    /// Samples at regular intervals: those whose number has no bit of `mask`.
    kept: [Duration; KEPT],
    count: usize,
    mask: u64,
}

impl RttStatistics {
    /// Adds the sample that an ACK gives, if any. `flight` is the flight after the ACK.
    pub fn measure(&mut self, facts: &AckFacts, flight: &Flight) {
        self.measure_sacked(facts, flight);
        let (true, Some(newest), false) =
            (facts.is_new(), facts.newest_acked, facts.acks_retransmission)
        else {
            return;
        };
        self.measure_newest(newest.first_sent, facts.at);
    }

    /// Adds the sample that an ACK of the segment sent at `sent` gives.
    #[inline]
    pub fn measure_newest(&mut self, sent: Instant, at: Instant) {
        self.newest = self.newest.max(Some(sent));
        self.take(at.since(sent));
    }

    /// Adds the sample that a SACK block gives to the smallest round-trip time. After an outage,
    /// SACK blocks may give the only samples for many round trips.
    fn measure_sacked(&mut self, facts: &AckFacts, flight: &Flight) {
        let highest = facts.sacked_end.and_then(|end| flight.segment_at(end - 1));
        let Some(sent) = highest.filter(|sent| !sent.was_retransmitted()) else { return };
        let rtt = facts.at.since(sent.first_sent);
        self.newest = self.newest.max(Some(sent.first_sent));
        self.min = self.min.map(|min| min.min(rtt));
    }

    /// Was a segment measured that was sent after this time? Until then the path may be faster than
    /// all samples: a queue that never emptied before may have been discarded by an outage.
    pub fn is_measured_after(&self, at: Instant) -> bool {
        self.newest.is_some_and(|newest| newest > at)
    }

    /// Did an ACK at `acked` come too soon for a segment sent at `sent`, by the samples so far?
    pub fn is_too_soon(&self, sent: Instant, acked: Instant) -> bool {
        self.min.is_some_and(|min| acked.since(sent) * 100 < min * TOO_SOON)
    }

    /// Adds a sample (RFC 6298 section 2).
    pub fn take(&mut self, rtt: Duration) {
        self.samples += 1;
        self.latest = Some(rtt);
        self.keep(rtt);
        self.min = Some(self.min.map_or(rtt, |min| min.min(rtt)));
        let Some(srtt) = self.srtt else {
            (self.srtt, self.rttvar) = (Some(rtt), rtt / 2);
            return;
        };
        let deviation = Duration::from_nanos(srtt.nanos().abs_diff(rtt.nanos()));
        self.rttvar = (self.rttvar * 3 + deviation) / 4;
        self.srtt = Some((srtt * 7 + rtt) / 8);
    }

    fn keep(&mut self, rtt: Duration) {
        if self.samples & self.mask != 0 {
            return;
        }
        if self.count == KEPT {
            self.count = KEPT / 2;
            for at in 0..self.count {
                self.kept[at] = self.kept[2 * at];
            }
            self.mask = self.mask << 1 | 1;
        }
        self.kept[self.count] = rtt;
        self.count += 1;
    }

    /// The approximate share of samples that are shorter than `rtt`, between 0 and 1; `None` if
    /// there are few samples.
    pub fn rank(&self, rtt: Duration) -> Option<f64> {
        if self.count < KEPT / 4 {
            return None;
        }
        let shorter = self.kept[..self.count].iter().filter(|kept| **kept < rtt).count();
        Some(shorter as f64 / self.count as f64)
    }

    /// The reordering window: a quarter of the smallest round-trip time, as in RFC 8985.
    pub fn reordering_window(&self) -> Duration {
        self.min.map_or(Duration::from_millis(50), |min| min / 4)
    }

    /// The approximate RTO without backoff.
    pub fn timeout(&self) -> Option<Duration> {
        self.srtt.map(|srtt| srtt + (self.rttvar * 4).max(MIN_VARIANCE))
    }

    /// How long after a segment its answer may come: the soonest time, and the latest usual one.
    /// `None` without a sample.
    pub fn answer_times(&self) -> Option<(Duration, Duration)> {
        let min = self.min?;
        let latest = self.srtt.map_or(min, |srtt| srtt * 3 / 4).max(min) * 2;
        Some((min * TOO_SOON / 100, latest))
    }

    /// The time after which a segment is no longer answered.
    pub fn answer_deadline(&self) -> Duration {
        let fallback = Duration::from_secs(3);
        self.timeout().map_or(fallback, |timeout| timeout * 2 + Duration::from_secs(1))
    }
}
