//! Any link with coupled directions, and any traffic.

use proptest::prelude::*;
use rtolab_link::{
    Arq, BadState, BlockLossDetection, ChannelConfig, CoDel, DirectionConfig, Discipline,
    Distribution, Order, Outages, Priority, Probability, RenewalProcess, SpikeHolds, Spikes,
    StallHolds, Stalls, States,
};
use rtolab_time::{Duration, Rate};

use crate::common::{limit, milliseconds, windows};

pub fn renewal() -> impl Strategy<Value = Option<RenewalProcess>> {
    let process =
        (milliseconds(500..5000), milliseconds(1..2000)).prop_map(|(good, bad)| RenewalProcess {
            good: Distribution::Exponential(good),
            bad: Distribution::Exponential(bad),
            stationary: true,
        });
    prop::option::of(process)
}

fn spikes() -> impl Strategy<Value = Option<Spikes>> {
    let holds = prop_oneof![Just(SpikeHolds::Delivery), Just(SpikeHolds::Service)];
    let spikes =
        (0.0..0.3f64, milliseconds(1..2000), holds).prop_map(|(probability, mean, holds)| Spikes {
            probability: Probability::new(probability).unwrap(),
            length: Distribution::Exponential(mean),
            holds,
        });
    prop::option::of(spikes)
}

/// Rate, delay, loss, spikes and stalls, but nothing that drops frames at the queue.
pub fn direction() -> impl Strategy<Value = DirectionConfig> {
    let rate = prop::option::of(1_000..10_000_000u64);
    let holds = prop_oneof![Just(StallHolds::Entry), Just(StallHolds::Transmitter)];
    let stalls = (windows(), renewal(), holds).prop_map(|(scripted, random, holds)| Stalls {
        scripted,
        random,
        holds,
        ..Stalls::default()
    });
    (rate, milliseconds(0..1000), 0.0..0.6f64, spikes(), stalls).prop_map(
        |(rate, delay, loss, spikes, stalls)| DirectionConfig {
            rate: rate.and_then(Rate::from_bits_per_second),
            delay,
            loss: Probability::new(loss).unwrap(),
            spikes,
            stalls,
            ..DirectionConfig::default()
        },
    )
}

/// Adds everything that reorders, duplicates, damages and delays frames.
pub fn impaired(config: DirectionConfig) -> impl Strategy<Value = DirectionConfig> {
    let order = prop_oneof![Just(Order::Free), Just(Order::Kept)];
    let jitter = prop::option::of(milliseconds(1..500).prop_map(Distribution::Exponential));
    let bad = (2..5u64, milliseconds(0..500), 0.0..0.6f64);
    let chances = (0.0..0.5f64, 0.0..0.5f64, 0.0..0.9f64);
    (order, jitter, bad, chances, renewal(), renewal(), windows()).prop_map(
        move |(order, jitter, bad, chances, talks, random, scripted)| DirectionConfig {
            order,
            jitter,
            bad: BadState {
                rate: config
                    .rate
                    .and_then(|rate| Rate::from_bits_per_second(rate.bits_per_second() / bad.0)),
                delay: Some(bad.1),
                loss: Probability::new(bad.2),
            },
            duplication: Probability::new(chances.0).unwrap(),
            corruption: Probability::new(chances.1).unwrap(),
            loss_memory: Probability::new(chances.2).unwrap(),
            // A tenth of the rate while it sends.
            priority: config.rate.zip(talks).map(|(rate, activity)| Priority {
                activity,
                every: rate.time_for(1000),
                packet: 100,
            }),
            outages: Outages { scripted, random },
            ..config.clone()
        },
    )
}

pub fn states() -> impl Strategy<Value = Option<States>> {
    (renewal(), any::<bool>())
        .prop_map(|(residence, shared)| residence.map(|residence| States { residence, shared }))
}

/// Adds a queue that drops: with limit, discipline and maximum age.
pub fn queued() -> impl Strategy<Value = DirectionConfig> {
    let codel = (milliseconds(1..100), milliseconds(10..500), any::<bool>())
        .prop_map(|(target, interval, ecn)| CoDel { target, interval, ecn });
    let lifetime = prop::option::of(milliseconds(100..5000));
    (direction(), limit(), prop::option::of(codel), lifetime).prop_map(
        |(config, queue, codel, lifetime)| DirectionConfig {
            queue,
            discipline: codel.map_or(Discipline::DropTail, Discipline::CoDel),
            lifetime,
            ..config
        },
    )
}

pub fn arq() -> impl Strategy<Value = Arq> {
    let order = prop_oneof![Just(Order::Free), Just(Order::Kept)];
    let notices = prop_oneof![Just(BlockLossDetection::Damage), Just(BlockLossDetection::Gap)];
    let sizes = (prop::option::of(1..2000u32), 0..40u32, prop_oneof![Just(0), 1..50u32]);
    (0..5u32, order, notices, sizes, milliseconds(50..5000)).prop_map(
        |(retries, order, notices, (fragment, header, report), timeout)| Arq {
            retries,
            order,
            fragment: fragment.map(|bytes| bytes.max(200)),
            header,
            report,
            notices,
            timeout,
        },
    )
}

pub fn layers() -> impl Strategy<Value = Vec<Arq>> {
    prop::collection::vec(arq(), 1..=2)
}

pub fn persistent(layers: Vec<Arq>) -> Vec<Arq> {
    layers.into_iter().map(|arq| Arq { retries: 100_000, ..arq }).collect()
}

pub fn any_link() -> impl Strategy<Value = ChannelConfig> {
    let layers = prop_oneof![Just(Vec::new()), layers()];
    let buffers = (limit(), limit());
    let forward = queued().prop_flat_map(impaired);
    (forward, queued(), layers, buffers, windows(), renewal(), states()).prop_map(
        |(forward, backward, arq, (send_buffer, receive_buffer), scripted, random, states)| {
            let codel = CoDel {
                target: Duration::from_millis(5),
                interval: Duration::from_millis(100),
                ecn: false,
            };
            let discipline = match arq.is_empty() {
                true => Discipline::CoDel(codel),
                false => forward.discipline,
            };
            ChannelConfig {
                forward: DirectionConfig { discipline, send_buffer, receive_buffer, ..forward },
                backward,
                outages: Outages { scripted, random },
                arq,
                states,
            }
        },
    )
}
