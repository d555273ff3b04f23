//! What holds for any link whose directions are coupled, and any traffic.

mod common;

use std::collections::BTreeMap;

use common::{Packet, at, secs};
use proptest::prelude::*;
use rtolab_link::{
    Arq, BadState, Cause, Channel, ChannelConfig, CoDel, Direction, DirectionConfig, Discipline,
    Distribution, Limit, Notices, Order, Outages, Outcome, Priority, Probability, Renewal,
    SpikeHolds, Spikes, StallHolds, Stalls, States, Stream, Window,
};
use rtolab_time::{Duration, Instant, Rate};

fn milliseconds(range: std::ops::Range<u64>) -> impl Strategy<Value = Duration> {
    range.prop_map(Duration::from_millis)
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        Just(Limit::Unlimited),
        (0..20u32).prop_map(Limit::Packets),
        (0..10_000u32).prop_map(Limit::Bytes),
    ]
}

fn windows() -> impl Strategy<Value = Vec<Window>> {
    let window = (0..20_000u64, milliseconds(0..3000))
        .prop_map(|(from, length)| Window { at: at(from as f64 / 1e3), length });
    prop::collection::vec(window, 0..4)
}

fn renewal() -> impl Strategy<Value = Option<Renewal>> {
    let process =
        (milliseconds(500..5000), milliseconds(1..2000)).prop_map(|(good, bad)| Renewal {
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

/// Rate, delay, loss, spikes and stalls, and nothing that drops frames at the queue.
fn direction() -> impl Strategy<Value = DirectionConfig> {
    let rate = prop::option::of(1_000..10_000_000u64);
    let holds = prop_oneof![Just(StallHolds::Entry), Just(StallHolds::Transmitter)];
    let stalls = (windows(), renewal(), holds).prop_map(|(scripted, random, holds)| Stalls {
        scripted,
        random,
        holds,
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

/// What makes frames overtake, double, break and wait besides.
fn wild(config: DirectionConfig) -> impl Strategy<Value = DirectionConfig> {
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
            // A tenth of the rate while it talks.
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

fn states() -> impl Strategy<Value = Option<States>> {
    (renewal(), any::<bool>())
        .prop_map(|(residence, shared)| residence.map(|residence| States { residence, shared }))
}

/// The same with a queue that does: of limited room and under control, and with a lifetime.
fn queued() -> impl Strategy<Value = DirectionConfig> {
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

fn arq() -> impl Strategy<Value = Arq> {
    let order = prop_oneof![Just(Order::Free), Just(Order::Kept)];
    let notices = prop_oneof![Just(Notices::Damage), Just(Notices::Gap)];
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

fn levels() -> impl Strategy<Value = Vec<Arq>> {
    prop::collection::vec(arq(), 1..=2)
}

fn persistent(levels: Vec<Arq>) -> Vec<Arq> {
    levels.into_iter().map(|arq| Arq { retries: 100_000, ..arq }).collect()
}

/// Which way, how many bytes, how long after the one before.
type Sending = (bool, u32, Duration);

fn traffic() -> impl Strategy<Value = Vec<Sending>> {
    let gap = prop_oneof![Just(Duration::ZERO), milliseconds(0..50), milliseconds(0..2000)];
    prop::collection::vec((any::<bool>(), 1..3000u32, gap), 1..60)
}

fn way(forward: bool) -> Direction {
    if forward { Direction::Forward } else { Direction::Backward }
}

fn number(outcome: &Outcome<Packet>) -> u64 {
    match outcome {
        Outcome::Delivered { frame, .. } | Outcome::Dropped { frame, .. } => frame.number,
    }
}

type Heard = Vec<(Instant, Outcome<Packet>)>;

/// When somebody asks the link, apart from sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// Whenever it has announced something.
    AtEveryEvent,
    /// Before every frame, and in the end.
    BeforeFrames,
    /// In the end.
    Never,
}

/// Sends it all, and hears what comes of it by direction.
fn run(link: &mut Channel<Packet>, traffic: &[Sending], asked: Asked) -> [Heard; 2] {
    let mut heard = [Vec::new(), Vec::new()];
    let mut now = Instant::START;
    for (number, (forward, bytes, gap)) in traffic.iter().enumerate() {
        now += *gap;
        match asked {
            Asked::AtEveryEvent => hear(link, now, &mut heard),
            Asked::BeforeFrames => hear_late(link, now, &mut heard),
            Asked::Never => {}
        }
        link.send(way(*forward), Packet::new(number as u64, *bytes), now);
    }
    hear(link, Instant::NEVER, &mut heard);
    heard
}

/// Of these, each frame's outcome, not its second copy.
fn firsts(heard: &[Heard; 2]) -> impl Iterator<Item = &(Instant, Outcome<Packet>)> {
    heard
        .iter()
        .flatten()
        .filter(|(_, outcome)| !matches!(outcome, Outcome::Delivered { duplicate: true, .. }))
}

fn hear(link: &mut Channel<Packet>, until: Instant, heard: &mut [Heard; 2]) {
    while let Some(due) = link.next_event().filter(|due| *due <= until) {
        for direction in Direction::BOTH {
            while let Some(outcome) = link.poll_direction(direction, due) {
                heard[direction.index()].push((due, outcome));
            }
        }
    }
}

fn hear_late(link: &mut Channel<Packet>, now: Instant, heard: &mut [Heard; 2]) {
    for direction in Direction::BOTH {
        while let Some(outcome) = link.poll_direction(direction, now) {
            heard[direction.index()].push((now, outcome));
        }
    }
}

fn outcomes(heard: &[Heard; 2]) -> [Vec<Outcome<Packet>>; 2] {
    let of = |heard: &Heard| heard.iter().map(|(_, outcome)| outcome.clone()).collect();
    [of(&heard[0]), of(&heard[1])]
}

fn any_link() -> impl Strategy<Value = ChannelConfig> {
    let levels = prop_oneof![Just(Vec::new()), levels()];
    let buffers = (limit(), limit());
    let forward = queued().prop_flat_map(wild);
    (forward, queued(), levels, buffers, windows(), renewal(), states()).prop_map(
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

proptest! {
    #[test]
    fn nothing_is_lost_without_a_word(
        config in any_link(), traffic in traffic(), seed: u64, pause in 0usize..60,
    ) {
        let mut link = Channel::new(&config, &Stream::new(seed));
        prop_assert!(link.is_coupled());
        let early = &traffic[..pause.min(traffic.len())];
        let mut now = Instant::START;
        let mut heard = [Vec::new(), Vec::new()];
        for (number, (forward, bytes, gap)) in early.iter().enumerate() {
            now += *gap;
            link.send(way(*forward), Packet::new(number as u64, *bytes), now);
        }
        hear(&mut link, now, &mut heard);
        for direction in Direction::BOTH {
            let stats = link.stats(direction);
            let inside = link.inside(direction) as u64;
            prop_assert_eq!(stats.offered, stats.delivered + stats.drops.total() + inside);
        }
        hear(&mut link, Instant::NEVER, &mut heard);
        let mut numbers: Vec<u64> = firsts(&heard).map(|(_, out)| number(out)).collect();
        numbers.sort_unstable();
        prop_assert_eq!(numbers, (0..early.len() as u64).collect::<Vec<_>>());
        prop_assert!(Direction::BOTH.iter().all(|direction| link.inside(*direction) == 0));
    }

    #[test]
    fn who_never_gives_up_brings_every_frame_once(
        forward in direction().prop_flat_map(wild), backward in direction(), levels in levels(),
        states in states(), traffic in traffic(), seed: u64,
    ) {
        let arq = persistent(levels);
        let orderly = arq[0].order == Order::Kept;
        let config = ChannelConfig { forward, backward, arq, states, ..ChannelConfig::default() };
        let mut link = Channel::new(&config, &Stream::new(seed));
        let heard = run(&mut link, &traffic, Asked::AtEveryEvent);
        for direction in Direction::BOTH {
            let mut numbers = Vec::new();
            for (_, outcome) in &heard[direction.index()] {
                let delivered = matches!(outcome, Outcome::Delivered { .. });
                prop_assert!(delivered, "{:?}", outcome);
                numbers.push(number(outcome));
            }
            if !orderly {
                numbers.sort_unstable();
            }
            let sent = traffic.iter().enumerate().filter(|(_, it)| way(it.0) == direction);
            prop_assert_eq!(numbers, sent.map(|(number, _)| number as u64).collect::<Vec<_>>());
        }
    }

    #[test]
    fn who_asks_when_makes_no_difference(config in any_link(), traffic in traffic(), seed: u64) {
        let run = |asked| {
            let mut link = Channel::new(&config, &Stream::new(seed));
            let heard = run(&mut link, &traffic, asked);
            (heard, Direction::BOTH.map(|direction| *link.stats(direction)))
        };
        let (heard, stats) = run(Asked::AtEveryEvent);
        for asked in [Asked::BeforeFrames, Asked::Never] {
            let (late, late_stats) = run(asked);
            prop_assert_eq!(outcomes(&late), outcomes(&heard));
            prop_assert_eq!(late_stats, stats);
        }
    }

    /// Where all is sent at the start, and word of what is lost comes at once, the transmitter has
    /// no idle moment.
    #[test]
    fn the_transmitter_works_as_long_as_there_is_something_to_send(
        frames in prop::collection::vec(1..3000u32, 1..100), loss in 0.0..0.9f64,
        arq in arq(), seed: u64,
    ) {
        let rate = Rate::from_bits_per_second(1_000_000);
        let loss = Probability::new(loss).unwrap();
        let arq = Arq { report: 0, notices: Notices::Damage, timeout: secs(1e6), ..arq };
        let config = ChannelConfig {
            forward: DirectionConfig { rate, loss, ..DirectionConfig::default() },
            arq: vec![arq],
            ..ChannelConfig::default()
        };
        let mut link = Channel::new(&config, &Stream::new(seed));
        for (number, bytes) in frames.iter().enumerate() {
            link.send(Direction::Forward, Packet::new(number as u64, *bytes), Instant::START);
        }
        let mut heard = [Vec::new(), Vec::new()];
        hear(&mut link, Instant::NEVER, &mut heard);
        let (end, _) = heard[0].last().unwrap();
        let bytes = link.stats(Direction::Forward).transmitted_bytes;
        prop_assert_eq!(*end, Instant::START + Duration::from_micros(8 * bytes));
    }

    #[test]
    fn recording_changes_nothing(config in any_link(), traffic in traffic(), seed: u64) {
        let mut link = Channel::new(&config, &Stream::new(seed));
        let mut recorded = link.clone();
        recorded.record_disturbances();
        prop_assert_eq!(
            run(&mut link, &traffic, Asked::AtEveryEvent),
            run(&mut recorded, &traffic, Asked::AtEveryEvent)
        );
        let told = recorded.disturbances(Instant::START + secs(30.0));
        prop_assert!(told.iter().all(|it| it.from < it.to));
    }

    #[test]
    fn frames_leave_not_too_early_and_held_says_why(
        config in any_link(), traffic in traffic(), seed: u64,
    ) {
        let mut link = Channel::new(&config, &Stream::new(seed));
        let heard = run(&mut link, &traffic, Asked::AtEveryEvent);
        let entries: Vec<Instant> = traffic
            .iter()
            .scan(Instant::START, |now, sending| { *now += sending.2; Some(*now) })
            .collect();
        for (now, outcome) in heard.iter().flatten() {
            match outcome {
                Outcome::Delivered { direction, frame, held, .. } => {
                    let config = config.of(*direction);
                    let fastest = config.rate.max(config.bad.rate);
                    let work = match config.rate {
                        Some(_) => fastest.map_or(Duration::ZERO, |rate| rate.time_for(frame.bytes)),
                        None => Duration::ZERO,
                    };
                    let delay = config.delay.min(config.bad.delay.unwrap_or(config.delay));
                    // Every block takes a whole number of nanoseconds.
                    let rounding = Duration::from_nanos(u64::from(frame.bytes) / 200 + 1);
                    let entry = entries[frame.number as usize];
                    prop_assert!(*now + rounding >= entry + work + delay + *held);
                }
                Outcome::Dropped { at, frame, cause, .. } => {
                    prop_assert!(*now >= *at && *at >= entries[frame.number as usize]);
                    prop_assert!(config.arq.is_empty() || *cause != Cause::Error);
                }
            }
        }
    }

    /// Where nothing is lost on the way there is nothing to repeat.
    #[test]
    fn a_link_that_need_not_repeat_is_a_plain_one(
        forward in direction(), backward in direction(), queue in limit(),
        order in prop_oneof![Just(Order::Free), Just(Order::Kept)],
        traffic in traffic(), seed: u64,
    ) {
        let lossless = |config| DirectionConfig { loss: Probability::ZERO, queue, ..config };
        let plain = ChannelConfig {
            forward: lossless(forward), backward: lossless(backward), ..ChannelConfig::default()
        };
        let arq = Arq {
            retries: 0, order, fragment: None, header: 0, report: 0, notices: Notices::Damage,
            timeout: secs(1e6),
        };
        let repeating = ChannelConfig { arq: vec![arq], ..plain.clone() };
        prop_assert_eq!(told(&repeating, &traffic, seed), told(&plain, &traffic, seed));
    }

    #[test]
    fn a_queue_whose_delay_is_never_too_long_is_a_plain_one(
        forward in queued().prop_flat_map(wild), backward in direction(), queue in limit(),
        states in states(), scripted in windows(), random in renewal(), traffic in traffic(), seed: u64,
    ) {
        let limited = |config| {
            DirectionConfig { queue, discipline: Discipline::DropTail, ..config }
        };
        let plain = ChannelConfig {
            forward: limited(forward), backward: limited(backward), states,
            outages: Outages { scripted, random },
            ..ChannelConfig::default()
        };
        let content = CoDel { target: secs(1e6), interval: secs(1.0), ecn: false };
        let forward =
            DirectionConfig { discipline: Discipline::CoDel(content), ..plain.forward.clone() };
        let controlled = ChannelConfig { forward, ..plain.clone() };
        for (found, expected) in
            told(&controlled, &traffic, seed).iter().zip(&told(&plain, &traffic, seed))
        {
            prop_assert_eq!(found, expected);
        }
    }
}

/// What a link says of each frame, and when; its second copy last. Of one that was too old, when it
/// was dropped: a queue that finds that out tells it at once, whatever is still under way.
fn told(
    config: &ChannelConfig,
    traffic: &[Sending],
    seed: u64,
) -> BTreeMap<(u64, bool), (Instant, Outcome<Packet>)> {
    let mut link = Channel::new(config, &Stream::new(seed));
    let heard = run(&mut link, traffic, Asked::AtEveryEvent);
    let is_second = |out: &_| matches!(out, Outcome::Delivered { duplicate: true, .. });
    heard
        .into_iter()
        .flatten()
        .map(|(told, out)| {
            let at = match out {
                Outcome::Dropped { cause: Cause::Lifetime, at, .. } => at,
                _ => told,
            };
            ((number(&out), is_second(&out)), (at, out))
        })
        .collect()
}
