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
    rise: Rise,
}

/// The largest difference between a sample and the one before.
#[derive(Clone, Copy, Debug, Default)]
struct Rise {
    size: Duration,
    /// When the sample arrived.
    at: Instant,
    /// The smallest sample since.
    least: Duration,
    /// Samples of segments sent since. A path that only held packets gives long samples of those
    /// sent before.
    samples: u64,
}

impl Rise {
    /// The minimum size, as a share of the growth of all round trips. The packets of a burst enter
    /// a queue together, and so smaller rises are frequent.
    const MIN_SHARE: f64 = 0.4;
    /// The minimum number of samples that show that round trips stayed long.
    const MIN_SAMPLES: u64 = 8;

    #[inline]
    fn measure(&mut self, sent: Instant, (rtt, before): (Duration, Duration)) {
        if rtt > before + self.size {
            let size = Duration::from_nanos(rtt.nanos() - before.nanos());
            *self = Self { size, at: sent + rtt, least: rtt, samples: 0 };
        }
        self.least = self.least.min(rtt);
        self.samples += u64::from(sent >= self.at);
    }
}

/// The distribution of the round-trip times of a connection, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RoundTrips {
    pub least: f64,
    pub median: f64,
    pub ninetieth: f64,
    /// SRTT at the end, if they rose from one sample to the next and stayed long. A queue grows by
    /// degrees.
    pub after_step: Option<f64>,
}

impl RoundTrips {
    /// The smallest growth, relative to the smallest round-trip time.
    const TIMES: f64 = 3.0;
    /// The smallest growth of the median, in seconds, and that of the ninetieth percentile.
    const MIN_GROWTH: [f64; 2] = [0.05, 0.1];

    /// Was the round-trip time several times the smallest?
    pub fn have_grown(&self) -> bool {
        let [median, ninetieth] = Self::MIN_GROWTH;
        self.grew_to(self.median, median) || self.grew_to(self.ninetieth, ninetieth)
    }

    /// Was it so most of the time?
    pub fn are_mostly_grown(&self) -> bool {
        self.grew_to(self.median, Self::MIN_GROWTH[0])
    }

    fn grew_to(&self, value: f64, by: f64) -> bool {
        value >= Self::TIMES * self.least && value - self.least >= by
    }
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
        let rtt = at.since(sent);
        // On a slow link full segments take much longer than the SYN, whose sample is the first.
        if self.samples > 1 {
            self.rise.measure(sent, (rtt, self.latest.unwrap_or(rtt)));
        }
        self.take(rtt);
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

    /// The rank of a round-trip time among the samples, between 0 and 1; `None` if there are few.
    /// It is below the share of shorter samples, so that few do not give a high rank by chance.
    pub fn rank(&self, rtt: Duration) -> Option<f64> {
        self.share_below(rtt).map(|share| share * self.count as f64 / (self.count + 1) as f64)
    }

    /// The approximate share of samples that are shorter than `rtt`, between 0 and 1; `None` if
    /// there are few samples.
    pub fn share_below(&self, rtt: Duration) -> Option<f64> {
        if self.count < KEPT / 4 {
            return None;
        }
        let shorter = self.kept[..self.count].iter().filter(|kept| **kept < rtt).count();
        Some(shorter as f64 / self.count as f64)
    }

    /// The distribution of the samples; `None` if there are few.
    pub fn round_trips(&self) -> Option<RoundTrips> {
        let (least, true) = (self.min?.secs_f64(), self.count >= KEPT / 4) else { return None };
        let mut kept = self.kept;
        let kept = &mut kept[..self.count];
        kept.sort_unstable();
        let [median, ninetieth] = [5, 9].map(|tenths| kept[kept.len() * tenths / 10].secs_f64());
        let rise = self.rise;
        let size = rise.size.secs_f64();
        let is_step = rise.least.secs_f64() - least >= size / 2.0;
        let is_most = size >= Rise::MIN_SHARE * (ninetieth - least);
        let stays = rise.samples >= Rise::MIN_SAMPLES && is_step && is_most;
        let after_step = self.srtt.map(Duration::secs_f64).filter(|_| stays);
        Some(RoundTrips { least, median, ninetieth, after_step })
    }

    /// The reordering window: a quarter of the smallest round-trip time, as in RFC 8985.
    pub fn reordering_window(&self) -> Duration {
        self.min.map_or(Duration::from_millis(50), |min| min / 4)
    }

    /// The approximate RTO without backoff.
    pub fn timeout(&self) -> Option<Duration> {
        self.srtt.map(|srtt| srtt + (self.rttvar * 4).max(MIN_VARIANCE))
    }

    /// The RTO of a sender without Linux's minimum of the variance term, with a minimum of 200 ms.
    pub fn shortest_timeout(&self) -> Option<Duration> {
        self.srtt.map(|srtt| (srtt + self.rttvar * 4).max(MIN_VARIANCE))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Of segments that are sent every 10 ms.
    fn round_trips(milliseconds: impl Iterator<Item = u64>) -> RoundTrips {
        let mut rtt = RttStatistics::default();
        for (sent, rtt_ms) in milliseconds.enumerate() {
            let sent = Instant::START + Duration::from_millis(10) * sent as u64;
            rtt.measure_newest(sent, sent + Duration::from_millis(rtt_ms));
        }
        rtt.round_trips().expect("many samples")
    }

    #[test]
    fn a_queue_grows_and_another_route_is_longer_at_once() {
        let queue = round_trips((0..1000).map(|at| 40 + at.min(300)));
        assert!(queue.have_grown() && queue.after_step.is_none(), "{queue:?}");
        for from in [300, 800] {
            let route = round_trips((0..1000).map(|at| if at < from { 40 + at % 7 } else { 600 }));
            assert!(route.have_grown(), "{route:?}");
            let after = route.after_step.expect("a step");
            assert!((route.least - 0.04).abs() < 0.001 && (after - 0.6).abs() < 0.001, "{route:?}");
        }
    }

    #[test]
    fn full_segments_after_the_syn_are_no_step() {
        let slow = round_trips((0..100).map(|at| if at == 0 { 8 } else { 108 + at % 2 * 62 }));
        assert!(slow.have_grown() && slow.after_step.is_none(), "{slow:?}");
    }

    #[test]
    fn a_stall_is_no_step() {
        // The stall ends after 1 s, and what was sent meanwhile arrives together.
        for end in [1000, 600] {
            let stall = round_trips((0..end).map(|at| match at {
                500..600 => 1040 - (at - 500) * 10,
                _ => 40,
            }));
            assert!(stall.after_step.is_none(), "{stall:?}");
        }
        // Most samples are long, but some after the jump are not.
        let mixed = round_trips((0..1000).map(|at| if at % 10 == 0 { 40 } else { 600 }));
        assert!(mixed.have_grown() && mixed.after_step.is_none(), "{mixed:?}");
    }

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn of(samples: &[u64]) -> RttStatistics {
        let mut rtt = RttStatistics::default();
        for &sample in samples {
            rtt.take(millis(sample));
        }
        rtt
    }

    /// RFC 6298: SRTT is 100 ms and RTTVAR 50 ms; then RTTVAR is 3/4 x 50 + 1/4 x 80 ms, and SRTT
    /// 7/8 x 100 + 1/8 x 180 ms.
    #[test]
    fn the_timeout_follows_rfc_6298_with_a_variance_term_of_200_ms_at_least() {
        assert_eq!(of(&[]).timeout(), None);
        assert_eq!(of(&[100]).timeout(), Some(millis(300)));
        let second = of(&[100, 180]);
        assert_eq!((second.srtt, second.timeout()), (Some(millis(110)), Some(millis(340))));
        assert_eq!(of(&[100; 50]).timeout(), Some(millis(300)));
        assert_eq!(of(&[]).answer_deadline(), millis(3000));
        assert_eq!(second.answer_deadline(), millis(1680), "two timeouts and a second");
    }

    /// Earlier than 60 % of the smallest round trip, no answer can come.
    #[test]
    fn answers_take_a_part_of_the_smallest_round_trip_at_least() {
        let (rtt, sent) = (of(&[100, 80, 120]), Instant::START + millis(1000));
        assert!(rtt.is_too_soon(sent, sent + millis(47)));
        assert!(!rtt.is_too_soon(sent, sent + millis(48)));
        assert!(!of(&[]).is_too_soon(sent, sent));
        assert_eq!(rtt.reordering_window(), millis(20));
        assert_eq!(of(&[]).reordering_window(), millis(50));
        // Usually twice the smallest one at most, or one and a half of SRTT.
        assert_eq!(of(&[100]).answer_times(), Some((millis(60), millis(200))));
        let grown = of(&[100, 900, 900, 900, 900, 900, 900, 900, 900, 900]);
        let latest = grown.srtt.expect("samples") * 3 / 4 * 2;
        assert_eq!(grown.answer_times(), Some((millis(60), latest)));
        assert_eq!(of(&[]).answer_times(), None);
    }

    #[test]
    fn the_rank_of_a_round_trip_needs_eight_samples() {
        assert_eq!(of(&[1, 2, 3, 4, 5, 6, 7]).share_below(millis(5)), None);
        let eight = of(&[1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(eight.share_below(millis(5)), Some(0.5));
        assert_eq!(eight.share_below(millis(9)), Some(1.0));
        // Below the share: 8 of 9 instead of 8 of 8.
        assert_eq!(eight.rank(millis(9)), Some(8.0 / 9.0));
    }

    /// The kept samples represent all, however many there are.
    #[test]
    fn kept_samples_are_those_at_regular_intervals() {
        for count in [32, 33, 64, 1000] {
            let all: Vec<u64> = (1..=count).collect();
            let rtt = of(&all);
            let half = rtt.share_below(millis(count / 2)).expect("samples");
            assert!((half - 0.5).abs() < 0.08, "{half} of {count}");
            let found = rtt.round_trips().expect("samples");
            assert!((found.median * 1000.0 / count as f64 - 0.5).abs() < 0.08, "{found:?}");
            assert!((found.ninetieth * 1000.0 / count as f64 - 0.9).abs() < 0.08, "{found:?}");
        }
        assert_eq!(of(&[1; 7]).round_trips(), None);
    }

    #[test]
    fn round_trips_grow_to_three_times_the_smallest_and_by_a_time_that_matters() {
        let of = |least, median, ninetieth| {
            let found = RoundTrips { least, median, ninetieth, after_step: None };
            (found.have_grown(), found.are_mostly_grown())
        };
        assert_eq!(of(0.125, 0.375, 0.375), (true, true));
        assert_eq!(of(0.125, 0.37, 0.374), (false, false));
        assert_eq!(of(0.125, 0.125, 0.375), (true, false));
        // By 50 ms most of the time, or by 100 ms for a tenth of it.
        assert_eq!(of(0.0, 0.05, 0.05), (true, true));
        assert_eq!(of(0.0, 0.049, 0.099), (false, false));
        assert_eq!(of(0.0, 0.049, 0.1), (true, false));
    }

    #[test]
    fn a_segment_sent_after_a_time_is_measured_after_it() {
        let mut rtt = RttStatistics::default();
        let sent = Instant::START + millis(1000);
        assert!(!rtt.is_measured_after(Instant::START));
        rtt.measure_newest(sent, sent + millis(100));
        rtt.measure_newest(sent + millis(10), sent + millis(120));
        rtt.measure_newest(sent + millis(5), sent + millis(120));
        assert!(rtt.is_measured_after(sent + millis(9)));
        assert!(!rtt.is_measured_after(sent + millis(10)));
    }
}
