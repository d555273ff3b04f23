//! BBR version 1. Its constants are those of Linux 6.18, `tcp_bbr.c`.

use crate::script::Script;
use crate::script::path::{Fate, Path};
use rtolab_tcp::spurious::Verdict;
use rtolab_tcp::{Event, specification};
use rtolab_time::Duration;

/// Ten segments after a handshake of 100 ms.
fn bbr(spec: &str) -> Script {
    Script::sender(spec).cwnd(10).handshake_takes(100).sent(1..=10)
}

/// A megabyte a second, 100 ms, and twice the BDP of 100 kB as a queue; everything is written.
fn bulk(spec: &str) -> Path {
    let mut path = Path::new(spec, (1_000_000, 100, 200_000));
    path.write(50_000_000);
    path
}

fn retransmitted(path: &Path, kind: fn(&Event) -> bool) -> usize {
    path.events.iter().filter(|event| kind(event)).count()
}

#[test]
fn the_first_rate_is_that_of_the_initial_window() {
    // bw = 10 * 2^24 / 100,000 us = 1677; gain = 739 / 256; 1 % less.
    let s = bbr("rack+bbr");
    assert_eq!(s.connection.sender().pacing_rate(), Some(285_662));
    let model = s.connection.sender().path_model().unwrap();
    assert_eq!((model.mode, model.pacing_gain, model.cwnd_gain), ("startup", 288, 288));
    assert_eq!(model.min_rtt, Some(Duration::from_millis(100)));
}

#[test]
fn slow_start_grows_by_what_is_delivered() {
    let mut s = bbr("rack+bbr");
    s.at(200).ack(4).expect([11]).cwnd(14.0);
    // The segments left when the application had nothing more to send, so that the sample counts
    // only because it is the largest: 4 segments in 100 ms.
    let model = s.connection.sender().path_model().unwrap();
    assert!((39_900..=40_000).contains(&model.bw), "{model:?}");
    assert_eq!((model.round_count, model.full_bw_count), (1, 0));
}

#[test]
fn startup_doubles_until_the_pipe_is_full() {
    let mut path = bulk("rack+bbr");
    let took = path.until_mode("drain", 3_000);
    // 10 segments fill a tenth of the pipe: four doublings, and three round trips without growth,
    // of up to 288 ms because the window is 2.88 times the BDP.
    assert!((700..=100 + 400 + 100 + 3 * 300).contains(&took), "{took} ms");
    assert!(path.model().max_bw.abs_diff(1_000_000) < 20_000, "{:?}", path.model());
    assert_eq!((path.model().full_bw_count, path.model().full_bw_reached), (3, true));
    assert_eq!(path.model().pacing_gain, 100 * 88 / 256);
    path.until_mode("probe_bw", 1_000);
    // The queue has drained to about the BDP.
    assert!(path.in_flight() <= 110_000, "{}", path.in_flight());
}

#[test]
fn probe_bw_fills_the_pipe_and_keeps_the_queue_short() {
    let mut path = bulk("rack+bbr");
    path.until_mode("probe_bw", 5_000);
    let goodput = path.goodput(|path| {
        path.run(5_000);
    });
    assert!(goodput > 950_000.0, "{goodput}");
    let mut gains = Vec::new();
    for _ in 0..80 {
        path.run(10);
        gains.push(path.model().pacing_gain);
        assert!(path.in_flight() <= 210_000, "{}", path.in_flight());
    }
    gains.dedup();
    assert!(gains.contains(&125) && gains.contains(&75) && gains.contains(&100), "{gains:?}");
    assert_eq!(path.model().cwnd_gain, 200);
    assert_eq!(path.dropped, 0);
}

#[test]
fn segments_leave_at_the_pacing_rate() {
    let mut path = bulk("rack+bbr");
    path.until_mode("probe_bw", 5_000);
    path.until(2_000, |path| path.model().pacing_gain == 100);
    path.departures.clear();
    path.run(90);
    let gaps: Vec<_> = path.departures.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    // A segment takes 1 ms, and 1 % less is sent.
    let even = |gap: &&Duration| (gap.secs_f64() - 0.001_01).abs() < 0.000_05;
    assert!(gaps.iter().filter(even).count() * 10 >= gaps.len() * 9, "{gaps:?}");
}

#[test]
fn every_ten_seconds_the_window_is_four_segments() {
    let mut path = bulk("rack+bbr");
    let took = path.until_mode("probe_rtt", 15_000);
    assert!((10_000..=11_500).contains(&took), "{took} ms");
    path.run(150);
    assert_eq!((path.cwnd(), path.model().cwnd_gain), (4_000, 100));
    let took = path.until_mode("probe_bw", 1_000);
    // 200 ms from the time at which four segments are in flight, and a round trip.
    assert!((100..=400).contains(&took), "{took} ms");
    assert!(path.cwnd() >= 150_000, "{}", path.cwnd());
}

#[test]
fn an_idle_sender_skips_probe_rtt_and_restarts_at_its_rate() {
    let mut path = Path::new("rack+bbr", (1_000_000, 100, 200_000));
    path.write(4_000_000).run(5_000);
    assert_eq!(path.mode(), "probe_bw");
    path.run(10_000);
    let cwnd = path.cwnd();
    path.write(100_000);
    assert!(path.model().idle_restart);
    assert_eq!(path.cwnd(), cwnd);
    let rate = path.sender.sender().pacing_rate().unwrap();
    assert!(rate.abs_diff(990_000) < 30_000, "{rate}");
    path.run(150);
    assert_eq!(path.mode(), "probe_bw");
}

#[test]
fn random_losses_do_not_reduce_the_rate() {
    let mut path = bulk("rack+bbr");
    path.fate = Box::new(|number| if number % 50 == 0 { Fate::Lost } else { Fate::Passes });
    path.until_mode("probe_bw", 5_000);
    let goodput = path.goodput(|path| {
        path.run(8_000);
    });
    assert!(goodput > 850_000.0, "{goodput}");
    let mut cubic = bulk_cubic();
    cubic.fate = Box::new(|number| if number % 50 == 0 { Fate::Lost } else { Fate::Passes });
    cubic.run(5_000);
    let goodput = cubic.goodput(|path| {
        path.run(8_000);
    });
    assert!(goodput < 300_000.0, "{goodput}");
}

fn bulk_cubic() -> Path {
    let mut path = Path::new("rack+cubic", (1_000_000, 100, 200_000));
    path.write(50_000_000);
    path
}

#[test]
fn the_first_round_trip_of_a_recovery_conserves_packets() {
    let mut s = bbr("rack+bbr");
    s.at(200).ack(1).expect([11]);
    // Of ten outstanding segments three were delivered and one is lost: cwnd = 6 + 3. The
    // retransmission is paced, too.
    s.at(201).sacks(1, [3..=5]).expect_nothing().cwnd(9.0).fast_retransmits(1);
    s.early_timer().expect([2]);
    s.early_timer().expect([12]);
}

#[test]
fn a_spurious_timeout_restores_the_window() {
    let mut path = Path::new("rack+frto:linux+eifel+bbr", (1_000_000, 100, 200_000));
    path.write(50_000_000).run(4_000);
    assert_eq!(path.mode(), "probe_bw");
    let before = path.cwnd();
    // Everything is held for a second and a half.
    path.busy_for(1_500);
    path.until(1_400, |path| retransmitted(path, |e| matches!(e, Event::Timeout(_))) > 0);
    path.run(1);
    let reduced = path.cwnd();
    assert!(reduced <= 10_000, "{reduced}");
    let spurious = |e: &Event| matches!(e, Event::Verdict { verdict: Verdict::Spurious, .. });
    path.until(3_000, |path| path.events.iter().any(spurious));
    assert!(path.cwnd() * 2 > before, "{} of {before}", path.cwnd());
}

#[test]
fn a_genuine_timeout_restores_the_window_when_it_is_repaired() {
    let mut path = bulk("rack+bbr");
    path.run(4_000);
    let before = path.cwnd();
    path.fate = Box::new(|_| Fate::Lost);
    path.until(5_000, |path| retransmitted(path, |e| matches!(e, Event::Timeout(_))) > 0);
    assert!(path.cwnd() < 20_000, "{}", path.cwnd());
    path.fate = Box::new(|_| Fate::Passes);
    path.run(6_000);
    assert!(path.cwnd() * 3 > before * 2, "{} of {before}", path.cwnd());
}

#[test]
fn a_policer_is_found_and_obeyed() {
    let mut path = bulk("rack+bbr");
    (path.rate, path.queue) = (10_000_000, 10_000_000);
    path.policer = Some((500_000, 100_000, 100_000, path.now));
    path.until(20_000, |path| path.model().bw_shortterm.is_some());
    let policed = path.model().bw_shortterm.unwrap();
    assert!((420_000..=520_000).contains(&policed), "{policed}");
    path.run(1_500);
    let (sent, dropped) = (path.sent, path.dropped);
    path.run(1_500);
    let share = (path.dropped - dropped) as f64 / (path.sent - sent) as f64;
    assert!(share < 0.05, "{share}");
    // It probes again after 48 round trips in ProbeBW (bbr_lt_bw_max_rtts).
    assert!(path.model().bw_shortterm.is_some());
    path.policer = None;
    let obeyed = path.until(10_000, |path| path.model().bw_shortterm.is_none());
    assert!(obeyed > 1_000, "{obeyed} ms");
}

#[test]
fn aggregated_acks_widen_the_window() {
    let mut path = bulk("rack+bbr");
    path.ack_slot = Duration::from_millis(40);
    path.run(6_000);
    assert!(path.model().extra_acked >= 20_000, "{:?}", path.model());
    let goodput = path.goodput(|path| {
        path.run(3_000);
    });
    assert!(goodput > 900_000.0, "{goodput}");
}

/// ACKs wait for the next multiple of `millis`: that many segments are acknowledged at once.
fn aggregated(millis: u64) -> Path {
    let mut path = bulk("rack+bbr");
    path.ack_slot = Duration::from_millis(millis);
    path
}

#[test]
fn startup_does_not_widen_the_window_for_aggregation() {
    let mut path = aggregated(40);
    while path.mode() == "startup" {
        assert_eq!(path.model().extra_acked, 0);
        path.step();
    }
    path.run(1_000);
    assert_ne!(path.model().extra_acked, 0);
}

#[test]
fn extra_acked_is_what_arrives_beyond_the_bandwidth() {
    // 40 segments are acknowledged at once, of which none is expected at the begin of an epoch.
    // The estimate of the bandwidth is above the path's, or a bit below it.
    let mut path = aggregated(40);
    path.run(6_000);
    let extra = path.model().extra_acked;
    assert!((36_000..=60_000).contains(&extra), "{extra}");
    // Without aggregation, it is a few segments.
    let mut path = bulk("rack+bbr");
    path.run(6_000);
    assert!(path.model().extra_acked <= 5_000, "{:?}", path.model());
}

#[test]
fn extra_acked_is_at_most_100_ms_of_the_bandwidth() {
    let mut path = aggregated(400);
    path.run(9_000);
    let (extra, bw) = (path.model().extra_acked, path.model().bw);
    assert!(extra.abs_diff(bw / 10) <= 1_000, "{extra} at {bw} B/s");
}

#[test]
fn application_limited_round_trips_end_when_the_mark_is_passed() {
    // The application has no more data when 4 segments are in flight, and writes again.
    let mut s = Script::sender("rack+bbr").cwnd(10).handshake_takes(100).segments(4).sent(1..=4);
    s.at(150).write(100).expect(5..=10);
    // Exactly the data up to the mark is delivered: what leaves now still counts as limited.
    s.at(200).ack(4).expect([11]);
    for (millis, acked) in [(250, 10), (320, 11)] {
        while s.next_timer().is_some_and(|at| at < millis) {
            s.early_timer().take();
        }
        s.at(millis).ack(acked).take();
    }
    let model = s.connection.sender().path_model().unwrap();
    assert_eq!((model.round_count, model.full_bw_count), (2, 0));
}

#[test]
fn every_recovery_carries_bbr() {
    for recovery in ["reno", "newreno", "sack", "sack:ns2", "rack", "linux"] {
        let mut path = Path::new(&format!("{recovery}+bbr"), (1_000_000, 100, 200_000));
        path.fate = Box::new(|number| if number % 200 == 0 { Fate::Lost } else { Fate::Passes });
        path.write(3_000_000);
        path.until(60_000, |path| path.delivered() >= 3_000_000);
    }
}

/// The smallest round trip after 15 s of requests of `bytes` each 200 ms. The receiver delays the
/// ACK of a lone segment by 40 ms on a path of 100 ms, but acknowledges its first 20 at once.
fn min_rtt_of_requests(bytes: u64) -> Duration {
    let mut config = Path::config();
    (config.receiver.ack_every, config.receiver.quick_acks) = (2, 20);
    config.receiver.delayed_ack = Duration::from_millis(40);
    let config = specification::sender("rack+bbr", &config).unwrap();
    let mut path = Path::with(&config, (1_000_000_000, 100, 200_000));
    for _ in 0..75 {
        path.write(bytes).run(200);
    }
    path.model().min_rtt.unwrap()
}

/// `FLAG_ACK_MAYBE_DELAYED`: the ACK of a lone segment that is not full may be a delayed one, which
/// does not replace the smallest round trip when that expires after ten seconds.
#[test]
fn a_delayed_ack_does_not_replace_the_smallest_round_trip() {
    let millis = |bytes| min_rtt_of_requests(bytes).nanos() / 1_000_000;
    assert_eq!(millis(500), 100);
    // A full segment: no receiver needs to delay its ACK. Two segments: the receiver does not.
    assert_eq!(millis(1_000), 140);
    assert_eq!(millis(1_500), 100);
}

/// `bbr_update_min_rtt`: only a smaller round trip postpones `BBR_PROBE_RTT`, not an equal one.
#[test]
fn equal_round_trips_do_not_postpone_probe_rtt() {
    // Segments take no time to send, so that all round trips are equal.
    let mut path = Path::new("rack+bbr", (10_000_000_000_000, 100, 200_000));
    for _ in 0..520 {
        path.write(10_000).run(20);
        if path.mode() == "probe_rtt" {
            break;
        }
    }
    assert_eq!(path.mode(), "probe_rtt");
    assert!(path.millis() >= 10_000, "{} ms", path.millis());
}

/// `bbr_set_cwnd`: the window is twice the BDP, three quanta and what aggregation adds, rounded up
/// to an even number of segments, and two more while the flow probes for bandwidth.
#[test]
fn the_window_is_twice_the_bdp_and_three_quanta() {
    let mut path = bulk("rack+bbr");
    path.until_mode("probe_bw", 5_000);
    path.run(2_000);
    for _ in 0..2_000 {
        path.step();
        let model = path.model();
        let min_rtt = model.min_rtt.unwrap().nanos() / 1_000;
        let bdp = (2 * model.bw * min_rtt).div_ceil(1_000_000).div_ceil(1_000);
        let extra = model.extra_acked / 1_000;
        let target = (bdp + 3 + extra).next_multiple_of(2);
        let probes = if model.pacing_gain == 125 { 2 } else { 0 };
        // The model reports the bandwidth rounded down.
        let cwnd = path.cwnd() / 1_000;
        assert!((target..=target + probes + 2).contains(&cwnd), "{cwnd}: {target} {model:?}");
    }
}

/// `bbr_is_next_cycle_phase`: a probe for bandwidth lasts until 1.25 times the BDP is in flight, or
/// data is lost. The receiver's window here holds no more than the BDP.
#[test]
fn a_probe_lasts_until_the_pipe_is_filled() {
    let mut config = Path::config();
    config.receiver.buffer = 100_000;
    let config = specification::sender("rack+bbr", &config).unwrap();
    let mut path = Path::with(&config, (1_000_000, 100, 200_000));
    path.write(50_000_000);
    path.until_mode("probe_bw", 5_000);
    path.until(2_000, |path| path.model().pacing_gain == 125);
    path.run(1_000);
    assert_eq!((path.mode(), path.model().pacing_gain), ("probe_bw", 125));
    let next = path.sent + 5;
    path.fate = Box::new(move |sent| if sent == next { Fate::Lost } else { Fate::Passes });
    path.until(500, |path| path.model().pacing_gain == 75);
}
