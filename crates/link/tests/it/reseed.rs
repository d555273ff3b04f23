//! A fork with other random numbers: the same past, another future, and no process forgotten.

use crate::common::{self, FrameOutcome, Packet, at, forward, poll_both, rate, secs};
use rtolab_link::{
    Arq, BadState, BlockLossDetection, Channel, ChannelConfig, Direction, DirectionConfig,
    Discipline, Distribution, Limit, Order, Outages, Priority, Probability, Red, RenewalProcess,
    SpikeHolds, Spikes, StallHolds, Stalls, States, Stream,
};
use rtolab_time::Instant;

fn chance(p: f64) -> Probability {
    Probability::new(p).unwrap()
}

fn renewal() -> RenewalProcess {
    let span = |length| Distribution::Exponential(secs(length));
    RenewalProcess { good: span(1.0), bad: span(0.5), stationary: true }
}

fn outages() -> Outages {
    Outages { scripted: Vec::new(), random: Some(renewal()) }
}

fn stalls(holds: StallHolds) -> DirectionConfig {
    let stalls = Stalls { random: Some(renewal()), holds, ..Stalls::default() };
    DirectionConfig { stalls, ..DirectionConfig::default() }
}

/// Configurations that draw from one random process each.
fn processes() -> Vec<(&'static str, ChannelConfig)> {
    let plain = DirectionConfig { rate: rate(1_000_000), ..DirectionConfig::default() };
    let spikes = Spikes {
        probability: chance(0.2),
        length: Distribution::Exponential(secs(0.2)),
        holds: SpikeHolds::Delivery,
    };
    let red = Red {
        min: 0.5,
        max: 50.0,
        max_p: 0.2,
        weight: 0.5,
        gentle: false,
        adaptive: false,
        ecn: false,
        packet_time: secs(0.0008),
    };
    let slow = DirectionConfig {
        rate: rate(76_000),
        queue: Limit::Packets(60),
        discipline: Discipline::Red(red),
        ..plain.clone()
    };
    let states = States { residence: renewal(), shared: true };
    let bad = BadState { loss: Some(chance(1.0)), ..BadState::default() };
    let bad_rate = BadState { rate: rate(5000), ..BadState::default() };
    let priority = Priority { activity: renewal(), every: secs(0.05), packet: 1000 };
    let jitter = Some(Distribution::Exponential(secs(0.1)));
    let correlation = Some(secs(0.3));
    let lossy = |loss| DirectionConfig { loss: chance(loss), ..plain.clone() };
    let arq = Arq {
        retries: 5,
        timeout: secs(0.2),
        order: Order::Kept,
        fragment: None,
        header: 0,
        report: 0,
        notices: BlockLossDetection::default(),
    };
    let with_arq = |config: &DirectionConfig, arq: Arq| ChannelConfig {
        arq: vec![arq],
        ..common::both(config)
    };
    vec![
        ("loss", forward(lossy(0.3))),
        ("loss_memory", forward(DirectionConfig { loss_memory: chance(0.5), ..lossy(0.5) })),
        ("spikes", forward(DirectionConfig { spikes: Some(spikes), ..plain.clone() })),
        ("jitter", forward(DirectionConfig { jitter: jitter.clone(), ..plain.clone() })),
        (
            "jitter_correlation",
            forward(DirectionConfig { jitter, jitter_correlation: correlation, ..plain.clone() }),
        ),
        ("corruption", forward(DirectionConfig { corruption: chance(0.3), ..plain.clone() })),
        ("duplication", forward(DirectionConfig { duplication: chance(0.3), ..plain.clone() })),
        ("red", forward(slow)),
        ("entry stalls", forward(stalls(StallHolds::Entry))),
        ("transmitter stalls", forward(stalls(StallHolds::Transmitter))),
        ("outages", ChannelConfig { outages: outages(), ..ChannelConfig::default() }),
        ("own outages", forward(DirectionConfig { outages: outages(), ..plain.clone() })),
        (
            "states",
            ChannelConfig {
                states: Some(states.clone()),
                ..forward(DirectionConfig { bad, ..plain.clone() })
            },
        ),
        (
            "rates of states",
            ChannelConfig {
                states: Some(states),
                ..forward(DirectionConfig { bad: bad_rate, ..plain.clone() })
            },
        ),
        ("priority", forward(DirectionConfig { priority: Some(priority), ..plain.clone() })),
        ("arq", with_arq(&lossy(0.3), arq)),
    ]
}

/// Sends a frame of 500 bytes every 50 ms in each direction; returns all outcomes until `to`, with
/// the damaged ones.
fn outcomes(link: &mut Channel<Packet>, (from, to): (u64, u64)) -> [Vec<FrameOutcome>; 2] {
    let mut found = [Vec::new(), Vec::new()];
    for number in from..to {
        let now = at(number as f64 * 0.05);
        for (all, new) in found.iter_mut().zip(poll_both(link, now)) {
            all.extend(new);
        }
        for direction in Direction::BOTH {
            link.send(direction, Packet::new(number, 500), now);
        }
    }
    for (all, new) in found.iter_mut().zip(poll_both(link, Instant::NEVER)) {
        all.extend(new);
    }
    found
}

#[test]
fn every_process_has_another_future() {
    for (name, config) in processes() {
        let mut link = Channel::new(&config, &Stream::new(3));
        for number in 0..100_u32 {
            let now = at(f64::from(number) * 0.05);
            poll_both(&mut link, now);
            for direction in Direction::BOTH {
                link.send(direction, Packet::new(number.into(), 500), now);
            }
        }
        let future = |salt: Option<u64>| {
            let mut fork = link.clone();
            if let Some(salt) = salt {
                fork.reseed(salt);
            }
            let found = outcomes(&mut fork, (100, 1000));
            let corrupt = Direction::BOTH.map(|direction| fork.stats(direction).corrupted);
            (found, corrupt)
        };
        assert_eq!(future(None), future(None), "{name}");
        assert_eq!(future(Some(1)), future(Some(1)), "{name}");
        assert_ne!(future(Some(1)), future(Some(2)), "{name}");
        assert_ne!(future(Some(1)), future(None), "{name}");
    }
}

#[test]
fn both_directions_keep_the_same_states() {
    let bad = BadState { loss: Some(chance(1.0)), rate: rate(900_000), ..BadState::default() };
    let config = DirectionConfig { bad, rate: rate(1_000_000), ..DirectionConfig::default() };
    let states = Some(States { residence: renewal(), shared: true });
    let config = ChannelConfig { states, ..common::both(&config) };
    for salt in 0..20 {
        let mut link = Channel::new(&config, &Stream::new(3));
        // The states of the forward direction are computed much further.
        for number in 0..200 {
            link.send(Direction::Forward, Packet::new(number, 500), at(number as f64 * 0.05));
        }
        poll_both(&mut link, Instant::NEVER);
        link.reseed(salt);
        let [forward, backward] = outcomes(&mut link, (200, 2000));
        assert_eq!(forward, backward, "salt {salt}");
        assert!(forward.iter().any(|outcome| outcome.cause().is_some()));
    }
}
