use rtolab_time::Instant;

use super::*;
use crate::config::Config;
use crate::seq::Seq;

const SMSS: u64 = 1000;

fn acked(at: Instant, bytes: u64, (una, max): (Seq, Seq)) -> Acked {
    Acked { at, bytes, srtt: Duration::ZERO, una, max, oldest_sent: None }
}

/// Slow start with a window of `cwnd` segments, all outstanding.
struct SlowStart {
    hystart: HyStart,
    window: Window,
    at: Instant,
    una: u64,
    srtt: Duration,
}

impl SlowStart {
    fn of(exit: SlowStartExit, cwnd: u64) -> Self {
        let mut window = Window::new(&Config::default().window, SMSS as u32, false);
        window.set_cwnd(cwnd * SMSS);
        let hystart = HyStart::new(exit).unwrap();
        Self { hystart, window, at: Instant::START, una: 0, srtt: Duration::ZERO }
    }

    /// SND.MAX: the window is full.
    fn max(&self) -> Seq {
        Seq::FIRST + 1 + (self.una + self.window.cwnd()) as u32
    }

    /// The retransmission timer expires.
    fn time_out(&mut self) {
        self.hystart.on_timeout(self.at, self.max());
    }

    fn is_over(&self) -> bool {
        self.window.cwnd() >= self.window.ssthresh()
    }

    /// Segments are acknowledged one by one, each after a round trip in milliseconds, and `spacing`
    /// apart in microseconds, as long as slow start lasts.
    fn acks(&mut self, count: u64, rtt: u64, spacing: u64) -> &mut Self {
        for _ in 0..count {
            if self.is_over() {
                break;
            }
            self.at += Duration::from_micros(spacing);
            let max = self.max();
            self.una += SMSS;
            self.hystart.on_rtt(Duration::from_millis(rtt));
            let acked = acked(self.at, SMSS, (Seq::FIRST + 1 + self.una as u32, max));
            let acked = Acked { srtt: self.srtt, ..acked };
            self.hystart.on_any_ack(&mut self.window, &acked);
            if !self.is_over() {
                self.hystart.slow_start(&mut self.window, &acked);
            }
        }
        self
    }

    fn cwnd(&mut self, bytes: u64) -> &mut Self {
        assert_eq!(self.window.cwnd(), bytes);
        self
    }
}

#[test]
fn equal_round_trips_double_the_window() {
    let mut slow_start = SlowStart::of(SlowStartExit::HyStartPlusPlus, 10);
    slow_start.acks(10, 100, 0).cwnd(20_000).acks(20, 100, 0).cwnd(40_000);
}

#[test]
fn the_eighth_longer_round_trip_starts_conservative_slow_start() {
    // An eighth of 100 ms are 12.5 ms.
    let mut slow_start = SlowStart::of(SlowStartExit::HyStartPlusPlus, 10);
    slow_start.acks(10, 100, 0).acks(8, 113, 0).cwnd(28_000);
    slow_start.acks(4, 113, 0).cwnd(29_000);
    let mut slow_start = SlowStart::of(SlowStartExit::HyStartPlusPlus, 10);
    slow_start.acks(10, 100, 0).acks(12, 112, 0).cwnd(32_000);
}

#[test]
fn an_acknowledgment_counts_for_eight_segments_at_most() {
    let arrives = |slow_start: &mut SlowStart, segments: u64| {
        let SlowStart { hystart, window, at, .. } = slow_start;
        let ends = (Seq::FIRST + 1, Seq::FIRST + 1_000_000);
        hystart.slow_start(window, &acked(*at, segments * SMSS, ends));
    };
    let mut slow_start = SlowStart::of(SlowStartExit::HyStartPlusPlus, 10);
    arrives(&mut slow_start, 2);
    slow_start.cwnd(12_000);
    arrives(&mut slow_start, 10);
    slow_start.cwnd(20_000);
    // In conservative slow start for a quarter of them.
    let mut slow_start = SlowStart::of(SlowStartExit::HyStartPlusPlus, 10);
    slow_start.acks(10, 100, 0).acks(8, 113, 0).cwnd(28_000);
    arrives(&mut slow_start, 10);
    slow_start.cwnd(30_000);
}

#[test]
fn a_rise_is_four_to_sixteen_milliseconds() {
    for (rtt, risen, slows) in [(8, 11, false), (8, 12, true), (400, 415, false), (400, 416, true)]
    {
        let mut slow_start = SlowStart::of(SlowStartExit::HyStartPlusPlus, 10);
        slow_start.acks(10, rtt, 0).acks(9, risen, 0);
        assert_eq!(slow_start.window.cwnd() == 28_250, slows, "{rtt} ms to {risen} ms");
    }
}

#[test]
fn five_rounds_of_conservative_slow_start_end_slow_start() {
    let mut slow_start = SlowStart::of(SlowStartExit::HyStartPlusPlus, 10);
    slow_start.acks(10, 100, 0).acks(8, 120, 0).cwnd(28_000);
    // The current round counts, and each of the four after it adds about a quarter.
    slow_start.acks(12, 120, 0).cwnd(31_000);
    slow_start.acks(31, 120, 0).cwnd(38_750);
    slow_start.acks(39, 120, 0).cwnd(48_500);
    slow_start.acks(48, 120, 0);
    assert!(!slow_start.is_over());
    slow_start.acks(100, 120, 0);
    assert!(slow_start.is_over());
    assert_eq!(slow_start.window.ssthresh(), slow_start.window.cwnd());
}

#[test]
fn slow_start_resumes_after_a_temporary_rise() {
    let mut slow_start = SlowStart::of(SlowStartExit::HyStartPlusPlus, 10);
    slow_start.acks(10, 100, 0).acks(20, 120, 0).cwnd(31_000);
    // The round ended with the 18 segments that were outstanding when it began: two of the next
    // have been seen. The eighth round trip of it shows that it is short again.
    slow_start.acks(6, 110, 0).cwnd(32_500).acks(2, 110, 0).cwnd(34_500);
}

#[test]
fn only_the_first_slow_start_uses_hystart() {
    let mut slow_start = SlowStart::of(SlowStartExit::HyStartPlusPlus, 10);
    slow_start.acks(10, 100, 0);
    slow_start.hystart.on_loss();
    slow_start.acks(10, 200, 0).cwnd(30_000);
}

#[test]
fn linux_ends_slow_start_at_the_ninth_longer_round_trip() {
    let mut slow_start = SlowStart::of(SlowStartExit::HyStart, 16);
    slow_start.acks(16, 100, 5_000).cwnd(32_000);
    slow_start.acks(8, 113, 5_000);
    assert!(!slow_start.is_over());
    slow_start.acks(1, 113, 5_000).cwnd(40_000);
    assert!(slow_start.is_over());
}

#[test]
fn linux_uses_hystart_only_from_a_window_of_sixteen_segments() {
    let mut slow_start = SlowStart::of(SlowStartExit::HyStart, 2);
    slow_start.acks(1, 100, 5_000).acks(12, 200, 5_000).cwnd(15_000);
}

#[test]
fn linux_ends_slow_start_at_an_ack_train_of_half_a_round_trip() {
    // 51 intervals of 1 ms and round trips of 100 ms.
    let mut slow_start = SlowStart::of(SlowStartExit::HyStart, 100);
    slow_start.acks(51, 100, 1_000);
    assert!(!slow_start.is_over());
    slow_start.acks(1, 100, 1_000);
    assert!(slow_start.is_over());
    let mut slow_start = SlowStart::of(SlowStartExit::HyStart, 100);
    slow_start.acks(100, 100, 2_001);
    assert!(!slow_start.is_over());
}

/// `hystart_ack_delay`: the train may last half a millisecond more, less at a high pacing rate.
#[test]
fn linux_allows_for_the_aggregation_of_segments() {
    for (srtt, intervals) in [(0, 101), (5, 101), (100_000, 102)] {
        let mut slow_start = SlowStart::of(SlowStartExit::HyStart, 200);
        slow_start.srtt = Duration::from_micros(srtt);
        slow_start.acks(intervals, 100, 500);
        assert!(!slow_start.is_over(), "{srtt}");
        slow_start.acks(1, 100, 500);
        assert!(slow_start.is_over(), "{srtt}");
    }
}

#[test]
fn linux_restarts_hystart_after_a_timeout() {
    let mut slow_start = SlowStart::of(SlowStartExit::HyStart, 100);
    slow_start.acks(60, 100, 1_000);
    assert!(slow_start.is_over());
    slow_start.time_out();
    slow_start.window.set_ssthresh(u64::MAX);
    slow_start.acks(40, 100, 1_000);
    assert!(!slow_start.is_over());
    slow_start.acks(20, 100, 1_000);
    assert!(slow_start.is_over());
}

#[test]
fn linux_counts_rounds_from_the_first_one_on() {
    // The first round is that of the initial window, although HyStart ignores windows below 16
    // segments. The second round begins after it, and its ninth round trip is that of segment 19.
    let mut slow_start = SlowStart::of(SlowStartExit::HyStart, 10);
    slow_start.acks(6, 100, 5_000).acks(30, 113, 5_000).cwnd(28_000);
    assert!(slow_start.is_over());
}

#[test]
fn a_timeout_clears_the_round_trips_of_linux() {
    let mut slow_start = SlowStart::of(SlowStartExit::HyStart, 100);
    slow_start.acks(20, 100, 1_000);
    slow_start.time_out();
    slow_start.acks(150, 300, 5_000);
    assert!(!slow_start.is_over());
    slow_start.acks(400, 330, 5_000);
    assert!(slow_start.is_over());
}

/// `cubictcp_init` begins a round that the first data ends: a sample of an ACK that acknowledges
/// nothing belongs to it. The round after it begins with the first data acknowledged.
#[test]
fn an_ack_that_only_sacks_begins_no_round() {
    for only_sacks in [false, true] {
        let mut slow_start = SlowStart::of(SlowStartExit::HyStart, 16);
        if only_sacks {
            let max = slow_start.max();
            slow_start.hystart.on_rtt(Duration::from_millis(100));
            let acked = acked(slow_start.at, 0, (Seq::FIRST + 1, max));
            slow_start.hystart.on_any_ack(&mut slow_start.window, &acked);
            slow_start.window.set_cwnd(18 * SMSS);
        }
        // The first round lasts until the data that was sent before its first ACK is acknowledged.
        let first_round = slow_start.window.cwnd() / SMSS;
        slow_start.acks(first_round, 100, 5_000);
        let Variant::Linux(linux) = slow_start.hystart.variant else { panic!("HyStart of Linux") };
        assert_eq!(linux.samples_of_round(), 8);
        slow_start.acks(1, 100, 5_000);
        let Variant::Linux(linux) = slow_start.hystart.variant else { panic!("HyStart of Linux") };
        assert_eq!(linux.samples_of_round(), 1);
    }
}
