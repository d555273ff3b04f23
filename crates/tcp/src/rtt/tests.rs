use alloc::vec::Vec;

use super::*;
use crate::config::{Config, RtoConfig};

fn estimator(change: impl FnOnce(&mut RtoConfig)) -> RttEstimator {
    let mut config = Config::default();
    config.rto.floor = RtoFloor::Total(Duration::ZERO);
    change(&mut config.rto);
    RttEstimator::new(Arc::new(config))
}

fn feed(rtt: &mut RttEstimator, millis: u64) {
    rtt.sample(Duration::from_millis(millis), Seq::FIRST, Seq::FIRST);
}

fn millis(duration: Duration) -> f64 {
    duration.secs_f64() * 1e3
}

#[test]
fn t_rto_1_constant_samples() {
    let mut rtt = estimator(|_| {});
    for expected in [(100.0, 50.0, 300.0), (100.0, 37.5, 250.0), (100.0, 28.125, 212.5)] {
        feed(&mut rtt, 100);
        let estimate = rtt.estimate().unwrap();
        assert_eq!((millis(estimate.srtt), millis(estimate.rttvar), millis(rtt.rto())), expected);
    }
}

#[test]
fn t_rto_2_a_burst_of_delay_after_a_long_time_without_any() {
    // arq2002 figure 8: SRTT 1 s and RTTVAR 0.5 s, then samples of 0.1 s, then one of 1 s.
    for (k, after_burst) in [(1, 0.438), (2, 0.664), (4, 1.1145), (8, 2.016)] {
        let mut rtt = estimator(|config| config.k = k);
        feed(&mut rtt, 1000);
        let mut before = 0.0;
        for sample in 1..60 {
            if k == 4 {
                let expected = [(1, 3.0), (10, 2.145), (20, 0.719), (30, 0.267), (40, 0.144)];
                if let Some((_, rto)) = expected.iter().find(|(n, _)| *n == sample) {
                    assert!((rtt.rto().secs_f64() - rto).abs() < 0.001, "before sample {sample}");
                }
            }
            before = rtt.rto().secs_f64();
            feed(&mut rtt, 100);
        }
        if k == 4 {
            assert!((before - 0.1035).abs() < 0.0005, "before sample 59: {before}");
        }
        feed(&mut rtt, 1000);
        assert!((rtt.rto().secs_f64() - after_burst).abs() < 0.001, "K = {k}: {}", rtt.rto());
    }
}

#[test]
fn t_rto_3_back_off_doubles_up_to_the_ceiling() {
    let mut rtt = estimator(|_| {});
    let mut at = 0;
    let mut expiries = [0; 8];
    for expiry in &mut expiries {
        at += rtt.rto().nanos() / 1_000_000_000;
        *expiry = at;
        rtt.back_off();
    }
    assert_eq!(expiries, [1, 3, 7, 15, 31, 63, 123, 183]);
}

#[test]
fn t_rto_7_the_floor_is_multiplied() {
    let mut rtt = estimator(|config| config.floor = RtoFloor::Total(Duration::from_secs(1)));
    feed(&mut rtt, 50);
    for expected in [1, 2, 4] {
        assert_eq!(rtt.rto(), Duration::from_secs(expected));
        rtt.back_off();
    }
}

#[test]
fn t_rto_9_a_coarse_clock_never_measures_zero() {
    let mut rtt = estimator(|config| config.granularity = Duration::from_millis(500));
    let sample = rtt.measure(Instant::from_nanos(100), Instant::from_nanos(6_000_100));
    assert_eq!(sample, Duration::from_millis(500));
    for _ in 0..100 {
        rtt.sample(sample, Seq::FIRST, Seq::FIRST);
        assert!(rtt.rto() >= Duration::from_secs(1));
    }
}

/// ns-2's arithmetic on a clock in milliseconds.
fn in_ticks(tick: u64) -> RttEstimator {
    estimator(|config| {
        config.arithmetic = Arithmetic::Ns2;
        config.granularity = Duration::from_millis(tick);
    })
}

/// The timeouts after samples, both in ticks of 100 ms.
fn timeouts_in_ticks(samples: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut rtt = in_ticks(100);
    let rto = |sample: u64| {
        feed(&mut rtt, 100 * sample);
        rtt.rto().nanos() / 100_000_000
    };
    samples.into_iter().map(rto).collect()
}

#[test]
fn t_rto_11_the_fixed_point_of_ns_2() {
    let constant = timeouts_in_ticks([29; 40]);
    assert_eq!(constant[..14], [87, 73, 62, 54, 48, 44, 41, 38, 36, 35, 34, 33, 32, 32]);
    // The scaled variation sticks at three quarters of a tick.
    assert!(constant[12..].iter().all(|rto| *rto == 32), "{constant:?}");

    let first = timeouts_in_ticks([28, 29, 29, 29, 29, 29, 29, 29, 29, 29]);
    assert_eq!(first, [84, 71, 62, 55, 50, 46, 43, 41, 40, 38]);
}

#[test]
fn t_rto_12_round_trips_below_a_tick_take_three() {
    for (tick, rto) in [(500, 1500), (10, 30)] {
        let mut rtt = in_ticks(tick);
        for _ in 0..100 {
            let sample = rtt.measure(Instant::START, Instant::from_nanos(6_000_000));
            rtt.sample(sample, Seq::FIRST, Seq::FIRST);
            assert_eq!(rtt.rto(), Duration::from_millis(rto));
        }
    }
}

#[test]
fn a_long_back_off_clears_the_estimate_of_ns_2() {
    for (expiries, rto) in [(3, 73), (4, 87)] {
        let mut rtt = in_ticks(100);
        feed(&mut rtt, 2900);
        (0..expiries).for_each(|_| rtt.back_off());
        feed(&mut rtt, 2900);
        assert_eq!(rtt.rto(), Duration::from_millis(100 * rto), "{expiries}");
    }
}

#[test]
fn a_floor_on_the_backed_off_timeout_is_not_multiplied() {
    let floor = RtoFloor::BackedOff(Duration::from_secs(1));
    let mut rtt = estimator(|config| config.floor = floor);
    // 50 ms and twice as much for the variation: 150 ms, doubled.
    feed(&mut rtt, 50);
    for expected in [1000, 1000, 1000, 1200, 2400] {
        assert_eq!(rtt.rto(), Duration::from_millis(expected));
        rtt.back_off();
    }
}

#[test]
fn slop_is_added_after_the_back_off() {
    let slop = |config: &mut RtoConfig| config.slop = Duration::from_millis(200);
    let floors = [RtoFloor::Total(Duration::from_millis(30)), RtoFloor::Total(Duration::ZERO)];
    for floor in floors {
        let mut rtt = estimator(|config| {
            slop(config);
            config.floor = floor;
            config.max = Duration::from_secs(64);
        });
        // The first timeout is that of the first SYN, without slop.
        assert_eq!(rtt.rto(), Duration::from_secs(1));
        // 50 ms and twice as much for the variation: 150 ms.
        feed(&mut rtt, 50);
        for expected in [350, 500, 800, 1400] {
            assert_eq!(rtt.rto(), Duration::from_millis(expected));
            rtt.back_off();
        }
        (0..20).for_each(|_| rtt.back_off());
        assert_eq!(rtt.rto(), Duration::from_secs(64));
    }
    // A short timeout is the floor plus the slop.
    let mut rtt = estimator(|config| {
        slop(config);
        config.floor = RtoFloor::Total(Duration::from_millis(30));
    });
    feed(&mut rtt, 1);
    assert_eq!(rtt.rto(), Duration::from_millis(230));
    assert_eq!(rtt.rto_above(Duration::from_millis(100)), Duration::from_millis(300));
}

#[test]
fn another_arithmetic_continues_from_the_estimate() {
    let mut rtt = estimator(|_| {});
    feed(&mut rtt, 2900);
    let config = RtoConfig {
        arithmetic: Arithmetic::Ns2,
        granularity: Duration::from_millis(100),
        ..Config::default().rto
    };
    rtt.reconfigure(Arc::new(Config { rto: config, ..Config::default() }));
    assert_eq!(rtt.rto(), Duration::from_millis(8700));
    feed(&mut rtt, 2900);
    assert_eq!(rtt.rto(), Duration::from_millis(7300));
}

#[test]
fn t_rto_10_the_floor_of_linux_is_on_the_variance() {
    let mut plain = estimator(|c| c.floor = RtoFloor::Total(Duration::from_millis(200)));
    let mut linux = estimator(|c| c.floor = RtoFloor::Variance(Duration::from_millis(200)));
    for round in 0..200_u32 {
        feed(&mut plain, 42);
        let (una, max) = (Seq::FIRST + 10 * round, Seq::FIRST + 10 * (round + 1));
        linux.sample(Duration::from_millis(42), una, max);
    }
    assert_eq!(plain.rto(), Duration::from_millis(200));
    assert_eq!(linux.rto(), Duration::from_millis(242));
}

/// `tcp_rtt_estimator`: once a window, `rttvar` falls by a quarter of its distance to the largest
/// `mdev` of the window, which loses a quarter of itself with each of these samples.
#[test]
fn the_variance_of_linux_falls_once_a_window() {
    let mut linux = estimator(|c| c.floor = RtoFloor::Variance(Duration::from_millis(200)));
    for (window, micros) in [(0, 500_000), (1, 500_000), (2, 445_312), (3, 386_718)] {
        let (una, max) = (Seq::FIRST + 10 * window + 1, Seq::FIRST + 10 * (window + 1));
        linux.sample(Duration::from_secs(1), una, max);
        assert_eq!(linux.estimate().unwrap().rttvar.nanos() / 1000, micros);
    }
}

#[test]
fn without_k_the_timeout_is_srtt_alone() {
    let mut rtt = estimator(|config| config.k = 0);
    for _ in 0..3 {
        feed(&mut rtt, 100);
    }
    assert_eq!(rtt.rto(), Duration::from_millis(100));
}

#[test]
fn the_fixed_point_of_freebsd_and_netbsd() {
    // By `tcp_xmit_timer` and `TCP_REXMTVAL`: elapsed ticks, of which the first sample has one
    // more.
    let mut rtt = estimator(|config| {
        config.arithmetic = Arithmetic::Bsd;
        config.granularity = Duration::from_millis(100);
    });
    let expected = [90, 75, 65, 56, 50, 45, 42, 39, 37, 35, 34, 33, 32, 32, 31, 31, 31, 31, 31, 31];
    for ticks in expected {
        feed(&mut rtt, 2900);
        assert_eq!(rtt.rto(), Duration::from_millis(100 * ticks));
    }
}

#[test]
fn bsd_measures_zero_ticks_if_no_tick_has_passed() {
    let mut rtt = estimator(|config| {
        config.arithmetic = Arithmetic::Bsd;
        config.granularity = Duration::from_millis(10);
    });
    let sample = rtt.measure(Instant::START, Instant::from_nanos(6_000_000));
    assert_eq!(sample, Duration::ZERO);
    for _ in 0..100 {
        rtt.sample(sample, Seq::FIRST, Seq::FIRST);
        assert!(rtt.rto() >= Duration::from_millis(20));
    }
    // Zero ticks, and two more.
    assert_eq!(rtt.rto(), Duration::from_millis(20));
}

#[test]
fn many_back_offs_clear_the_estimate_if_configured() {
    for (after, rto) in [(None, 250), (Some(2), 250), (Some(1), 300)] {
        let mut rtt = estimator(|config| config.forget_after = after);
        feed(&mut rtt, 100);
        rtt.back_off();
        rtt.back_off();
        feed(&mut rtt, 100);
        assert_eq!(rtt.rto(), Duration::from_millis(rto), "{after:?}");
    }
}

#[test]
fn without_k_the_minimum_is_two_ticks() {
    // arq2002 figure 9, "without rvtv", on a clock of 100 ms: SRTT and a tick; ns-2's arithmetic
    // has no tick to add, and two at least.
    for (arithmetic, rto) in [(Arithmetic::Exact, 200), (Arithmetic::Ns2, 200)] {
        let mut rtt = estimator(|config| {
            (config.k, config.arithmetic) = (0, arithmetic);
            config.granularity = Duration::from_millis(100);
        });
        for _ in 0..50 {
            let sample = rtt.measure(Instant::START, Instant::from_nanos(30_000_000));
            rtt.sample(sample, Seq::FIRST, Seq::FIRST);
        }
        assert_eq!(rtt.rto(), Duration::from_millis(rto));
    }
}

/// SRTT, RTTVAR and the timeout in thousandths of a millisecond, rounded down, after each sample.
fn eifel_after(rtt: &mut RttEstimator, samples: &[u64]) -> Vec<[u64; 3]> {
    let micros = |duration: Duration| duration.nanos() / 1_000;
    let after = |sample: &u64| {
        feed(rtt, *sample);
        let estimate = rtt.estimate().unwrap();
        [micros(estimate.srtt), micros(estimate.rttvar), micros(rtt.rto())]
    };
    samples.iter().map(after).collect()
}

#[test]
fn eifel_timer_with_one_sample_a_round_trip() {
    // A gain of 1/3 and a weight of 3. In turn: the first; DELTA 0, so RTTVAR falls by a ninth;
    // DELTA 300, so both rise by a third; DELTA -100, which leaves RTTVAR as it is.
    let expected = [
        [300_000, 150_000, 750_000],
        [300_000, 133_333, 700_000],
        [400_000, 188_888, 966_666],
        [366_666, 188_888, 933_333],
    ];
    // Appendix G of RFC 7323 scales the gains of RFC 6298 only.
    for history in [History::Samples, History::Windows] {
        let mut rtt = estimator(|config| {
            (config.arithmetic, config.sampling) = (Arithmetic::Eifel, Sampling::OncePerWindow);
            config.history = history;
        });
        rtt.expect_samples(10_000, 1_000);
        assert_eq!(eifel_after(&mut rtt, &[300, 300, 600, 300]), expected, "{history:?}");
    }
}

#[test]
fn eifel_timer_scales_with_the_flight() {
    // Ten segments, each of them timed: a gain of 1/10. RTTVAR: 150 - 50 / 100, then + 100.5 / 10.
    for (sampling, load, expected) in [
        (
            Sampling::EverySegment,
            10,
            [[310_000, 149_500, 1_805_000], [335_000, 159_550, 1_930_500]],
        ),
        // Two segments an acknowledgment: 1/5. 150 - 50 / 25, then 240 more than SRTT.
        (Sampling::EveryAck, 5, [[320_000, 148_000, 1_060_000], [368_000, 166_400, 1_200_000]]),
    ] {
        let mut rtt = estimator(|config| {
            (config.arithmetic, config.sampling) = (Arithmetic::Eifel, sampling);
        });
        rtt.expect_samples(10_000, 1_000);
        let after = eifel_after(&mut rtt, &[300, 400, 560]);
        assert_eq!(after[0], [300_000, 150_000, 300_000 + load * 150_000]);
        assert_eq!(after[1..], expected, "{sampling:?}");
    }
}

#[test]
fn eifel_timer_is_at_least_two_ticks_above_the_last_sample() {
    let mut rtt = estimator(|config| {
        (config.arithmetic, config.sampling) = (Arithmetic::Eifel, Sampling::OncePerWindow);
        config.granularity = Duration::from_millis(10);
    });
    rtt.expect_samples(1_000, 1_000);
    let steady = eifel_after(&mut rtt, &[100; 60]);
    assert_eq!(steady[59][0], 100_000);
    assert!(steady[59][1] < 50);
    assert_eq!(steady[59][2], 120_000);
    // When the round trip falls, the timeout of RFC 6298 rises, and this one falls with SRTT.
    let mut standard = estimator(|_| {});
    let after = |rtt: &mut RttEstimator| {
        (0..60).for_each(|_| feed(rtt, 400));
        let before = rtt.rto();
        feed(rtt, 40);
        rtt.rto() > before
    };
    assert!(after(&mut standard) && !after(&mut rtt));
}

#[test]
fn a_lost_syn_leaves_the_timeout_below_its_ceiling() {
    for (ceiling, expected) in [(60, 3), (2, 2)] {
        let mut rtt = estimator(|config| config.max = Duration::from_secs(ceiling));
        rtt.back_off();
        rtt.restart_after_syn();
        assert_eq!(rtt.rto(), Duration::from_secs(expected));
    }
}

#[test]
fn a_new_ceiling_holds_at_once() {
    let mut rtt = estimator(|_| {});
    feed(&mut rtt, 10_000);
    assert_eq!(rtt.rto(), Duration::from_secs(30));
    let mut config = Config::default();
    config.rto.max = Duration::from_secs(20);
    rtt.reconfigure(Arc::new(config));
    assert_eq!(rtt.rto(), Duration::from_secs(20));
}
