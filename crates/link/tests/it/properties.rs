//! Invariants of all links, under any traffic.

use std::sync::Arc;

use crate::common::laws::{empirical, gamma, log_normal, pareto};
use crate::common::{
    Packet, SentPacket, direction_of, limit, milliseconds, secs, traffic, windows,
};
use proptest::prelude::*;
use rtolab_link::{
    BadState, Channel, ChannelConfig, DelayTrace, Direction, DirectionConfig, Discipline,
    Distribution, DropCause, Limit, Opportunities, Order, Outages, Outcome, Priority, Probability,
    RateChange, Red, RenewalProcess, SpikeHolds, Spikes, StallHolds, Stalls, States, Stream,
};
use rtolab_time::{Duration, Instant, Rate};

fn distribution() -> impl Strategy<Value = Distribution> {
    prop_oneof![
        milliseconds(0..3000).prop_map(Distribution::Constant),
        (milliseconds(0..1000), milliseconds(0..3000))
            .prop_map(|(a, width)| Distribution::Uniform(a, a + width)),
        milliseconds(1..3000).prop_map(Distribution::Exponential),
        (milliseconds(1..3000), 0.01..2.0).prop_map(|(median, sigma)| log_normal(median, sigma)),
        (milliseconds(1..3000), 1..500u64)
            .prop_map(|(mean, percent)| gamma(mean, mean * percent / 100)),
        (milliseconds(1..1000), 1.1..9.0).prop_map(|(minimum, shape)| pareto(minimum, shape)),
        (prop::collection::vec(milliseconds(1..3000), 1..9), any::<bool>())
            .prop_map(|(values, interpolate)| empirical(values, interpolate)),
    ]
}

fn renewal() -> impl Strategy<Value = Option<RenewalProcess>> {
    let process = (milliseconds(1..5000), distribution(), any::<bool>()).prop_map(
        |(good, bad, stationary)| RenewalProcess {
            good: Distribution::Exponential(good),
            bad,
            stationary,
        },
    );
    prop::option::of(process)
}

fn chance() -> impl Strategy<Value = Probability> {
    prop_oneof![Just(0.0), 0.0..0.5f64].prop_map(|p| Probability::new(p).unwrap())
}

fn rate() -> impl Strategy<Value = Option<Rate>> {
    prop::option::of(1_000..10_000_000u64)
        .prop_map(|bits| bits.and_then(Rate::from_bits_per_second))
}

/// How the rate, the delay and the transmitter's time change.
fn changing() -> BoxedStrategy<DirectionConfig> {
    let change = (0..20_000u64, rate())
        .prop_map(|(ms, rate)| RateChange { at: Instant::from_nanos(ms * 1_000_000), rate });
    let slots = prop::collection::vec(1..500u64, 1..20).prop_map(|mut at| {
        at.sort_unstable();
        let period = Duration::from_millis(at[at.len() - 1]);
        Arc::new(Opportunities { at: at.into_iter().map(Duration::from_millis).collect(), period })
    });
    let steps = prop::collection::vec((1..500u64, milliseconds(0..1000)), 0..5);
    let delays = (milliseconds(0..1000), steps, prop::option::of(milliseconds(2500..3000)));
    let delays = delays.prop_map(|(first, gaps, period)| {
        let mut steps = vec![(Duration::ZERO, first)];
        for (gap, delay) in gaps {
            steps.push((steps[steps.len() - 1].0 + Duration::from_millis(gap), delay));
        }
        Arc::new(DelayTrace { steps, period })
    });
    let talks =
        (renewal(), milliseconds(0..500), 1..500u32).prop_map(|(activity, every, packet)| {
            activity.map(|activity| Priority { activity, every, packet })
        });
    let bad = (rate(), prop::option::of(milliseconds(0..1000)), prop::option::of(chance()));
    let bad = bad.prop_map(|(rate, delay, loss)| BadState { rate, delay, loss });
    let changes = prop::collection::vec(change, 0..4);
    let all = (changes, prop::option::of(slots), prop::option::of(delays), talks, bad);
    all.prop_map(|(rate_changes, opportunities, delays, priority, bad)| DirectionConfig {
        rate_changes,
        opportunities,
        delays,
        priority,
        bad,
        ..DirectionConfig::default()
    })
    .boxed()
}

fn discipline() -> BoxedStrategy<Discipline> {
    let red = (0.0..5.0f64, 0.0..10.0f64, 0.01..1.0f64, 0.001..1.0f64, any::<[bool; 3]>());
    let red = red.prop_map(|(min, more, max_p, weight, [gentle, adaptive, ecn])| {
        let packet_time = Duration::from_millis(5);
        let max = min + more;
        Discipline::Red(Red { min, max, max_p, weight, gentle, adaptive, ecn, packet_time })
    });
    prop_oneof![Just(Discipline::DropTail), red].boxed()
}

fn direction() -> BoxedStrategy<DirectionConfig> {
    let order = prop_oneof![Just(Order::Kept), Just(Order::Free)];
    let fates = (prop::option::of(distribution()), order, [chance(), chance(), chance()]);
    let lifetime = prop::option::of(milliseconds(0..5000));
    let parts = (steady(), changing(), fates, discipline(), lifetime, (windows(), renewal()));
    parts
        .prop_map(|(steady, changing, fates, discipline, lifetime, (scripted, random))| {
            let (jitter, order, [loss_memory, duplication, corruption]) = fates;
            DirectionConfig {
                jitter,
                order,
                loss_memory,
                duplication,
                corruption,
                discipline,
                lifetime,
                outages: Outages { scripted, random },
                rate_changes: changing.rate_changes,
                opportunities: changing.opportunities,
                delays: changing.delays,
                priority: changing.priority,
                bad: changing.bad,
                ..steady
            }
        })
        .boxed()
}

/// A direction with constant rate and delay, and with all impairments of single frames.
fn steady() -> BoxedStrategy<DirectionConfig> {
    let place = (prop::option::of(1_000..10_000_000u64), milliseconds(0..1000), limit(), limit());
    let holds = prop_oneof![Just(SpikeHolds::Delivery), Just(SpikeHolds::Service)];
    let spikes = prop::option::of((0.0..0.5f64, distribution(), holds));
    let entry = prop_oneof![Just(StallHolds::Entry), Just(StallHolds::Transmitter)];
    let stalls = (windows(), renewal(), entry);
    let drops = prop::collection::vec(1..40u32, 0..4);
    (place, limit(), 0.0..0.5f64, drops, spikes, stalls)
        .prop_map(
            |((rate, delay, queue, send_buffer), receive_buffer, loss, drops, spikes, stalls)| {
                DirectionConfig {
                    rate: rate.and_then(Rate::from_bits_per_second),
                    delay,
                    queue,
                    send_buffer,
                    receive_buffer,
                    loss: Probability::new(loss).unwrap(),
                    drops,
                    spikes: spikes.map(|(probability, length, holds)| Spikes {
                        probability: Probability::new(probability).unwrap(),
                        length,
                        holds,
                    }),
                    stalls: Stalls {
                        scripted: stalls.0,
                        random: stalls.1,
                        holds: stalls.2,
                        ..Stalls::default()
                    },
                    ..DirectionConfig::default()
                }
            },
        )
        .boxed()
}

fn config() -> impl Strategy<Value = ChannelConfig> {
    let states = (renewal(), any::<bool>())
        .prop_map(|(residence, shared)| residence.map(|residence| States { residence, shared }));
    let side = || prop_oneof![steady(), direction()];
    (side(), side(), windows(), renewal(), states).prop_map(
        |(forward, backward, scripted, random, states)| ChannelConfig {
            forward,
            backward,
            outages: Outages { scripted, random },
            states,
            ..ChannelConfig::default()
        },
    )
}

/// Sends all traffic, polls the due outcomes in between and the others at the end. Returns each
/// outcome and its time.
fn run(
    link: &mut Channel<Packet>,
    traffic: &[SentPacket],
    from: Instant,
) -> Vec<(Instant, Outcome<Packet>)> {
    let mut outcomes = Vec::new();
    let mut now = from;
    for (number, (forward, bytes, gap)) in traffic.iter().enumerate() {
        now += *gap;
        poll_until(link, now, &mut outcomes);
        link.send(direction_of(*forward), Packet::new(number as u64, *bytes), now);
    }
    poll_until(link, Instant::NEVER, &mut outcomes);
    outcomes
}

fn poll_until(
    link: &mut Channel<Packet>,
    until: Instant,
    outcomes: &mut Vec<(Instant, Outcome<Packet>)>,
) {
    while let Some(due) = link.next_event().filter(|due| *due <= until) {
        outcomes.push((due, link.poll(due).expect("it announced an event")));
    }
}

fn is_second(outcome: &Outcome<Packet>) -> bool {
    matches!(outcome, Outcome::Delivered { duplicate: true, .. })
}

/// The outcomes of one direction in order: accepted frames and frames dropped at entry.
fn reported<'a>(
    outcomes: impl Iterator<Item = &'a Outcome<Packet>>,
    of: Direction,
) -> [Vec<&'a Outcome<Packet>>; 2] {
    let side = |outcome: &&Outcome<Packet>| match outcome {
        Outcome::Delivered { direction, .. } | Outcome::Dropped { direction, .. } => {
            *direction == of
        }
    };
    let is_dropped_at_entry = |outcome: &&Outcome<Packet>| {
        matches!(outcome, Outcome::Dropped { cause: DropCause::Queue | DropCause::Early, .. })
    };
    let (dropped_at_entry, accepted) = outcomes.filter(side).partition(is_dropped_at_entry);
    [accepted, dropped_at_entry]
}

/// The shortest possible time in the link.
fn least_time(config: &DirectionConfig, bytes: u32) -> Duration {
    let rates = config.rate_changes.iter().map(|change| change.rate).chain([config.rate]);
    let rates = rates.chain(config.bad.rate.map(Some));
    let times = rates.map(|rate| rate.map_or(Duration::ZERO, |rate| rate.time_for(bytes)));
    let work = match config.opportunities {
        Some(_) => Duration::ZERO,
        None => times.min().unwrap_or_default(),
    };
    let steps = config.delays.iter().flat_map(|trace| trace.steps.iter().map(|step| step.1));
    let delays = steps.chain([config.delay]).chain(config.bad.delay);
    work + delays.min().unwrap_or_default()
}

proptest! {
    #[test]
    fn every_frame_has_an_outcome(
        config in config(), traffic in traffic(), seed: u64, pause in 0usize..120,
    ) {
        let mut link = Channel::new(&config, &Stream::new(seed));
        let early = &traffic[..pause.min(traffic.len())];
        let mut now = Instant::START;
        let mut outcomes = Vec::new();
        for (number, (forward, bytes, gap)) in early.iter().enumerate() {
            now += *gap;
            link.send(direction_of(*forward), Packet::new(number as u64, *bytes), now);
        }
        poll_until(&mut link, now, &mut outcomes);
        for direction in Direction::BOTH {
            let stats = link.stats(direction);
            let inside = link.frames_inside(direction) as u64;
            prop_assert_eq!(stats.offered, stats.delivered + stats.drops.total() + inside);
        }
        poll_until(&mut link, Instant::NEVER, &mut outcomes);
        let (seconds, firsts): (Vec<_>, Vec<_>) =
            outcomes.iter().map(|outcomes| &outcomes.1).partition(|outcome| is_second(outcome));
        let starved: usize = Direction::BOTH.iter().map(|direction| link.frames_inside(*direction)).sum();
        prop_assert_eq!(firsts.len() + starved, early.len());
        // Only a link whose transmitter never becomes free again keeps frames.
        let sides = [&config.forward, &config.backward];
        let may_starve = |direction: &Direction| sides[direction.index()].priority.is_some();
        let keeps = |direction: &Direction| link.frames_inside(*direction) > 0;
        prop_assert!(Direction::BOTH.iter().all(|side| may_starve(side) || !keeps(side)));
        let counted = Direction::BOTH.map(|direction| link.stats(direction).duplicates);
        prop_assert_eq!(counted.iter().sum::<u64>() as usize, seconds.len());
    }

    #[test]
    fn frames_are_delivered_in_order_and_no_earlier_than_possible(
        config in config(), traffic in traffic(), seed: u64,
    ) {
        let mut link = Channel::new(&config, &Stream::new(seed));
        let outcomes = run(&mut link, &traffic, Instant::START);
        let entries: Vec<Instant> = traffic
            .iter()
            .scan(Instant::START, |now, sending| { *now += sending.2; Some(*now) })
            .collect();
        prop_assert!(outcomes.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        let mut last = [None; 2];
        for (now, outcome) in &outcomes {
            match outcome {
                Outcome::Delivered { direction, frame, held, duplicate } => {
                    let config = [&config.forward, &config.backward][direction.index()];
                    let entry = entries[frame.number as usize];
                    prop_assert!(*now >= entry + least_time(config, frame.bytes) + *held);
                    let exit = Some((frame.number, *duplicate));
                    prop_assert!(last[direction.index()] < exit || config.order == Order::Free);
                    last[direction.index()] = exit;
                }
                Outcome::Dropped { at, frame, .. } => {
                    prop_assert!(*now >= *at && *at >= entries[frame.number as usize]);
                }
            }
        }
    }

    #[test]
    fn the_times_of_polls_make_no_difference(
        config in config(), traffic in traffic(), seed: u64, pause in milliseconds(1..4000),
    ) {
        let mut link = Channel::new(&config, &Stream::new(seed));
        let mut lazy = link.clone();
        let outcomes = run(&mut link, &traffic, Instant::START);
        let (mut late, mut now, mut polls) = (Vec::new(), Instant::START, Instant::START);
        for (number, (forward, bytes, gap)) in traffic.iter().enumerate() {
            now += *gap;
            if now.since(polls) > pause {
                polls = now;
                late.extend(std::iter::from_fn(|| lazy.poll(now)));
            }
            lazy.send(direction_of(*forward), Packet::new(number as u64, *bytes), now);
        }
        late.extend(std::iter::from_fn(|| lazy.poll(Instant::from_nanos(u64::MAX - 1))));
        // Of two that are due together the one polled in between comes first.
        for direction in Direction::BOTH {
            let outcomes = outcomes.iter().map(|outcomes| &outcomes.1);
            prop_assert_eq!(reported(late.iter(), direction), reported(outcomes, direction));
        }
        for direction in Direction::BOTH {
            prop_assert_eq!(lazy.stats(direction), link.stats(direction));
        }
    }

    #[test]
    fn a_clone_has_the_same_future(
        config in config(), traffic in traffic(), seed: u64, fork in 0usize..120,
    ) {
        let mut link = Channel::new(&config, &Stream::new(seed));
        let (before, after) = traffic.split_at(fork.min(traffic.len()));
        let mut now = Instant::START;
        for (number, (forward, bytes, gap)) in before.iter().enumerate() {
            now += *gap;
            link.send(direction_of(*forward), Packet::new(number as u64, *bytes), now);
        }
        let mut copy = link.clone();
        prop_assert_eq!(run(&mut copy, after, now), run(&mut link, after, now));
        for direction in Direction::BOTH {
            prop_assert_eq!(copy.stats(direction), link.stats(direction));
        }
    }

    #[test]
    fn recording_changes_nothing(config in config(), traffic in traffic(), seed: u64) {
        let mut link = Channel::new(&config, &Stream::new(seed));
        let mut recorded = link.clone();
        recorded.record_disturbances();
        prop_assert_eq!(
            run(&mut link, &traffic, Instant::START),
            run(&mut recorded, &traffic, Instant::START)
        );
        let reported = recorded.disturbances(Instant::START + secs(30.0));
        prop_assert!(reported.iter().all(|it| it.from < it.to));
    }

    #[test]
    fn a_queue_stays_within_its_limit(
        config in direction(), traffic in traffic(), seed: u64, packets in 0..10u32,
    ) {
        let forward = DirectionConfig { queue: Limit::Packets(packets), ..config };
        let config = ChannelConfig { forward, ..ChannelConfig::default() };
        let mut link = Channel::new(&config, &Stream::new(seed));
        run(&mut link, &traffic, Instant::START);
        prop_assert!(link.stats(Direction::Forward).max_queue <= packets);
    }
}
