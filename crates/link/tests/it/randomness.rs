//! Random draws: the same for the same seed, and independent of the traffic and of the
//! distribution.

use crate::common::{FrameOutcome, Packet, at, channel, drain, forward, rate, secs, send, window};
use rtolab_link::{
    Channel, ChannelConfig, Direction, DirectionConfig, Distribution, DisturbanceKind, DropCause,
    Outages, Probability, RenewalProcess, SpikeHolds, Spikes, StallHolds, Stalls, Stream,
};
use rtolab_time::{Duration, Instant};

fn lossy(chance: f64) -> DirectionConfig {
    DirectionConfig { loss: Probability::new(chance).unwrap(), ..DirectionConfig::default() }
}

fn spiky(chance: f64) -> DirectionConfig {
    let spikes = Spikes {
        probability: Probability::new(chance).unwrap(),
        length: Distribution::Exponential(secs(3.5)),
        holds: SpikeHolds::Delivery,
    };
    DirectionConfig { spikes: Some(spikes), ..lossy(0.05) }
}

fn renewal(good: Distribution, bad: Distribution, stationary: bool) -> RenewalProcess {
    RenewalProcess { good, bad, stationary }
}

/// The outages of the F-RTO report.
fn outages(stationary: bool) -> RenewalProcess {
    let good = Distribution::Uniform(secs(0.1), secs(20.0));
    renewal(good, Distribution::Exponential(secs(3.5)), stationary)
}

fn with_outages(random: RenewalProcess) -> ChannelConfig {
    ChannelConfig {
        outages: Outages { scripted: Vec::new(), random: Some(random) },
        ..ChannelConfig::default()
    }
}

fn outage_spans(random: &RenewalProcess, seed: u64, until: Instant) -> Vec<(Instant, Instant)> {
    let mut link: Channel<Packet> = Channel::new(&with_outages(random.clone()), &Stream::new(seed));
    link.record_disturbances();
    link.disturbances(until).iter().map(|span| (span.from, span.to)).collect()
}

#[test]
fn losses_have_their_probability() {
    let mut link = channel(&forward(lossy(0.05)));
    send(&mut link, 0..100_000, 100, at(0.0));
    drain(&mut link);
    let lost = link.stats(Direction::Forward).drops.error;
    // Standard deviation: sqrt(100,000 * 0.05 * 0.95) = 69.
    assert!(lost.abs_diff(5000) < 4 * 69, "{lost}");
}

#[test]
fn certain_loss_and_no_loss_are_exact() {
    for (chance, lost) in [(0.0, 0), (1.0, 1000)] {
        let mut link = channel(&forward(lossy(chance)));
        send(&mut link, 0..1000, 100, at(0.0));
        drain(&mut link);
        assert_eq!(link.stats(Direction::Forward).drops.error, lost);
    }
}

#[test]
fn the_nth_frame_has_the_same_impairments_at_any_time() {
    let config = forward(DirectionConfig { rate: rate(1_000_000), ..spiky(0.02) });
    let fates = |gap: f64, bytes| {
        let mut link = channel(&config);
        link.record_disturbances();
        for number in 0..2000 {
            send(&mut link, [number], bytes, at(number as f64 * gap));
        }
        let lost: Vec<_> = drain(&mut link).iter().map(FrameOutcome::cause).collect();
        let spikes: Vec<_> =
            link.disturbances(Instant::NEVER).iter().map(|spike| spike.to - spike.from).collect();
        (lost, spikes)
    };
    let (lost, spikes) = fates(0.001, 40);
    assert!(lost.contains(&Some(DropCause::Error)) && spikes.len() > 20);
    assert_eq!(fates(1.0, 1500), (lost, spikes));
}

#[test]
fn a_spike_does_not_change_later_draws() {
    let spiked = |chance| {
        let mut link = channel(&forward(spiky(chance)));
        link.record_disturbances();
        for number in 0..2000 {
            send(&mut link, [number], 40, at(1000.0 * number as f64));
        }
        link.disturbances(Instant::NEVER)
    };
    let (few, many) = (spiked(0.01), spiked(0.3));
    assert!(few.len() > 5 && many.len() > 300);
    assert!(few.iter().all(|spike| many.contains(spike)));
}

#[test]
fn each_process_has_its_own_stream() {
    let plain = forward(lossy(0.1));
    let mut busy = plain.clone();
    busy.backward = spiky(0.2);
    busy.outages.random = Some(renewal(
        Distribution::Exponential(secs(1000.0)),
        Distribution::Constant(Duration::from_nanos(1)),
        false,
    ));
    let fates = |config: &ChannelConfig| {
        let mut link = channel(config);
        send(&mut link, 0..500, 100, at(1.0));
        drain(&mut link)
    };
    assert_eq!(fates(&plain), fates(&busy));
    let mut other = Channel::new(&plain, &Stream::new(2).child("link"));
    send(&mut other, 0..500, 100, at(1.0));
    assert_ne!(fates(&plain), drain(&mut other));
}

#[test]
fn outages_and_stalls_are_independent_of_the_traffic() {
    let random = Some(outages(true));
    let stalls = Stalls { random, holds: StallHolds::Entry, ..Stalls::default() };
    let mut config = forward(DirectionConfig { stalls, ..DirectionConfig::default() });
    config.outages.random = Some(outages(false));
    let spans = |frames: u64| {
        let mut link = channel(&config);
        link.record_disturbances();
        for number in 0..frames {
            send(&mut link, [number], 100, at(0.37 * number as f64));
        }
        link.disturbances(at(500.0))
    };
    let silent = spans(0);
    for kind in [DisturbanceKind::Stall, DisturbanceKind::Outage] {
        assert!(silent.iter().filter(|it| it.kind == kind).count() > 15);
    }
    assert_eq!(spans(3000), silent);
}

#[test]
fn the_largest_number_of_random_stalls_ends_them_and_moves_none() {
    for stationary in [false, true] {
        let spans = |at_most: Option<u32>| {
            let random = Some(outages(stationary));
            let stalls = Stalls { random, at_most, ..Stalls::default() };
            let config = forward(DirectionConfig { stalls, ..DirectionConfig::default() });
            let mut link = channel(&config);
            link.record_disturbances();
            link.disturbances(at(500.0))
        };
        let all = spans(None);
        assert!(all.len() > 15);
        for count in [1, 3] {
            assert_eq!(spans(Some(count)), all[..count as usize]);
        }
    }
}

#[test]
fn recording_does_not_change_the_outages() {
    let config = with_outages(outages(true));
    let mut link = channel(&config);
    let mut recorded = channel(&config);
    recorded.record_disturbances();
    let spans = recorded.disturbances(at(3000.0));
    for number in 0..30_000 {
        let now = at(0.1 * number as f64);
        send(&mut link, [number], 100, now);
        // The other direction looks far ahead: both directions share one timeline.
        link.send(Direction::Backward, Packet::new(number, 100), now);
        let out = spans.iter().any(|span| span.from <= now && now < span.to);
        let seen = drain(&mut link);
        assert_eq!(seen[0].cause(), out.then_some(DropCause::Outage), "at {now}");
    }
}

/// The share of runs whose process is bad at `time`, with its standard deviation.
fn share_of_bad(random: &RenewalProcess, time: f64, runs: u64) -> (f64, f64) {
    let bad = (0..runs)
        .filter(|seed| {
            outage_spans(random, *seed, at(time + 1e-9)).iter().any(|span| span.1 > at(time))
        })
        .count();
    let share = bad as f64 / runs as f64;
    (share, (share * (1.0 - share) / runs as f64).sqrt())
}

#[test]
fn a_stationary_process_is_bad_as_often_at_any_time() {
    let processes = [
        (outages(true), 3.5 / (10.05 + 3.5)),
        (
            renewal(
                Distribution::Constant(secs(3.0)),
                Distribution::Uniform(secs(0.0), secs(2.0)),
                true,
            ),
            0.25,
        ),
        (
            renewal(Distribution::Exponential(secs(3.0)), Distribution::Constant(secs(1.0)), true),
            0.25,
        ),
    ];
    for (random, expected) in processes {
        for time in [0.0, 0.5, 1.7, 3.1, 50.0] {
            let (share, deviation) = share_of_bad(&random, time, 4000);
            assert!(
                (share - expected).abs() < 4.0 * deviation,
                "{share} at {time} s, {expected} expected"
            );
        }
    }
}

#[test]
fn a_nonstationary_process_begins_with_a_whole_good_span() {
    let good = Distribution::Uniform(secs(2.0), secs(4.0));
    let fresh = renewal(good, Distribution::Constant(secs(1.0)), false);
    let firsts: Vec<f64> =
        (0..2000).map(|seed| outage_spans(&fresh, seed, at(100.0))[0].0.secs_f64()).collect();
    assert!(firsts.iter().all(|first| (2.0..4.0).contains(first)));
    let mean = firsts.iter().sum::<f64>() / 2000.0;
    assert!((mean - 3.0).abs() < 4.0 * (2.0 / 12f64.sqrt()) / 2000f64.sqrt(), "{mean}");
}

#[test]
fn the_rest_of_a_uniform_span_is_length_biased() {
    // E[rest] = E[X^2] / (2 E[X]): here (4 + 8 + 16) / 3 / 6 = 1.5556.
    let good = Distribution::Uniform(secs(2.0), secs(4.0));
    let process = renewal(good, Distribution::Constant(Duration::from_nanos(1)), true);
    let rests: Vec<f64> =
        (0..4000).map(|seed| outage_spans(&process, seed, at(100.0))[0].0.secs_f64()).collect();
    let mean = rests.iter().sum::<f64>() / 4000.0;
    // Variance: E[X^3] / (3 E[X]) - mean^2 = 30 / 9 - 2.42 = 0.913.
    assert!((mean - 28.0 / 18.0).abs() < 4.0 * (0.913f64 / 4000.0).sqrt(), "{mean}");
}

#[test]
fn spans_have_the_mean_of_their_distribution() {
    let distributions = [
        Distribution::Constant(secs(3.5)),
        Distribution::Uniform(secs(0.1), secs(20.0)),
        Distribution::Exponential(secs(3.5)),
    ];
    let deviations = [0.0, 19.9 / 12f64.sqrt(), 3.5];
    for (distribution, deviation) in distributions.into_iter().zip(deviations) {
        let mut rng = Stream::new(3).rng();
        let sum: f64 = (0..100_000).map(|_| rng.span(&distribution).secs_f64()).sum();
        let (mean, expected) = (sum / 1e5, distribution.mean().secs_f64());
        assert!((mean - expected).abs() <= 4.0 * deviation / 1e5f64.sqrt() + 1e-9, "{mean}");
    }
}

#[test]
fn draws_are_the_same_on_every_machine() {
    let mut rng = Stream::new(42).child("wireless").child("forward/spikes").rng();
    let draws = [
        rng.bits(),
        rng.span(&Distribution::Exponential(secs(3.5))).nanos(),
        rng.span(&Distribution::Uniform(secs(0.1), secs(20.0))).nanos(),
    ];
    // Computed independently from the definitions of SplitMix64, FNV-1a and PCG.
    assert_eq!(draws, [14_138_396_793_922_295_483, 2_060_730_495, 15_014_884_505]);
}

#[test]
fn processes_without_length_end() {
    let nothing = || Distribution::Constant(Duration::ZERO);
    let second = || Distribution::Constant(secs(1.0));
    assert_eq!(outage_spans(&renewal(second(), nothing(), true), 1, at(100.0)), []);
    assert_eq!(outage_spans(&renewal(nothing(), nothing(), false), 1, at(100.0)), []);
    let always = outage_spans(&renewal(nothing(), second(), false), 1, at(100.0));
    assert_eq!(always, [(Instant::START, Instant::NEVER)]);
}

#[test]
fn scripted_and_random_spans_are_merged() {
    let good = Distribution::Constant(secs(10.0));
    let random = renewal(good, Distribution::Constant(secs(2.0)), false);
    let mut config = with_outages(random);
    config.outages.scripted = vec![window(11.0, 3.0), window(14.0, 1.0), window(30.0, 0.0)];
    let mut link = channel(&config);
    link.record_disturbances();
    let spans: Vec<_> =
        link.disturbances(at(40.0)).iter().map(|span| (span.from, span.to)).collect();
    assert_eq!(spans, [(at(10.0), at(15.0)), (at(22.0), at(24.0)), (at(34.0), at(36.0))]);
}
