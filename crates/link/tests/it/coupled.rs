//! Invariants of all links with coupled directions, under any traffic.

mod any;

use std::collections::BTreeMap;

use crate::common::{Packet, SentPacket, direction_of, limit, secs, traffic, windows};
use any::{any_link, arq, direction, impaired, layers, persistent, queued, renewal, states};
use proptest::prelude::*;
use rtolab_link::{
    Arq, BlockLossDetection, Channel, ChannelConfig, CoDel, Direction, DirectionConfig, Discipline,
    DropCause, Order, Outages, Outcome, Probability, Stream,
};
use rtolab_time::{Duration, Instant, Rate};

fn number(outcome: &Outcome<Packet>) -> u64 {
    match outcome {
        Outcome::Delivered { frame, .. } | Outcome::Dropped { frame, .. } => frame.number,
    }
}

type TimedOutcomes = Vec<(Instant, Outcome<Packet>)>;

/// When the link is polled, apart from sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Polls {
    /// At every event that it announces.
    AtEveryEvent,
    /// Before every frame and at the end.
    BeforeFrames,
    /// At the end only.
    Never,
}

/// Sends all traffic and returns the outcomes by direction.
fn run(link: &mut Channel<Packet>, traffic: &[SentPacket], polls: Polls) -> [TimedOutcomes; 2] {
    let mut seen = [Vec::new(), Vec::new()];
    let mut now = Instant::START;
    for (number, (forward, bytes, gap)) in traffic.iter().enumerate() {
        now += *gap;
        match polls {
            Polls::AtEveryEvent => poll_until(link, now, &mut seen),
            Polls::BeforeFrames => poll_at(link, now, &mut seen),
            Polls::Never => {}
        }
        link.send(direction_of(*forward), Packet::new(number as u64, *bytes), now);
    }
    poll_until(link, Instant::NEVER, &mut seen);
    seen
}

/// The outcomes without second copies.
fn firsts(seen: &[TimedOutcomes; 2]) -> impl Iterator<Item = &(Instant, Outcome<Packet>)> {
    seen.iter()
        .flatten()
        .filter(|(_, outcome)| !matches!(outcome, Outcome::Delivered { duplicate: true, .. }))
}

fn poll_until(link: &mut Channel<Packet>, until: Instant, seen: &mut [TimedOutcomes; 2]) {
    while let Some(due) = link.next_event().filter(|due| *due <= until) {
        for direction in Direction::BOTH {
            while let Some(outcome) = link.poll_direction(direction, due) {
                seen[direction.index()].push((due, outcome));
            }
        }
    }
}

fn poll_at(link: &mut Channel<Packet>, now: Instant, seen: &mut [TimedOutcomes; 2]) {
    for direction in Direction::BOTH {
        while let Some(outcome) = link.poll_direction(direction, now) {
            seen[direction.index()].push((now, outcome));
        }
    }
}

fn outcomes(seen: &[TimedOutcomes; 2]) -> [Vec<Outcome<Packet>>; 2] {
    let of = |seen: &TimedOutcomes| seen.iter().map(|(_, outcome)| outcome.clone()).collect();
    [of(&seen[0]), of(&seen[1])]
}

proptest! {
    #[test]
    fn every_frame_has_an_outcome(
        config in any_link(), traffic in traffic(), seed: u64, pause in 0usize..60,
    ) {
        let mut link = Channel::new(&config, &Stream::new(seed));
        prop_assert!(link.is_coupled());
        let early = &traffic[..pause.min(traffic.len())];
        let mut now = Instant::START;
        let mut seen = [Vec::new(), Vec::new()];
        for (number, (forward, bytes, gap)) in early.iter().enumerate() {
            now += *gap;
            link.send(direction_of(*forward), Packet::new(number as u64, *bytes), now);
        }
        poll_until(&mut link, now, &mut seen);
        for direction in Direction::BOTH {
            let stats = link.stats(direction);
            let inside = link.frames_inside(direction) as u64;
            prop_assert_eq!(stats.offered, stats.delivered + stats.drops.total() + inside);
        }
        poll_until(&mut link, Instant::NEVER, &mut seen);
        let mut numbers: Vec<u64> = firsts(&seen).map(|(_, out)| number(out)).collect();
        numbers.sort_unstable();
        prop_assert_eq!(numbers, (0..early.len() as u64).collect::<Vec<_>>());
        prop_assert!(Direction::BOTH.iter().all(|direction| link.frames_inside(*direction) == 0));
    }

    #[test]
    fn without_a_limit_of_retries_every_frame_is_delivered_once(
        forward in direction().prop_flat_map(impaired), backward in direction(), layers in layers(),
        states in states(), traffic in traffic(), seed: u64,
    ) {
        let arq = persistent(layers);
        let in_order = arq[0].order == Order::Kept;
        let config = ChannelConfig { forward, backward, arq, states, ..ChannelConfig::default() };
        let mut link = Channel::new(&config, &Stream::new(seed));
        let seen = run(&mut link, &traffic, Polls::AtEveryEvent);
        for direction in Direction::BOTH {
            let mut numbers = Vec::new();
            for (_, outcome) in &seen[direction.index()] {
                let delivered = matches!(outcome, Outcome::Delivered { .. });
                prop_assert!(delivered, "{:?}", outcome);
                numbers.push(number(outcome));
            }
            if !in_order {
                numbers.sort_unstable();
            }
            let sent = traffic.iter().enumerate().filter(|(_, it)| direction_of(it.0) == direction);
            prop_assert_eq!(numbers, sent.map(|(number, _)| number as u64).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_times_of_polls_make_no_difference(config in any_link(), traffic in traffic(), seed: u64) {
        let run = |polls| {
            let mut link = Channel::new(&config, &Stream::new(seed));
            let seen = run(&mut link, &traffic, polls);
            (seen, Direction::BOTH.map(|direction| *link.stats(direction)))
        };
        let (seen, stats) = run(Polls::AtEveryEvent);
        for polls in [Polls::BeforeFrames, Polls::Never] {
            let (late, late_stats) = run(polls);
            prop_assert_eq!(outcomes(&late), outcomes(&seen));
            prop_assert_eq!(late_stats, stats);
        }
    }

    /// If everything is sent at the start and losses are reported at once, the transmitter is never
    /// idle.
    #[test]
    fn the_transmitter_is_work_conserving(
        frames in prop::collection::vec(1..3000u32, 1..100), loss in 0.0..0.9f64,
        arq in arq(), seed: u64,
    ) {
        let rate = Rate::from_bits_per_second(1_000_000);
        let loss = Probability::new(loss).unwrap();
        let arq = Arq { report: 0, notices: BlockLossDetection::Damage, timeout: secs(1e6), ..arq };
        let config = ChannelConfig {
            forward: DirectionConfig { rate, loss, ..DirectionConfig::default() },
            arq: vec![arq],
            ..ChannelConfig::default()
        };
        let mut link = Channel::new(&config, &Stream::new(seed));
        for (number, bytes) in frames.iter().enumerate() {
            link.send(Direction::Forward, Packet::new(number as u64, *bytes), Instant::START);
        }
        let mut seen = [Vec::new(), Vec::new()];
        poll_until(&mut link, Instant::NEVER, &mut seen);
        let (end, _) = seen[0].last().unwrap();
        let bytes = link.stats(Direction::Forward).transmitted_bytes;
        prop_assert_eq!(*end, Instant::START + Duration::from_micros(8 * bytes));
    }

    #[test]
    fn recording_changes_nothing(config in any_link(), traffic in traffic(), seed: u64) {
        let mut link = Channel::new(&config, &Stream::new(seed));
        let mut recorded = link.clone();
        recorded.record_disturbances();
        prop_assert_eq!(
            run(&mut link, &traffic, Polls::AtEveryEvent),
            run(&mut recorded, &traffic, Polls::AtEveryEvent)
        );
        let reported = recorded.disturbances(Instant::START + secs(30.0));
        prop_assert!(reported.iter().all(|it| it.from < it.to));
    }

    #[test]
    fn frames_are_delivered_no_earlier_than_possible_and_held_is_the_excess(
        config in any_link(), traffic in traffic(), seed: u64,
    ) {
        let mut link = Channel::new(&config, &Stream::new(seed));
        let seen = run(&mut link, &traffic, Polls::AtEveryEvent);
        let entries: Vec<Instant> = traffic
            .iter()
            .scan(Instant::START, |now, sending| { *now += sending.2; Some(*now) })
            .collect();
        for (now, outcome) in seen.iter().flatten() {
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
    fn arq_without_losses_equals_a_plain_link(
        forward in direction(), backward in direction(), queue in limit(),
        order in prop_oneof![Just(Order::Free), Just(Order::Kept)],
        traffic in traffic(), seed: u64,
    ) {
        let lossless = |config| DirectionConfig { loss: Probability::ZERO, queue, ..config };
        let plain = ChannelConfig {
            forward: lossless(forward), backward: lossless(backward), ..ChannelConfig::default()
        };
        let arq = Arq {
            retries: 0, order, fragment: None, header: 0, report: 0,
            notices: BlockLossDetection::Damage,
            timeout: secs(1e6),
        };
        let with_arq = ChannelConfig { arq: vec![arq], ..plain.clone() };
        prop_assert_eq!(reported(&with_arq, &traffic, seed), reported(&plain, &traffic, seed));
    }

    #[test]
    fn codel_below_its_target_equals_a_plain_queue(
        forward in queued().prop_flat_map(impaired), backward in direction(), queue in limit(),
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
            reported(&controlled, &traffic, seed).iter().zip(&reported(&plain, &traffic, seed))
        {
            prop_assert_eq!(found, expected);
        }
    }
}

/// The outcomes of each frame and their times, the second copy last. For frames that are too old,
/// the time of the drop: a queue that drops them reports it at once, whatever is still in flight.
fn reported(
    config: &ChannelConfig,
    traffic: &[SentPacket],
    seed: u64,
) -> BTreeMap<(u64, bool), (Instant, Outcome<Packet>)> {
    let mut link = Channel::new(config, &Stream::new(seed));
    let seen = run(&mut link, traffic, Polls::AtEveryEvent);
    let is_second = |out: &_| matches!(out, Outcome::Delivered { duplicate: true, .. });
    seen.into_iter()
        .flatten()
        .map(|(reported, out)| {
            let at = match out {
                Outcome::Dropped { cause: DropCause::Lifetime, at, .. } => at,
                _ => reported,
            };
            ((number(&out), is_second(&out)), (at, out))
        })
        .collect()
}
