//! What holds for any link and any traffic.

mod common;

use common::{Packet, at, secs};
use proptest::prelude::*;
use rtolab_link::{
    Channel, ChannelConfig, Direction, DirectionConfig, Distribution, Limit, Outages, Outcome,
    Probability, Renewal, SpikeHolds, Spikes, StallHolds, Stalls, Stream, Window,
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

fn distribution() -> impl Strategy<Value = Distribution> {
    prop_oneof![
        milliseconds(0..3000).prop_map(Distribution::Constant),
        (milliseconds(0..1000), milliseconds(0..3000))
            .prop_map(|(a, width)| Distribution::Uniform(a, a + width)),
        milliseconds(1..3000).prop_map(Distribution::Exponential),
    ]
}

fn renewal() -> impl Strategy<Value = Option<Renewal>> {
    let process = (milliseconds(1..5000), distribution(), any::<bool>()).prop_map(
        |(good, bad, stationary)| Renewal {
            good: Distribution::Exponential(good),
            bad,
            stationary,
        },
    );
    prop::option::of(process)
}

fn windows() -> impl Strategy<Value = Vec<Window>> {
    let window = (0..20_000u64, milliseconds(0..3000))
        .prop_map(|(from, length)| Window { at: at(from as f64 / 1e3), length });
    prop::collection::vec(window, 0..4)
}

fn direction() -> impl Strategy<Value = DirectionConfig> {
    let place = (prop::option::of(1_000..10_000_000u64), milliseconds(0..1000), limit(), limit());
    let holds = prop_oneof![Just(SpikeHolds::Delivery), Just(SpikeHolds::Service)];
    let spikes = prop::option::of((0.0..0.5f64, distribution(), holds));
    let entry = prop_oneof![Just(StallHolds::Entry), Just(StallHolds::Transmitter)];
    let stalls = (windows(), renewal(), entry);
    let drops = prop::collection::vec(1..40u32, 0..4);
    (place, limit(), 0.0..0.5f64, drops, spikes, stalls).prop_map(
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
                stalls: Stalls { scripted: stalls.0, random: stalls.1, holds: stalls.2 },
                ..DirectionConfig::default()
            }
        },
    )
}

fn config() -> impl Strategy<Value = ChannelConfig> {
    (direction(), direction(), windows(), renewal()).prop_map(
        |(forward, backward, scripted, random)| ChannelConfig {
            forward,
            backward,
            outages: Outages { scripted, random },
            ..ChannelConfig::default()
        },
    )
}

/// Which way, how many bytes, how long after the one before.
type Sending = (bool, u32, Duration);

fn traffic() -> impl Strategy<Value = Vec<Sending>> {
    let gap = prop_oneof![Just(Duration::ZERO), milliseconds(0..50), milliseconds(0..2000)];
    prop::collection::vec((any::<bool>(), 1..3000u32, gap), 1..120)
}

fn way(forward: bool) -> Direction {
    if forward { Direction::Forward } else { Direction::Backward }
}

/// Sends it all, hears what is due in between, then the rest; each outcome with when it was heard.
fn run(
    link: &mut Channel<Packet>,
    traffic: &[Sending],
    from: Instant,
) -> Vec<(Instant, Outcome<Packet>)> {
    let mut heard = Vec::new();
    let mut now = from;
    for (number, (forward, bytes, gap)) in traffic.iter().enumerate() {
        now += *gap;
        hear(link, now, &mut heard);
        link.send(way(*forward), Packet::new(number as u64, *bytes), now);
    }
    hear(link, Instant::NEVER, &mut heard);
    heard
}

fn hear(link: &mut Channel<Packet>, until: Instant, heard: &mut Vec<(Instant, Outcome<Packet>)>) {
    while let Some(due) = link.next_event().filter(|due| *due <= until) {
        heard.push((due, link.poll(due).expect("it announced an event")));
    }
}

proptest! {
    #[test]
    fn nothing_is_lost_without_a_word(
        config in config(), traffic in traffic(), seed: u64, pause in 0usize..120,
    ) {
        let mut link = Channel::new(&config, &Stream::new(seed));
        let early = &traffic[..pause.min(traffic.len())];
        let mut now = Instant::START;
        let mut heard = Vec::new();
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
        prop_assert_eq!(heard.len(), early.len());
        prop_assert!(Direction::BOTH.iter().all(|direction| link.inside(*direction) == 0));
    }

    #[test]
    fn frames_leave_in_order_and_not_too_early(
        config in config(), traffic in traffic(), seed: u64,
    ) {
        let mut link = Channel::new(&config, &Stream::new(seed));
        let heard = run(&mut link, &traffic, Instant::START);
        let entries: Vec<Instant> = traffic
            .iter()
            .scan(Instant::START, |now, sending| { *now += sending.2; Some(*now) })
            .collect();
        prop_assert!(heard.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        let mut last = [None; 2];
        for (now, outcome) in &heard {
            match outcome {
                Outcome::Delivered { direction, frame, held, .. } => {
                    let config = [&config.forward, &config.backward][direction.index()];
                    let work = config.rate.map_or(Duration::ZERO, |rate| rate.time_for(frame.bytes));
                    let entry = entries[frame.number as usize];
                    prop_assert!(*now >= entry + work + config.delay + *held);
                    prop_assert!(last[direction.index()] < Some(frame.number));
                    last[direction.index()] = Some(frame.number);
                }
                Outcome::Dropped { at, frame, .. } => {
                    prop_assert!(*now >= *at && *at >= entries[frame.number as usize]);
                }
            }
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
            link.send(way(*forward), Packet::new(number as u64, *bytes), now);
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
        let told = recorded.disturbances(Instant::START + secs(30.0));
        prop_assert!(told.iter().all(|it| it.from < it.to));
    }

    #[test]
    fn a_queue_never_holds_more_than_it_may(
        config in direction(), traffic in traffic(), seed: u64, packets in 0..10u32,
    ) {
        let forward = DirectionConfig { queue: Limit::Packets(packets), ..config };
        let config = ChannelConfig { forward, ..ChannelConfig::default() };
        let mut link = Channel::new(&config, &Stream::new(seed));
        run(&mut link, &traffic, Instant::START);
        prop_assert!(link.stats(Direction::Forward).max_queue <= packets);
    }
}
