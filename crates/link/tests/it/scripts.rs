//! Scripts of frames with exact times, all computed by hand.

use crate::common::{
    FrameOutcome, Packet, at, both, channel, close, drain, forward, numbers, poll_until, rate,
    secs, send, window,
};
use rtolab_link::{
    Channel, ChannelConfig, Direction, DirectionConfig, Distribution, DisturbanceKind, DropCause,
    Limit, Outages, Outcome, Probability, SpikeHolds, Spikes, StallHolds, Stalls, Stream,
};
use rtolab_time::{Duration, Instant};

/// 1,000 bytes take a second.
fn slow() -> DirectionConfig {
    DirectionConfig { rate: rate(8_000), delay: secs(0.5), ..DirectionConfig::default() }
}

/// The wireless link of the F-RTO report: 28.8 kbit/s, 200 ms, a queue of seven packets and link
/// buffers of six.
fn wireless() -> DirectionConfig {
    DirectionConfig {
        rate: rate(28_800),
        delay: secs(0.2),
        queue: Limit::Packets(7),
        send_buffer: Limit::Bytes(1776),
        receive_buffer: Limit::Bytes(1776),
        ..DirectionConfig::default()
    }
}

fn stalled(from: f64, length: f64, holds: StallHolds) -> DirectionConfig {
    let stalls = Stalls { scripted: vec![window(from, length)], holds, ..Stalls::default() };
    DirectionConfig { stalls, ..slow() }
}

/// Every frame has a spike.
fn always(length: f64, holds: SpikeHolds) -> Spikes {
    let probability = Probability::new(1.0).unwrap();
    Spikes { probability, length: Distribution::Constant(secs(length)), holds }
}

#[test]
fn t_lk_1_a_hiccup_releases_frames_in_order() {
    let holds = StallHolds::Entry;
    let hiccup = Stalls { scripted: vec![window(28.0, 12.0)], holds, ..Stalls::default() };
    let data = DirectionConfig {
        rate: rate(46_800),
        delay: secs(1.4),
        stalls: hiccup,
        ..DirectionConfig::default()
    };
    let acks = DirectionConfig { delay: secs(1.4), ..DirectionConfig::default() };
    let mut link = channel(&ChannelConfig { forward: data, backward: acks, ..Default::default() });
    send(&mut link, [130], 576, at(27.99));
    for number in 131..=150 {
        send(&mut link, [number], 576, at(28.0 + 0.1 * (number - 131) as f64));
    }
    send(&mut link, [131], 576, at(34.5));
    let outcomes = drain(&mut link);
    assert_eq!(numbers(&outcomes), (130..=150).chain([131]).collect::<Vec<_>>());
    let serialisation = 576.0 * 8.0 / 46_800.0;
    assert!(
        close(outcomes[0].arrival().unwrap(), 27.99 + serialisation + 1.4),
        "{:?}",
        outcomes[0]
    );
    for (n, out) in outcomes[1..].iter().enumerate() {
        let expected = 40.0 + (n + 1) as f64 * serialisation + 1.4;
        assert!(close(out.arrival().unwrap(), expected), "{out:?} expected at {expected}");
    }
    let FrameOutcome::Arrived { held, .. } = outcomes[21] else { panic!("{:?}", outcomes[21]) };
    assert_eq!(held, secs(5.5));

    let first = outcomes[1].arrival().unwrap();
    link.send(Direction::Backward, Packet::new(1, 40), first);
    let acks = poll_until(&mut link, Direction::Backward, Instant::NEVER);
    let back = acks[0].arrival().unwrap();
    assert!(at(42.898) <= back && back < at(42.899), "{back}");
}

#[test]
fn t_lk_3_an_outage_destroys_data_and_acks() {
    let config = ChannelConfig {
        outages: Outages { scripted: vec![window(10.0, 5.0)], random: None },
        ..both(&slow())
    };
    let mut link = channel(&config);
    // The transmission of each takes a second. The end of the transmission counts.
    let fates = [
        (8.0, None),
        (9.1, Some(DropCause::Outage)),
        (13.9, Some(DropCause::Outage)),
        (15.0, None),
    ];
    for (number, (time, _)) in fates.iter().enumerate() {
        for direction in Direction::BOTH {
            link.send(direction, Packet::new(number as u64, 1000), at(*time));
        }
    }
    for direction in Direction::BOTH {
        let outcomes = poll_until(&mut link, direction, Instant::NEVER);
        let expected: Vec<_> = fates.iter().map(|fate| fate.1).collect();
        assert_eq!(outcomes.iter().map(FrameOutcome::cause).collect::<Vec<_>>(), expected);
        assert_eq!(
            outcomes[1],
            FrameOutcome::Lost { number: 1, at: at(10.1), cause: DropCause::Outage }
        );
        assert_eq!(link.stats(direction).drops.outage, 2);
    }
}

#[test]
fn an_outage_includes_its_first_instant_and_not_its_last() {
    let outages = Outages { scripted: vec![window(10.0, 5.0)], random: None };
    let mut link = channel(&ChannelConfig { outages, ..forward(slow()) });
    for (number, time) in [9.0, 14.0].into_iter().enumerate() {
        send(&mut link, [number as u64], 1000, at(time));
    }
    let causes: Vec<_> = drain(&mut link).iter().map(FrameOutcome::cause).collect();
    assert_eq!(causes, [Some(DropCause::Outage), None]);
}

/// 120 frames of 296 bytes at the rate of the link, of which exactly one has a spike of 3.5 s.
/// Returns arrivals and the index of the first that was delayed.
fn a_single_spike(holds: SpikeHolds) -> (Vec<Instant>, usize) {
    let spikes = Spikes {
        probability: Probability::new(0.02).unwrap(),
        length: Distribution::Constant(secs(3.5)),
        holds,
    };
    let config = forward(DirectionConfig { spikes: Some(spikes), ..wireless() });
    let seeds = (0..1000).map(|seed| {
        let mut link = Channel::new(&config, &Stream::new(seed));
        link.record_disturbances();
        for number in 0..120 {
            send(&mut link, [number], 296, at(number as f64 * SERIALISATION));
        }
        let outcomes = drain(&mut link);
        (outcomes, link.disturbances(Instant::NEVER))
    });
    let (outcomes, _) = seeds.into_iter().find(|(_, spikes)| spikes.len() == 1).unwrap();
    let arrivals: Vec<_> = outcomes.iter().filter_map(FrameOutcome::arrival).collect();
    let gap = arrivals.windows(2).position(|pair| pair[1] - pair[0] > secs(1.0)).unwrap();
    assert!(gap > 5 && arrivals.len() > gap + 15, "too near to the start or the end: {gap}");
    (arrivals, gap + 1)
}

/// 296 bytes at 28.8 kbit/s.
const SERIALISATION: f64 = 296.0 * 8.0 / 28_800.0;

fn assert_gap(from: Instant, to: Instant, expected: f64) {
    let gap = to.secs_f64() - from.secs_f64();
    assert!((gap - expected).abs() < 1e-6, "{gap} s between {from} and {to}, not {expected} s");
}

#[test]
fn t_lk_4_a_spike_of_service_delays_all_later_frames() {
    let (arrivals, n) = a_single_spike(SpikeHolds::Service);
    assert_gap(arrivals[n - 1], arrivals[n], 3.5 + SERIALISATION);
    for pair in arrivals[n..n + 14].windows(2) {
        assert_gap(pair[0], pair[1], 0.082_222_222);
    }
}

#[test]
fn t_lk_4_a_spike_of_delivery_holds_later_frames() {
    let (arrivals, n) = a_single_spike(SpikeHolds::Delivery);
    assert_gap(arrivals[n - 1], arrivals[n], 3.5 + SERIALISATION);
    // The link's buffers were full with five frames after it, which come out with it. The seven in
    // the queue then have space and come out at the link's rate.
    assert_eq!(arrivals[n + 1..n + 6], [arrivals[n]; 5]);
    assert_gap(arrivals[n], arrivals[n + 6], SERIALISATION + 0.2);
    for pair in arrivals[n + 6..n + 13].windows(2) {
        assert_gap(pair[0], pair[1], 0.082_222_222);
    }
}

#[test]
fn a_queue_of_seven_and_buffers_of_1776_bytes_hold_thirteen_frames() {
    let mut link = channel(&forward(wireless()));
    send(&mut link, 1..=20, 296, at(0.0));
    let outcomes = drain(&mut link);
    assert_eq!(numbers(&outcomes[..7]), (14..=20).collect::<Vec<_>>());
    assert!(outcomes[..7].iter().all(|out| out.cause() == Some(DropCause::Queue)));
    assert_eq!(numbers(&outcomes[7..]), (1..=13).collect::<Vec<_>>());
    // The buffers exceed the bandwidth-delay product and never slow the link.
    for out in &outcomes[7..] {
        let expected = out.number() as f64 * SERIALISATION + 0.2;
        assert!(close(out.arrival().unwrap(), expected), "{out:?}");
    }
    assert_eq!(link.stats(Direction::Forward).max_queue, 7);
}

#[test]
fn without_link_buffers_the_queue_counts_the_frames_that_wait() {
    let mut link = channel(&forward(DirectionConfig { queue: Limit::Packets(7), ..slow() }));
    send(&mut link, 1..=20, 1000, at(0.0));
    // Number 2 leaves the queue at 1 s: there is space for one more.
    send(&mut link, [21, 22], 1000, at(1.0));
    let outcomes = drain(&mut link);
    let arrived: Vec<_> = outcomes.iter().filter(|out| out.cause().is_none()).copied().collect();
    assert_eq!(numbers(&arrived), [1, 2, 3, 4, 5, 6, 7, 8, 21]);
    assert_eq!(arrived[8], FrameOutcome::Arrived { number: 21, at: at(9.5), held: Duration::ZERO });
    let FrameOutcome::Lost { number: 22, at: when, cause: DropCause::Queue } = outcomes[12] else {
        panic!("{outcomes:?}")
    };
    assert_eq!(when, at(1.0));
}

#[test]
fn a_queue_limit_may_be_in_bytes() {
    let mut link = channel(&forward(DirectionConfig { queue: Limit::Bytes(2500), ..slow() }));
    send(&mut link, [1, 2, 3, 4], 1000, at(0.0));
    send(&mut link, [5], 500, at(0.0));
    send(&mut link, [6], 1, at(0.0));
    let outcomes = drain(&mut link);
    assert_eq!(numbers(&outcomes), [4, 6, 1, 2, 3, 5]);
}

#[test]
fn an_empty_queue_limit_accepts_frames_that_need_not_wait() {
    let mut link = channel(&forward(DirectionConfig { queue: Limit::Packets(0), ..slow() }));
    send(&mut link, [1, 2], 1000, at(0.0));
    send(&mut link, [3], 1000, at(1.0));
    let outcomes = drain(&mut link);
    assert_eq!(numbers(&outcomes), [2, 1, 3]);
}

#[test]
fn a_frame_larger_than_the_send_buffer_waits_until_that_is_empty() {
    let mut link = channel(&forward(DirectionConfig { send_buffer: Limit::Bytes(600), ..slow() }));
    send(&mut link, [1], 500, at(0.0));
    send(&mut link, [2], 1000, at(0.0));
    send(&mut link, [3], 500, at(0.0));
    let arrivals: Vec<_> = drain(&mut link).iter().filter_map(FrameOutcome::arrival).collect();
    assert_eq!(arrivals, [at(1.0), at(2.5), at(3.5)]);
}

#[test]
fn the_smaller_of_the_links_buffers_counts() {
    let config = DirectionConfig {
        send_buffer: Limit::Bytes(10_000),
        receive_buffer: Limit::Packets(1),
        ..slow()
    };
    let mut link = channel(&forward(config));
    send(&mut link, 1..=3, 1000, at(0.0));
    let arrivals: Vec<_> = drain(&mut link).iter().filter_map(FrameOutcome::arrival).collect();
    assert_eq!(arrivals, [at(1.5), at(3.0), at(4.5)]);
}

#[test]
fn a_lost_frame_blocks_no_other_and_leaves_the_send_buffer() {
    let config = DirectionConfig { drops: vec![2, 1], send_buffer: Limit::Packets(2), ..slow() };
    let mut link = channel(&forward(config));
    send(&mut link, 1..=4, 1000, at(0.0));
    let outcomes = drain(&mut link);
    let lost = |number, time| FrameOutcome::Lost { number, at: at(time), cause: DropCause::Script };
    let arrived =
        |number, time| FrameOutcome::Arrived { number, at: at(time), held: Duration::ZERO };
    // 3 enters when the loss of 1 is known, at 1.5 s, and waits until 2 is sent.
    assert_eq!(outcomes, [lost(1, 1.0), lost(2, 2.0), arrived(3, 3.5), arrived(4, 4.5)]);
}

#[test]
fn a_stalled_transmitter_freezes_the_frame_on_it() {
    let mut link = channel(&forward(stalled(10.0, 4.0, StallHolds::Transmitter)));
    send(&mut link, [1, 2], 1000, at(9.25));
    send(&mut link, [3], 1000, at(20.0));
    let arrived =
        |number, time, held| FrameOutcome::Arrived { number, at: at(time), held: secs(held) };
    // 0.75 s of the first are sent before the stall.
    assert_eq!(
        drain(&mut link),
        [arrived(1, 14.75, 4.0), arrived(2, 15.75, 4.0), arrived(3, 21.5, 0.0)]
    );
}

#[test]
fn a_stalled_transmitter_lets_the_queue_overflow() {
    let config =
        DirectionConfig { queue: Limit::Packets(2), ..stalled(10.0, 4.0, StallHolds::Transmitter) };
    let mut link = channel(&forward(config));
    send(&mut link, 1..=3, 1000, at(11.0));
    let outcomes = drain(&mut link);
    assert_eq!(
        outcomes[0],
        FrameOutcome::Lost { number: 3, at: at(11.0), cause: DropCause::Queue }
    );
    assert_eq!(outcomes[1], FrameOutcome::Arrived { number: 1, at: at(15.5), held: secs(3.0) });
    assert_eq!(outcomes[2], FrameOutcome::Arrived { number: 2, at: at(16.5), held: secs(3.0) });
}

#[test]
fn a_stalled_entry_holds_new_frames_only() {
    let config =
        DirectionConfig { queue: Limit::Packets(2), ..stalled(10.0, 4.0, StallHolds::Entry) };
    let mut link = channel(&forward(config));
    send(&mut link, [1, 2], 1000, at(9.5));
    send(&mut link, 3..=6, 1000, at(11.0));
    let outcomes = drain(&mut link);
    let arrived =
        |number, time, held| FrameOutcome::Arrived { number, at: at(time), held: secs(held) };
    assert_eq!(outcomes[..2], [arrived(1, 11.0, 0.0), arrived(2, 12.0, 0.0)]);
    // At the end of the stall one is sent, two wait, and the last finds the queue full.
    assert_eq!(
        outcomes[2],
        FrameOutcome::Lost { number: 6, at: at(14.0), cause: DropCause::Queue }
    );
    assert_eq!(
        outcomes[3..],
        [arrived(3, 15.5, 3.0), arrived(4, 16.5, 3.0), arrived(5, 17.5, 3.0)]
    );
}

#[test]
fn a_spike_that_holds_service_keeps_the_transmitter_busy() {
    let spikes = Some(always(2.0, SpikeHolds::Service));
    let mut link = channel(&forward(DirectionConfig { spikes, ..slow() }));
    send(&mut link, [1, 2], 1000, at(0.0));
    let arrived = |number, time| FrameOutcome::Arrived { number, at: at(time), held: secs(2.0) };
    assert_eq!(drain(&mut link), [arrived(1, 3.5), arrived(2, 6.5)]);
}

#[test]
fn a_spike_that_holds_delivery_does_not_block_the_transmitter() {
    let spikes = Some(always(2.0, SpikeHolds::Delivery));
    let mut link = channel(&forward(DirectionConfig { spikes, ..slow() }));
    send(&mut link, [1, 2], 1000, at(0.0));
    let arrived = |number, time| FrameOutcome::Arrived { number, at: at(time), held: secs(2.0) };
    assert_eq!(drain(&mut link), [arrived(1, 3.5), arrived(2, 4.5)]);
}

#[test]
fn a_link_without_rate_only_delays() {
    let config = DirectionConfig { delay: secs(0.25), ..DirectionConfig::default() };
    let mut link = channel(&forward(config));
    send(&mut link, [1, 2], 1000, at(3.0));
    let arrived = |number| FrameOutcome::Arrived { number, at: at(3.25), held: Duration::ZERO };
    assert_eq!(drain(&mut link), [arrived(1), arrived(2)]);
    let stats = link.stats(Direction::Forward);
    assert_eq!((stats.offered, stats.delivered, stats.bytes), (2, 2, 2000));
    assert_eq!((stats.mean_delay(), stats.max_delay), (Some(secs(0.25)), secs(0.25)));
}

#[test]
fn poll_returns_both_directions_in_order_of_time() {
    let mut link = channel(&both(&slow()));
    for (direction, time) in
        [(Direction::Backward, 0.0), (Direction::Forward, 0.5), (Direction::Backward, 0.5)]
    {
        link.send(direction, Packet::new(0, 500), at(time));
    }
    assert!(link.poll(at(0.99)).is_none());
    let mut reported = Vec::new();
    while let Some(next) = link.next_event() {
        let Some(Outcome::Delivered { direction, .. }) = link.poll(next) else { panic!() };
        reported.push((direction, next));
    }
    let (forward, backward) = (Direction::Forward, Direction::Backward);
    assert_eq!(reported, [(backward, at(1.0)), (forward, at(1.5)), (backward, at(1.5))]);
}

#[test]
fn scripted_disturbances_are_recorded_on_request() {
    let config = ChannelConfig {
        outages: Outages { scripted: vec![window(30.0, 1.0), window(5.0, 1.0)], random: None },
        ..forward(stalled(10.0, 4.0, StallHolds::Transmitter))
    };
    let mut link = channel(&config);
    assert!(link.disturbances(Instant::NEVER).is_empty());
    link.record_disturbances();
    send(&mut link, [1], 1000, at(20.0));
    let reported: Vec<_> = link
        .disturbances(at(25.0))
        .iter()
        .map(|it| (it.kind, it.direction, it.from, it.to))
        .collect();
    let stall = (DisturbanceKind::Stall, Some(Direction::Forward), at(10.0), at(14.0));
    assert_eq!(reported, [(DisturbanceKind::Outage, None, at(5.0), at(6.0)), stall]);
}
