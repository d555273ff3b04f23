//! Two-state links and random early detection, compared with their formulas.

use crate::common::{self, FrameOutcome, at, channel, drain, forward, rate, secs, send};
use rtolab_link::{
    BadState, Channel, ChannelConfig, Direction, DirectionConfig, Discipline, Distribution,
    DropCause, Limit, Outages, Outcome, Probability, Red, RenewalProcess, States, Stream,
};
use rtolab_time::{Duration, Instant};

fn chance(p: f64) -> Probability {
    Probability::new(p).unwrap()
}

/// Good for ten seconds, bad for two, on average.
fn fading(good: Distribution, bad: Distribution) -> States {
    States { residence: RenewalProcess { good, bad, stationary: true }, shared: true }
}

fn exponential() -> States {
    fading(Distribution::Exponential(secs(10.0)), Distribution::Exponential(secs(2.0)))
}

/// Loses 1 % in the good state and 30 % in the bad one.
fn two_state(states: States) -> ChannelConfig {
    let bad = BadState { loss: Some(chance(0.3)), ..BadState::default() };
    let direction = DirectionConfig { bad, loss: chance(0.01), ..DirectionConfig::default() };
    ChannelConfig { states: Some(states), ..forward(direction) }
}

/// Which frames are lost, one every `gap` seconds.
fn losses(config: &ChannelConfig, frames: u64, gap: f64) -> Vec<bool> {
    let mut link = Channel::new(config, &Stream::new(11));
    for number in 0..frames {
        send(&mut link, [number], 100, at(gap * number as f64));
    }
    drain(&mut link).iter().map(|out| out.cause() == Some(DropCause::Error)).collect()
}

fn share(losses: &[bool]) -> f64 {
    losses.iter().filter(|lost| **lost).count() as f64 / losses.len() as f64
}

#[test]
fn the_loss_rate_is_the_mean_of_both_states() {
    // (Tg pg + Tb pb) / (Tg + Tb)
    let expected = (10.0 * 0.01 + 2.0 * 0.3) / 12.0;
    let uniform = Distribution::Uniform(secs(5.0), secs(15.0));
    for states in [exponential(), fading(uniform, Distribution::Constant(secs(2.0)))] {
        // One frame a minute: hardly two meet the same span, so they are almost independent.
        let found = share(&losses(&two_state(states), 200_000, 61.7));
        let deviation = (expected * (1.0 - expected) / 200_000f64).sqrt();
        assert!((found - expected).abs() < 4.0 * deviation, "{found}, {expected} expected");
    }
}

/// The residence times of both states, sampled every 10 ms by the losses of the bad one.
fn residences(states: States, until: f64) -> [Vec<f64>; 2] {
    let bad = BadState { loss: Some(chance(1.0)), ..BadState::default() };
    let mut config = forward(DirectionConfig { bad, ..DirectionConfig::default() });
    config.states = Some(states);
    let lost = losses(&config, (until * 100.0) as u64, 0.01);
    let mut spans = [Vec::new(), Vec::new()];
    let mut since = None;
    for n in (1..lost.len()).filter(|n| lost[*n] != lost[*n - 1]) {
        let now = n as f64 / 100.0;
        if let Some(since) = since.replace(now) {
            spans[usize::from(lost[n - 1])].push(now - since);
        }
    }
    spans
}

#[test]
fn residence_times_have_their_means_and_their_spread() {
    let constant = fading(Distribution::Constant(secs(3.0)), Distribution::Constant(secs(2.0)));
    let uniform = Distribution::Uniform(secs(1.0), secs(5.0));
    let mixed = fading(uniform, Distribution::Exponential(secs(2.0)));
    for (states, deviations) in [(constant, [0.0, 0.0]), (mixed, [4.0 / 12f64.sqrt(), 2.0])] {
        let spans = residences(states, 20_000.0);
        for ((spans, mean), deviation) in spans.iter().zip([3.0, 2.0]).zip(deviations) {
            let n = spans.len() as f64;
            assert!(n > 3000.0);
            let found = spans.iter().sum::<f64>() / n;
            // A span shorter than 10 ms may be missed: 0.25 % of the exponential ones are, and
            // their neighbours are merged.
            let bound = 4.0 * deviation / n.sqrt() + 0.005 * (mean + 2.0);
            assert!((found - mean).abs() < bound, "{found}, {mean} expected within {bound}");
            let spread = spans.iter().map(|span| (span - found) * (span - found)).sum::<f64>() / n;
            assert!((spread.sqrt() - deviation).abs() < 0.1 * deviation + 0.01, "{spread}");
        }
    }
}

#[test]
fn the_state_at_the_end_of_a_transmission_counts() {
    let span = |length| Distribution::Constant(secs(length));
    let residence = RenewalProcess { good: span(2.0), bad: span(1.0), stationary: false };
    let bad = BadState { loss: Some(chance(1.0)), delay: Some(secs(0.25)), ..BadState::default() };
    let config = DirectionConfig { rate: rate(8_000), bad, delay: secs(0.5), ..Default::default() };
    let mut config = forward(config);
    config.states = Some(States { residence, shared: true });
    let fates = |loss| {
        let mut config = config.clone();
        config.forward.bad.loss = loss;
        let mut link = channel(&config);
        // Transmissions end at 1, 2, 3 and 4 s: the second in the bad state, from 2 s to 3 s.
        send(&mut link, 1..=4, 1000, at(0.0));
        drain(&mut link)
    };
    let arrived =
        |number, time| FrameOutcome::Arrived { number, at: at(time), held: Duration::ZERO };
    let [one, three, four] = [arrived(1, 1.5), arrived(3, 3.5), arrived(4, 4.5)];
    let lost = FrameOutcome::Lost { number: 2, at: at(2.0), cause: DropCause::Error };
    assert_eq!(fates(Some(chance(1.0))), [one, lost, three, four]);
    assert_eq!(fates(None), [one, arrived(2, 2.25), three, four]);
}

#[test]
fn loss_memory_does_not_change_the_loss_rate() {
    let lossy = |memory| {
        forward(DirectionConfig {
            loss: chance(0.1),
            loss_memory: chance(memory),
            ..DirectionConfig::default()
        })
    };
    let frames = 400_000;
    for memory in [0.0, 0.6] {
        let lost = losses(&lossy(memory), frames, 0.01);
        // A chain that stays with probability m, or else draws again: the variance of its mean is
        // (1 + m) / (1 - m) times that of independent draws.
        let stretch = (1.0 + memory) / (1.0 - memory);
        let deviation = (0.1 * 0.9 / frames as f64 * stretch).sqrt();
        assert!((share(&lost) - 0.1).abs() < 4.0 * deviation, "{}", share(&lost));
        // After a loss: m + (1 - m) p.
        let after: Vec<bool> = lost.windows(2).filter(|pair| pair[0]).map(|pair| pair[1]).collect();
        let expected = memory + (1.0 - memory) * 0.1;
        let deviation = (expected * (1.0 - expected) / after.len() as f64).sqrt();
        assert!((share(&after) - expected).abs() < 4.0 * deviation, "{}", share(&after));
    }
}

#[test]
fn a_change_of_state_clears_the_memory() {
    // Alternately good and bad for one frame each; good loses all and bad nothing.
    let span = Distribution::Constant(secs(1.0));
    let residence = RenewalProcess { good: span.clone(), bad: span, stationary: false };
    let mut config = two_state(States { residence, shared: true });
    config.forward.loss = chance(1.0);
    config.forward.bad.loss = Some(chance(0.0));
    config.forward.loss_memory = chance(1.0);
    let lost = losses(&config, 100, 1.0);
    assert!(lost.iter().enumerate().all(|(n, lost)| *lost == (n % 2 == 0)), "{lost:?}");
}

#[test]
fn states_are_independent_of_the_traffic() {
    let config = two_state(exponential());
    let bad = |gap: f64| {
        let mut config = config.clone();
        config.forward.loss = chance(0.0);
        config.forward.bad.loss = Some(chance(1.0));
        losses(&config, (4000.0 / gap) as u64, gap)
    };
    let (often, seldom) = (bad(0.25), bad(1.0));
    assert!(seldom.iter().filter(|bad| **bad).count() > 200);
    assert!(seldom.iter().enumerate().all(|(n, bad)| often[4 * n] == *bad));
}

#[test]
fn an_outage_of_one_direction_does_not_affect_the_other() {
    let outages = Outages { scripted: vec![common::window(1.0, 1.0)], random: None };
    let config = forward(DirectionConfig { outages, ..DirectionConfig::default() });
    let mut link = channel(&config);
    link.record_disturbances();
    for direction in Direction::BOTH {
        link.send(direction, common::Packet::new(1, 100), at(1.5));
    }
    assert_eq!(drain(&mut link)[0].cause(), Some(DropCause::Outage));
    let other = common::poll_until(&mut link, Direction::Backward, Instant::NEVER);
    assert_eq!(other[0].cause(), None);
    let reported: Vec<_> =
        link.disturbances(at(9.0)).iter().map(|it| (it.direction, it.from, it.to)).collect();
    assert_eq!(reported, [(Some(Direction::Forward), at(1.0), at(2.0))]);
}

#[test]
fn red_converges_to_the_queue_of_its_formula() {
    let red = Red {
        min: 5.0,
        max: 45.0,
        max_p: 0.2,
        weight: 0.002,
        gentle: false,
        adaptive: false,
        ecn: false,
        packet_time: Duration::from_millis(1),
    };
    let config = forward(DirectionConfig {
        rate: rate(8_000_000),
        queue: Limit::Packets(200),
        discipline: Discipline::Red(red),
        ..DirectionConfig::default()
    });
    for load in [1.05, 1.1] {
        let mut link = channel(&config);
        // A frame of a millisecond comes every 1 / load ms.
        let mut run = |numbers: std::ops::Range<u64>| {
            for number in numbers {
                let now = at(number as f64 / load / 1e3);
                send(&mut link, [number], 1000, now);
                common::poll_until(&mut link, Direction::Forward, now);
            }
            *link.stats(Direction::Forward)
        };
        let (warm, end) = (run(0..20_000), run(20_000..220_000));
        let delivered = (end.delivered - warm.delivered) as f64;
        let delay = (end.total_delay - warm.total_delay).secs_f64() / delivered * 1e3;
        // The delay is that of q waiting frames, half of the one in transmission, and its own.
        let queue = delay - 1.5;
        // One frame in d is in excess. Drops are uniformly 1 / p to 2 / p - 1 frames apart, so p
        // satisfies 1 / d = 3 / (2 p) - 1/2, and p = max_p (q - min) / (max - min).
        let d = 1.0 - 1.0 / load;
        let expected = 5.0 + 1.5 / (1.0 / d + 0.5) / 0.2 * 40.0;
        assert!((queue / expected - 1.0).abs() < 0.03, "{queue} waited, {expected} expected");
        assert_eq!(end.drops.queue, 0);
        let dropped = (end.drops.early - warm.drops.early) as f64 / 200_000.0;
        assert!((dropped - d).abs() < 0.001, "{dropped} dropped, {d} expected");
    }
}

#[test]
fn red_marks_ecn_capable_frames_and_counts_them() {
    let red = Red {
        min: 1.0,
        max: 50.0,
        max_p: 0.5,
        weight: 1.0,
        gentle: false,
        adaptive: false,
        ecn: true,
        packet_time: Duration::from_millis(1),
    };
    let mut link = channel(&forward(DirectionConfig {
        rate: rate(8_000_000),
        queue: Limit::Packets(100),
        discipline: Discipline::Red(red),
        ..DirectionConfig::default()
    }));
    send(&mut link, 0..50, 1000, at(0.0));
    let mut marked = 0;
    while let Some(now) = link.next_event() {
        if let Some(Outcome::Delivered { frame, .. }) = link.poll(now) {
            marked += u64::from(frame.marked);
        }
    }
    let stats = link.stats(Direction::Forward);
    assert!(marked > 3, "{marked}");
    assert_eq!((stats.marked, stats.delivered, stats.drops.total()), (marked, 50, 0));
}
