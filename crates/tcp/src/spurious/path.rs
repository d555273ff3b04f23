//! Measurements of the path from acknowledgments: round trips, and the bandwidth and delay for the
//! model of DualRTT (Fu and Atiquzzaman 2004, section V-B).

use rtolab_time::{Duration, Instant, Rate};

use super::KnownPath;
use crate::flight::{AckFacts, NewestAcked};

/// The number of round trips for an estimate of the path.
const ENOUGH: u32 = 8;

/// Measurements of the path from acknowledgments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Path {
    /// The smallest round-trip time of the connection.
    pub min_rtt: Option<Duration>,
    pub srtt: Option<Duration>,
    /// The smallest interval between two acknowledgments of one segment each.
    pub spacing: Option<Duration>,
    /// When new data was last acknowledged.
    last_ack: Option<Instant>,
    /// The samples since the path last changed.
    current: PathSamples,
    /// The samples since the last timeout.
    since_timeout: PathSamples,
}

/// The samples of a period.
#[derive(Clone, Copy, Debug, Default)]
struct PathSamples {
    round_trips: u32,
    min_rtt: Option<Duration>,
    /// The highest rate at which data was acknowledged from one acknowledgment to the next.
    rate: Option<Rate>,
}

impl Path {
    /// Takes a round-trip sample by Karn's rule, and the interval since the last acknowledgment.
    pub fn measure(&mut self, facts: &AckFacts) {
        if !facts.is_new() {
            return;
        }
        let newest = facts.newest_acked.filter(|_| !facts.acks_retransmission);
        let newest = newest.map(|sent| NewestAcked { first_sent: sent.first_sent, len: sent.len });
        self.take(facts.at, facts.advanced, newest.as_ref());
    }

    /// As [`Self::measure`], for an acknowledgment that advances SND.UNA by `advanced`. `newest` is
    /// the last segment that it wholly acknowledges, if there is one and none was retransmitted.
    #[inline]
    pub fn take(&mut self, at: Instant, advanced: u64, newest: Option<&NewestAcked>) {
        let before = self.last_ack.replace(at);
        let Some(newest) = newest else { return };
        let rtt = at.since(newest.first_sent);
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        // RFC 6298 section 2.3.
        self.srtt = Some(self.srtt.map_or(rtt, |srtt| (srtt * 7 + rtt) / 8));
        let apart = before.map_or(Duration::ZERO, |before| at.since(before));
        if u64::from(newest.len) == advanced && !apart.is_zero() {
            self.spacing = Some(self.spacing.map_or(apart, |least| least.min(apart)));
        }
        self.estimate_by(rtt, rate(advanced, apart));
    }

    /// The estimated path: the delay is half the smallest round trip, the bandwidth the highest
    /// rate of acknowledged data. Empty while there are too few samples or the path may have
    /// changed.
    pub fn estimate(&self) -> KnownPath {
        let PathSamples { round_trips, min_rtt, rate } = self.current;
        match round_trips >= ENOUGH && !self.has_changed() {
            true => KnownPath { rate, delay: min_rtt.map(|min_rtt| min_rtt / 2) },
            false => KnownPath::default(),
        }
    }

    /// A timeout may be due to a handover: later samples are compared with those before it.
    pub fn timed_out(&mut self) {
        if self.has_changed() {
            self.current = self.since_timeout;
        }
        self.since_timeout = PathSamples::default();
    }

    fn estimate_by(&mut self, rtt: Duration, rate: Option<Rate>) {
        if self.current.min_rtt.is_some_and(|least| rtt.saturating_mul(2) < least) {
            (self.current, self.since_timeout) = (PathSamples::default(), PathSamples::default());
        }
        self.current.take(rtt, rate);
        self.since_timeout.take(rtt, rate);
        if self.since_timeout.round_trips >= ENOUGH && self.has_changed() {
            self.current = self.since_timeout;
        }
    }

    /// Has the path changed, by a handover? Then every round trip since the last timeout is longer
    /// than twice the smallest before it.
    fn has_changed(&self) -> bool {
        match (self.current.min_rtt, self.since_timeout.min_rtt) {
            (Some(before), Some(since)) => since > before.saturating_mul(2),
            _ => false,
        }
    }
}

impl PathSamples {
    fn take(&mut self, rtt: Duration, rate: Option<Rate>) {
        self.round_trips = self.round_trips.saturating_add(1);
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        self.rate = self.rate.max(rate);
    }
}

/// The rate of `bytes`, without headers, in `time`; `None` if `time` is zero or the rate is below 1
/// bit/s.
fn rate(bytes: u64, time: Duration) -> Option<Rate> {
    let bits = bytes.saturating_mul(8_000_000_000).checked_div(time.nanos())?;
    Rate::from_bits_per_second(bits)
}
