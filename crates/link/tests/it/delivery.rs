//! Delays, order, age, duplication and corruption.

use std::sync::Arc;

use crate::common::{self, FrameOutcome, at, channel, drain, forward, numbers, rate, secs, send};
use rtolab_link::{
    DelayTrace, Direction, DirectionConfig, Distribution, DropCause, Empirical, Limit, Order,
    Outcome, Probability, SpikeHolds, Spikes,
};
use rtolab_time::{Duration, Instant};

fn chance(p: f64) -> Probability {
    Probability::new(p).unwrap()
}

/// Delays of 0.1 s, from 1 s on 3 s, from 2 s on 0.1 s again.
fn delay_step(period: Option<f64>) -> Arc<DelayTrace> {
    let steps = [(0.0, 0.1), (1.0, 3.0), (2.0, 0.1)];
    let steps = steps.map(|(from, delay)| (secs(from), secs(delay))).to_vec();
    Arc::new(DelayTrace { steps, period: period.map(secs) })
}

fn with_delay_step(order: Order) -> DirectionConfig {
    DirectionConfig { delays: Some(delay_step(None)), order, ..DirectionConfig::default() }
}

fn arrived(number: u64, time: f64) -> FrameOutcome {
    FrameOutcome::Arrived { number, at: at(time), held: Duration::ZERO }
}

/// The deliveries: time, number, whether it is a second copy, and whether it is damaged.
fn deliveries(link: &mut rtolab_link::Channel<common::Packet>) -> Vec<(u64, Instant, bool, bool)> {
    let mut reported = Vec::new();
    while let Some(now) = link.next_event_of(Direction::Forward) {
        match link.poll_direction(Direction::Forward, now).expect("it announced an event") {
            Outcome::Delivered { frame, duplicate, .. } => {
                reported.push((frame.number, now, duplicate, frame.corrupt));
            }
            Outcome::Dropped { .. } => {}
        }
    }
    reported
}

#[test]
fn a_delay_holds_from_its_instant_until_the_next() {
    for (period, last) in [(None, 7.1), (Some(3.0), 10.0)] {
        let config =
            DirectionConfig { delays: Some(delay_step(period)), ..DirectionConfig::default() };
        let mut link = channel(&forward(config));
        for (number, time) in [0.999, 1.0, 6.0, 7.0].into_iter().enumerate() {
            send(&mut link, [number as u64], 100, at(time));
        }
        let expected = [arrived(0, 1.099), arrived(1, 4.0), arrived(2, 6.1), arrived(3, last)];
        assert_eq!(drain(&mut link), expected);
    }
}

#[test]
fn the_delay_is_the_one_at_the_end_of_the_transmission() {
    let config = DirectionConfig { rate: rate(8_000), ..with_delay_step(Order::Kept) };
    let mut link = channel(&forward(config));
    send(&mut link, [1], 1000, at(0.5));
    assert_eq!(drain(&mut link), [arrived(1, 4.5)]);
}

#[test]
fn if_order_is_kept_a_frame_waits_for_the_previous_one_and_is_not_held() {
    let mut link = channel(&forward(with_delay_step(Order::Kept)));
    for (number, time) in [1.5, 2.5, 5.0].into_iter().enumerate() {
        send(&mut link, [number as u64], 100, at(time));
    }
    assert_eq!(drain(&mut link), [arrived(0, 4.5), arrived(1, 4.5), arrived(2, 5.1)]);
}

#[test]
fn if_order_is_free_frames_are_reordered() {
    let config = DirectionConfig { drops: vec![3], ..with_delay_step(Order::Free) };
    let mut link = channel(&forward(config));
    for (number, time) in [1.5, 2.5, 2.7, 4.4].into_iter().enumerate() {
        send(&mut link, [number as u64], 100, at(time));
    }
    let lost = FrameOutcome::Lost { number: 2, at: at(2.7), cause: DropCause::Script };
    // Of two that are due together the earlier frame's comes first.
    let expected = [arrived(1, 2.6), lost, arrived(0, 4.5), arrived(3, 4.5)];
    assert_eq!(drain(&mut link), expected);
}

#[test]
fn a_spike_delays_only_one_frame_if_order_is_free() {
    let spikes = Spikes {
        probability: chance(0.1),
        length: Distribution::Constant(secs(5.0)),
        holds: SpikeHolds::Delivery,
    };
    let config =
        DirectionConfig { spikes: Some(spikes), order: Order::Free, ..DirectionConfig::default() };
    let mut link = channel(&forward(config));
    for number in 0..100 {
        send(&mut link, [number], 100, at(number as f64 / 10.0));
    }
    let mut spiked = 0;
    for out in drain(&mut link) {
        let FrameOutcome::Arrived { number, at: now, held } = out else { panic!("{out:?}") };
        let delayed = now.since(at(number as f64 / 10.0));
        assert!(delayed == held && (held == secs(5.0) || held.is_zero()), "{out:?}");
        spiked += u32::from(!held.is_zero());
    }
    assert!((3..30).contains(&spiked), "{spiked}");
}

#[test]
fn jitter_has_its_distribution_and_its_order() {
    let config = |order| {
        let jitter = Some(Distribution::Uniform(secs(0.02), secs(0.08)));
        forward(DirectionConfig { jitter, order, delay: secs(0.1), ..DirectionConfig::default() })
    };
    let mut link = channel(&config(Order::Free));
    for number in 0..50_000 {
        send(&mut link, [number], 100, at(number as f64 / 100.0));
    }
    let outcomes = drain(&mut link);
    let delay =
        |out: &FrameOutcome| out.arrival().unwrap().secs_f64() - out.number() as f64 / 100.0 - 0.1;
    assert!(outcomes.iter().map(delay).all(|delay| (0.02 - 1e-9..0.08).contains(&delay)));
    // Of a uniform distribution: mean 0.05, standard deviation 0.06 / sqrt(12).
    let mean = outcomes.iter().map(delay).sum::<f64>() / 5e4;
    assert!((mean - 0.05).abs() < 4.0 * 0.06 / 12f64.sqrt() / 5e4f64.sqrt(), "{mean}");
    let third = outcomes.iter().map(delay).filter(|delay| *delay < 0.04).count() as f64 / 5e4;
    assert!((third - 1.0 / 3.0).abs() < 4.0 * (2.0 / 9.0 / 5e4f64).sqrt(), "{third}");
    assert!(numbers(&outcomes).windows(2).any(|pair| pair[0] > pair[1]));
    assert!(outcomes.windows(2).all(|pair| pair[0].arrival() <= pair[1].arrival()));

    let mut link = channel(&config(Order::Kept));
    for number in 0..1000 {
        send(&mut link, [number], 100, at(number as f64 / 100.0));
    }
    let kept = drain(&mut link);
    assert!(numbers(&kept).into_iter().eq(0..1000));
    assert!(
        kept.iter().all(|out| matches!(out, FrameOutcome::Arrived { held: Duration::ZERO, .. }))
    );
}

/// The jitter of frames that are sent every 10 ms, in seconds.
fn jitter_of(jitter: Distribution, correlation: Option<f64>) -> Vec<f64> {
    let mut link = channel(&forward(DirectionConfig {
        jitter: Some(jitter),
        jitter_correlation: correlation.map(secs),
        order: Order::Free,
        ..DirectionConfig::default()
    }));
    for number in 0..50_000 {
        send(&mut link, [number], 100, at(number as f64 / 100.0));
    }
    let mut delays: Vec<_> = drain(&mut link)
        .iter()
        .map(|out| (out.number(), out.arrival().unwrap().secs_f64() - out.number() as f64 / 100.0))
        .collect();
    delays.sort_by_key(|(number, _)| *number);
    delays.into_iter().map(|(_, delay)| delay).collect()
}

/// The correlation of the ranks of values that are `distance` apart (Spearman's).
fn rank_correlation(values: &[f64], distance: usize) -> f64 {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    order.iter().enumerate().for_each(|(rank, index)| ranks[*index] = rank as f64);
    let n = values.len() as f64;
    let (mean, variance) = ((n - 1.0) / 2.0, (n * n - 1.0) / 12.0);
    let pairs = ranks.iter().zip(&ranks[distance..]);
    let sum: f64 = pairs.map(|(a, b)| (a - mean) * (b - mean)).sum();
    sum / (n - distance as f64) / variance
}

#[test]
fn correlated_jitter_keeps_its_distribution() {
    let laws = [
        Distribution::Uniform(secs(0.0), secs(1.0)),
        Distribution::Exponential(secs(1.0)),
        Distribution::Constant(secs(1.0)),
        Distribution::Empirical(Empirical::new(vec![secs(1.0), secs(2.0)], true).unwrap().into()),
    ];
    for law in laws {
        let [mut one, mut other] = [None, Some(0.05)].map(|time| jitter_of(law.clone(), time));
        // The score of normal ranks r has the correlation 6 / pi asin(r / 2) of its ranks.
        for distance in [1, 5, 10] {
            let r = libm::exp(-(distance as f64) * 0.01 / 0.05);
            let expected = 6.0 / std::f64::consts::PI * libm::asin(r / 2.0);
            if !matches!(law, Distribution::Constant(_)) {
                let found = rank_correlation(&other, distance);
                assert!((found - expected).abs() < 0.03, "{law:?}: {found}, {expected} expected");
                assert!(rank_correlation(&one, distance).abs() < 0.03, "{law:?}");
            }
        }
        one.sort_by(f64::total_cmp);
        other.sort_by(f64::total_cmp);
        for part in [0.05, 0.25, 0.5, 0.75, 0.95] {
            let index = (part * one.len() as f64) as usize;
            let (found, expected) = (other[index], one[index]);
            assert!((found - expected).abs() < 0.05 * (1.0 + expected), "{law:?} at {part}");
        }
    }
}

#[test]
fn an_expired_frame_takes_no_transmission_time() {
    let config = DirectionConfig {
        rate: rate(8_000),
        delay: secs(0.5),
        lifetime: Some(secs(2.0)),
        drops: vec![4],
        ..DirectionConfig::default()
    };
    let mut link = channel(&forward(config));
    send(&mut link, 1..=5, 1000, at(0.0));
    send(&mut link, [6, 7], 1000, at(1.5));
    let outcomes = drain(&mut link);
    let old = |number| FrameOutcome::Lost { number, at: at(3.0), cause: DropCause::Lifetime };
    // 3 begins at 2 s, just in time. 6 follows at 3 s, and is the fourth that is sent.
    let lost = FrameOutcome::Lost { number: 6, at: at(4.0), cause: DropCause::Script };
    // If order is kept, a loss is returned after the frames before it.
    let expected = [arrived(1, 1.5), arrived(2, 2.5), arrived(3, 3.5), old(4), old(5), lost];
    assert_eq!(outcomes[..6], expected);
    // 7 would begin at 4 s, at an age of 2.5 s.
    assert_eq!(
        outcomes[6],
        FrameOutcome::Lost { number: 7, at: at(4.0), cause: DropCause::Lifetime }
    );
    let stats = link.stats(Direction::Forward);
    assert_eq!((stats.drops.lifetime, stats.transmissions, stats.transmitted_bytes), (3, 4, 4000));
}

#[test]
fn an_expired_frame_frees_the_queue_and_the_buffers() {
    for send_buffer in [Limit::Unlimited, Limit::Packets(1)] {
        let config = DirectionConfig {
            rate: rate(8_000),
            lifetime: Some(secs(0.5)),
            queue: Limit::Packets(2),
            send_buffer,
            ..DirectionConfig::default()
        };
        let mut link = channel(&forward(config));
        send(&mut link, 1..=3, 1000, at(0.0));
        send(&mut link, 4..=6, 1000, at(1.0));
        let mut outcomes = drain(&mut link);
        outcomes.sort_by_key(FrameOutcome::number);
        let old =
            |number, time| FrameOutcome::Lost { number, at: at(time), cause: DropCause::Lifetime };
        let expected =
            [arrived(1, 1.0), old(2, 1.0), old(3, 1.0), arrived(4, 2.0), old(5, 2.0), old(6, 2.0)];
        assert_eq!(outcomes, expected);
    }
}

#[test]
fn a_second_copy_arrives_right_after_the_first() {
    let config = DirectionConfig {
        rate: rate(8_000),
        delay: secs(0.5),
        duplication: chance(1.0),
        drops: vec![2],
        ..DirectionConfig::default()
    };
    let mut link = channel(&forward(config));
    send(&mut link, 1..=3, 1000, at(0.0));
    assert_eq!(link.frames_inside(Direction::Forward), 3);
    let reported = deliveries(&mut link);
    let copy = |number, time, second| (number, at(time), second, false);
    let expected =
        [copy(1, 1.5, false), copy(1, 1.5, true), copy(3, 3.5, false), copy(3, 3.5, true)];
    assert_eq!(reported, expected);
    let stats = link.stats(Direction::Forward);
    assert_eq!((stats.delivered, stats.duplicates, stats.bytes), (2, 2, 2000));
    assert_eq!(link.frames_inside(Direction::Forward), 0);
}

#[test]
fn a_second_copy_has_its_own_jitter() {
    let config = |order| {
        forward(DirectionConfig {
            jitter: Some(Distribution::Uniform(secs(0.0), secs(1.0))),
            duplication: chance(0.5),
            order,
            ..DirectionConfig::default()
        })
    };
    let mut link = channel(&config(Order::Free));
    send(&mut link, 0..2000, 100, at(0.0));
    let reported = deliveries(&mut link);
    let seconds = reported.iter().filter(|it| it.2).count();
    // Standard deviation: sqrt(2000 / 4) = 22.4.
    assert!(seconds.abs_diff(1000) < 90, "{seconds}");
    let firsts: Vec<_> = reported.iter().filter(|it| !it.2).map(|it| (it.0, it.1)).collect();
    let first = |number| firsts.iter().find(|it| it.0 == number).unwrap().1;
    let earlier = reported.iter().filter(|it| it.2 && it.1 < first(it.0)).count();
    assert!((400..600).contains(&earlier), "{earlier} of {seconds} overtook the first");

    let mut link = channel(&config(Order::Kept));
    send(&mut link, 0..2000, 100, at(0.0));
    let reported = deliveries(&mut link);
    assert!(reported.windows(2).all(|pair| (pair[0].0, pair[0].2) < (pair[1].0, pair[1].2)));
}

#[test]
fn corruption_has_its_probability_and_is_counted() {
    let config = DirectionConfig { corruption: chance(0.05), ..DirectionConfig::default() };
    let mut link = channel(&forward(config));
    send(&mut link, 0..100_000, 100, at(0.0));
    let damaged = deliveries(&mut link).iter().filter(|it| it.3).count() as u64;
    // Standard deviation: sqrt(100,000 * 0.05 * 0.95) = 69.
    assert!(damaged.abs_diff(5000) < 4 * 69, "{damaged}");
    assert_eq!(link.stats(Direction::Forward).corrupted, damaged);
}

#[test]
fn the_nth_frame_has_the_same_impairments_at_any_time() {
    let config = forward(DirectionConfig {
        rate: rate(1_000_000),
        jitter: Some(Distribution::Exponential(secs(0.1))),
        loss: chance(0.1),
        loss_memory: chance(0.4),
        duplication: chance(0.2),
        corruption: chance(0.1),
        order: Order::Free,
        ..DirectionConfig::default()
    });
    let fates = |gap: f64, bytes: u32| {
        let mut link = channel(&config);
        let serialisation = rate(1_000_000).unwrap().time_for(bytes);
        for number in 0..2000 {
            send(&mut link, [number], bytes, at(number as f64 * gap));
        }
        let mut reported: Vec<_> = deliveries(&mut link)
            .iter()
            .map(|(number, now, second, corrupt)| {
                let jitter = now.since(at(*number as f64 * gap) + serialisation);
                (*number, *second, *corrupt, jitter)
            })
            .collect();
        reported.sort_unstable();
        reported
    };
    let often = fates(0.02, 40);
    assert!((1500..2400).contains(&often.len()));
    assert_eq!(fates(1.0, 1500), often);
}
