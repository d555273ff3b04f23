//! A pipe says of frames what the link that it was made of says.

mod common;

use common::Packet;
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

proptest! {
    #[test]
    fn a_pipe_does_as_its_link_does(
        queue in limit(),
        rate in prop::option::of(1_000_000..3_000_000_u64),
        frames in prop::collection::vec((0..8000_u64, 40..1500_u32), 1..80),
        looks in prop::collection::vec(0..300_000_u64, 1..5),
    ) {
        let mut channel = Channel::new(&config(queue, rate), &Stream::new(1));
        let [mut pipe, _] = channel.pipes().unwrap();
        let (mut at, mut expected, mut said) = (Instant::START, Vec::new(), Vec::new());
        let direction = Direction::Forward;
        for (number, (gap, bytes)) in (0..).zip(frames) {
            at += Duration::from_micros(gap);
            while let Some(due) = channel.next_event().filter(|due| *due <= at) {
                expected.extend(channel.poll(due).map(|outcome| (due, outcome)));
            }
            channel.send(direction, Packet::new(number, bytes), at);
            let out = pipe.pass(bytes, at, at);
            if out.is_none() {
                pipe.refused();
            }
            said.push((number, out));
            expected.extend(std::iter::from_fn(|| channel.poll(at)).map(|outcome| (at, outcome)));
            prop_assert_eq!(pipe.stats(at), *channel.stats(direction));
        }
        let mut looks: Vec<_> = looks.into_iter().map(|ahead| at + Duration::from_micros(ahead)).collect();
        looks.sort();
        for look in looks {
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
fn links_that_are_not_plain_are_no_pipes() {
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
                vec![rtolab_link::Window { at, length: Duration::from_secs(1) }];
        }),
        with(|direction| {
            let at = Instant::START;
            direction.outages.scripted =
                vec![rtolab_link::Window { at, length: Duration::from_secs(1) }];
        }),
    ] {
        assert!(channel(&config).pipes().is_none(), "{config:?}");
    }
}
