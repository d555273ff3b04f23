//! The round-trip times of one direction, measured at the capture point by Karn's algorithm.

use rtolab_tcp::AckFacts;
use rtolab_time::Duration;

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
pub(crate) struct RoundTrips {
    pub least: Option<Duration>,
    pub smoothed: Option<Duration>,
    pub latest: Option<Duration>,
    variation: Duration,
    pub samples: u64,
    /// Samples at regular intervals: those whose number has no bit of `mask`.
    kept: [Duration; KEPT],
    count: usize,
    mask: u64,
}

impl RoundTrips {
    /// Adds the sample that an ACK gives, if any.
    pub fn measure(&mut self, facts: &AckFacts) {
        let (true, Some(newest), false) =
            (facts.is_new(), facts.newest_acked, facts.acks_retransmission)
        else {
            return;
        };
        self.take(facts.at.since(newest.first_sent));
    }

    /// Adds a sample (RFC 6298 section 2).
    pub fn take(&mut self, rtt: Duration) {
        self.samples += 1;
        self.latest = Some(rtt);
        self.keep(rtt);
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        let Some(smoothed) = self.smoothed else {
            (self.smoothed, self.variation) = (Some(rtt), rtt / 2);
            return;
        };
        let deviation = Duration::from_nanos(smoothed.nanos().abs_diff(rtt.nanos()));
        self.variation = (self.variation * 3 + deviation) / 4;
        self.smoothed = Some((smoothed * 7 + rtt) / 8);
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
        self.least.map_or(Duration::from_millis(50), |least| least / 4)
    }

    /// The approximate RTO without backoff.
    pub fn timeout(&self) -> Option<Duration> {
        self.smoothed.map(|smoothed| smoothed + (self.variation * 4).max(MIN_VARIANCE))
    }

    /// The time after which a segment is no longer answered.
    pub fn answer_deadline(&self) -> Duration {
        let fallback = Duration::from_secs(3);
        self.timeout().map_or(fallback, |timeout| timeout * 2 + Duration::from_secs(1))
    }
}
