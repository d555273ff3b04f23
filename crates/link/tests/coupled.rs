//! Invariants of all links with coupled directions, under any traffic.

#[path = "coupled/any.rs"]
mod any;
mod common;

use std::collections::BTreeMap;

use any::{any_link, arq, direction, levels, persistent, queued, renewal, states, wild};
use common::{Packet, Sending, limit, secs, traffic, way, windows};
use proptest::prelude::*;
use rtolab_link::{
    Arq, Channel, ChannelConfig, CoDel, Direction, DirectionConfig, Discipline, DropCause, Notices,
    Order, Outages, Outcome, Probability, Stream,
};
use rtolab_time::{Duration, Instant, Rate};

fn number(outcome: &Outcome<Packet>) -> u64 {
    match outcome {
        Outcome::Delivered { frame, .. } | Outcome::Dropped { frame, .. } => frame.number,
    }
}

type Heard = Vec<(Instant, Outcome<Packet>)>;

/// When the link is polled, apart from sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// At every event that it announces.
    AtEveryEvent,
    /// Before every frame and at the end.
    BeforeFrames,
    /// At the end only.
    Never,
}

/// Sends all traffic and returns the outcomes by direction.
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

/// The outcomes without second copies.
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

    /// If everything is sent at the start and losses are reported at once, the transmitter is never
    /// idle.
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
                    prop_assert!(config.arq.is_empty() || *cause != DropCause::Error);
                }
            }
        }
    }

    /// Without losses there are no retransmissions.
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

/// The outcomes of each frame and their times, the second copy last. For frames that are too old,
/// the time of the drop: a queue that drops them reports it at once, whatever is still in flight.
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
                Outcome::Dropped { cause: DropCause::Lifetime, at, .. } => at,
                _ => told,
            };
            ((number(&out), is_second(&out)), (at, out))
        })
        .collect()
}
