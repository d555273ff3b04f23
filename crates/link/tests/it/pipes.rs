//! A pipe returns the same outcomes as the link that it comes from.

use crate::common::Packet;
use proptest::prelude::*;
use rtolab_link::{Channel, ChannelConfig, Direction, DirectionConfig, Limit, Outcome, Stream};
use rtolab_time::{Duration, Instant, Rate};

fn limit() -> impl Strategy<Value = Limit> {
    let (packets, bytes) =
        ((0..6_u32).prop_map(Limit::Packets), (0..6000_u32).prop_map(Limit::Bytes));
    prop_oneof![Just(Limit::Unlimited), packets, bytes]
}

fn config(queue: Limit, rate: Option<u64>) -> ChannelConfig {
    let direction = DirectionConfig {
        rate: rate.and_then(Rate::from_bits_per_second),
        delay: Duration::from_millis(3),
        queue,
        ..DirectionConfig::default()
    };
    ChannelConfig { forward: direction.clone(), backward: direction, ..ChannelConfig::default() }
}

/// Frames, most of them of the same size: the time since the one before in microseconds, the size,
/// and whether the counts are read then.
fn frames() -> impl Strategy<Value = Vec<(u64, u32, bool)>> {
    let bytes = prop_oneof![3 => Just(1000_u32), 1 => Just(40), 2 => 40..1500_u32];
    let gap = prop_oneof![1 => Just(0_u64), 3 => 0..8000_u64, 3 => 3000..14_000_u64];
    prop::collection::vec((gap, bytes, prop::bool::weighted(0.2)), 1..80)
}

proptest! {
    #[test]
    fn a_pipe_equals_its_link(
        queue in limit(),
        rate in prop::option::of(1_000_000..3_000_000_u64),
        frames in frames(),
        looks in prop::collection::vec(0..300_000_u64, 1..5),
    ) {
        let all: u64 = frames.iter().map(|(gap, ..)| gap).sum();
        let mut looks: Vec<_> =
            looks.into_iter().map(|ahead| Instant::START + Duration::from_micros(all + ahead)).collect();
        looks.sort();
        let come = frames.iter().scan(Instant::START, |at, (gap, _, looks)| {
            *at += Duration::from_micros(*gap);
            Some((*at, *looks))
        });
        let among = come.filter(|(_, looks)| *looks).map(|(at, _)| at);
        let mut to_come: Vec<_> = among.chain(looks.iter().copied()).collect();
        to_come.reverse();
        let mut channel = Channel::new(&config(queue, rate), &Stream::new(1));
        let [mut pipe, _] = channel.pipes().unwrap();
        let (mut at, mut expected, mut said) = (Instant::START, Vec::new(), Vec::new());
        let direction = Direction::Forward;
        for (number, (gap, bytes, looks)) in (0..).zip(frames) {
            at += Duration::from_micros(gap);
            pipe.promise_no_stats_before(*to_come.last().unwrap());
            while let Some(due) = channel.next_event().filter(|due| *due <= at) {
                expected.extend(channel.poll(due).map(|outcome| (due, outcome)));
            }
            channel.send(direction, Packet::new(number, bytes), at);
            let out = pipe.pass(bytes, at);
            if out.is_none() {
                pipe.count_queue_drop();
            }
            said.push((number, out));
            expected.extend(std::iter::from_fn(|| channel.poll(at)).map(|outcome| (at, outcome)));
            if looks {
                prop_assert_eq!(pipe.stats(at), *channel.stats(direction));
                to_come.pop();
            }
        }
        for look in looks {
            pipe.promise_no_stats_before(look);
            while let Some(due) = channel.next_event().filter(|due| *due <= look) {
                expected.extend(channel.poll(due).map(|outcome| (due, outcome)));
            }
            prop_assert_eq!(pipe.stats(look), *channel.stats(direction));
        }
        while let Some(due) = channel.next_event() {
            expected.extend(channel.poll(due).map(|outcome| (due, outcome)));
        }
        for (due, outcome) in expected {
            let (number, came_out) = match outcome {
                Outcome::Delivered { frame, held, duplicate: false, .. } if held.is_zero() => {
                    (frame.number, Some(due))
                }
                Outcome::Dropped { frame, .. } => (frame.number, None),
                other @ Outcome::Delivered { .. } => panic!("{other:?}"),
            };
            let place = said.iter().position(|(said, _)| *said == number).unwrap();
            prop_assert_eq!(said.remove(place), (number, came_out));
        }
        prop_assert!(said.is_empty());
    }
}

#[test]
fn only_plain_links_have_pipes() {
    let channel = |config: &ChannelConfig| Channel::<Packet>::new(config, &Stream::new(1));
    let plain = config(Limit::Packets(10), Some(1_000_000));
    assert!(channel(&plain).pipes().is_some());
    let with = |change: fn(&mut DirectionConfig)| {
        let mut config = plain.clone();
        change(&mut config.backward);
        config
    };
    for config in [
        with(|direction| direction.delay = Duration::ZERO),
        with(|direction| direction.lifetime = Some(Duration::from_secs(1))),
        with(|direction| direction.send_buffer = Limit::Packets(5)),
        with(|direction| direction.drops = vec![3]),
        with(|direction| {
            let at = Instant::START;
            direction.stalls.scripted =
                vec![rtolab_link::Interval { at, length: Duration::from_secs(1) }];
        }),
        with(|direction| {
            let at = Instant::START;
            direction.outages.scripted =
                vec![rtolab_link::Interval { at, length: Duration::from_secs(1) }];
        }),
    ] {
        assert!(channel(&config).pipes().is_none(), "{config:?}");
    }
}
