//! Exact transmission times at changing rates.

use std::sync::Arc;

use crate::common::{
    self, FrameOutcome, Packet, at, channel, drain, forward, rate, secs, send, window,
};
use proptest::prelude::*;
use rtolab_link::{
    BadState, Channel, ChannelConfig, Direction, DirectionConfig, Distribution, DropCause,
    Interval, LightOpportunities, Limit, Opportunities, Priority, RateChange, RenewalProcess,
    StallHolds, Stalls, States, Stream,
};
use rtolab_time::{Duration, Instant};

/// 1,000 bytes take a second.
fn slow() -> DirectionConfig {
    DirectionConfig { rate: rate(8_000), ..DirectionConfig::default() }
}

fn change(time: f64, bits: u64) -> RateChange {
    RateChange { at: at(time), rate: rate(bits) }
}

fn opportunities(milliseconds: &[u64], period: u64) -> Arc<Opportunities> {
    let at = milliseconds.iter().copied().map(Duration::from_millis).collect();
    Arc::new(Opportunities { at, period: Duration::from_millis(period) })
}

fn arrivals(link: &mut Channel<Packet>) -> Vec<Instant> {
    drain(link).iter().filter_map(FrameOutcome::arrival).collect()
}

#[test]
fn a_frame_in_transmission_continues_at_the_new_rate() {
    let rate_changes = vec![change(1.25, 80_000), change(2.0, 4_000)];
    let mut link = channel(&forward(DirectionConfig { rate_changes, ..slow() }));
    send(&mut link, 1..=3, 1000, at(0.5));
    send(&mut link, [4], 9_000, at(1.3));
    // 750 bytes until 1.25 s, then 10,000 bytes a second, from 2 s on 500.
    let ends = [1.275, 1.375, 1.475, 1.475 + 0.525 + 7.5];
    assert_eq!(arrivals(&mut link), ends.map(at));
}

#[test]
fn a_rate_may_become_infinite() {
    let rate_changes = vec![RateChange { at: at(0.5), rate: None }];
    let mut link = channel(&forward(DirectionConfig { rate_changes, ..slow() }));
    send(&mut link, 1..=2, 1000, at(0.0));
    assert_eq!(arrivals(&mut link), [at(0.5), at(0.5)]);
}

#[test]
fn a_rate_change_at_the_start_replaces_the_rate() {
    let rate_changes = vec![change(0.0, 16_000)];
    let mut link = channel(&forward(DirectionConfig { rate_changes, ..slow() }));
    send(&mut link, [1], 1000, at(0.0));
    assert_eq!(arrivals(&mut link), [at(0.5)]);
}

#[test]
fn rates_repeat() {
    let rate_changes = vec![change(0.0, 8_000), change(1.0, 16_000)];
    let rate_period = Some(secs(2.0));
    let mut link = channel(&forward(DirectionConfig { rate_changes, rate_period, ..slow() }));
    // 1000 bytes in the first second of each repetition, 2000 in the second.
    send(&mut link, 1..=7, 1000, at(0.0));
    assert_eq!(arrivals(&mut link), [1.0, 1.5, 2.0, 3.0, 3.5, 4.0, 5.0].map(at));
    send(&mut link, [8], 2000, at(1_000_000.5));
    assert_eq!(arrivals(&mut link), [at(1_000_001.75)]);
}

#[test]
fn the_bad_state_has_its_own_rate() {
    let span = |length| Distribution::Constant(secs(length));
    let residence = RenewalProcess { good: span(1.0), bad: span(2.0), stationary: false };
    let bad = BadState { rate: rate(4_000), ..BadState::default() };
    let mut config = forward(DirectionConfig { bad, ..slow() });
    config.states = Some(States { residence, shared: true });
    let mut link = channel(&config);
    send(&mut link, 1..=4, 1000, at(0.0));
    // A second good, two bad at half the rate, a second good, two bad.
    assert_eq!(arrivals(&mut link), [1.0, 3.0, 4.0, 6.0].map(at));
}

#[test]
fn opportunities_carry_1500_bytes_used_or_not() {
    let opportunities = Some(opportunities(&[2, 4, 4, 10], 10));
    let config = DirectionConfig { opportunities, delay: secs(0.5), ..DirectionConfig::default() };
    let mut link = channel(&forward(config));
    send(&mut link, [1], 1500, at(0.001));
    // It arrives with the opportunity and misses it. The next one, at 4 ms, is shared by 500 bytes
    // of 2 and by 3; the rest goes to 4, which completes in the other opportunity at 4 ms.
    send(&mut link, [2, 3], 500, at(0.002));
    send(&mut link, [4], 1000, at(0.003));
    // It has to wait for 10 ms, and the next two for the next repetition.
    send(&mut link, [5], 1500, at(0.004));
    send(&mut link, [6], 1400, at(0.010));
    send(&mut link, [7], 200, at(0.011));
    // 1,400 bytes remain after 7, but 8 arrives as they pass.
    send(&mut link, [8], 100, at(0.014));
    let arrived: Vec<f64> =
        arrivals(&mut link).iter().map(|at| ((at.secs_f64() - 0.5) * 1e6).round() / 1e3).collect();
    assert_eq!(arrived, [2.0, 4.0, 4.0, 4.0, 10.0, 12.0, 14.0, 20.0]);
}

#[test]
fn a_trace_repeats_for_ever_and_idle_rounds_are_lost() {
    let config = DirectionConfig {
        opportunities: Some(opportunities(&[3, 7], 7)),
        ..DirectionConfig::default()
    };
    let mut link = channel(&forward(config));
    // 10,000 repetitions end at 70 s.
    send(&mut link, 1..=3, 1500, at(70.0));
    send(&mut link, [4], 1500, at(140.003));
    assert_eq!(arrivals(&mut link), [70.003, 70.007, 70.010, 140.007].map(at));
}

#[test]
fn the_first_frames_after_an_idle_time_have_their_own_opportunities() {
    let ms = |all: &[u64]| all.iter().copied().map(Duration::from_millis).collect::<Vec<_>>();
    let trains = vec![(Duration::ZERO, ms(&[0, 3])), (secs(1.0), ms(&[0, 0, 40]))];
    let light = LightOpportunities { trains, period: Some(secs(2.0)) };
    let config = DirectionConfig {
        opportunities: Some(opportunities(&[10, 20, 30, 40, 50], 50)),
        light: Some(Arc::new(light)),
        ..DirectionConfig::default()
    };
    let mut link = channel(&forward(config));
    // Two leave as a train, the others whenever the saturated link permits.
    send(&mut link, 1..=4, 1500, at(0.0));
    // Idle again. The third frame comes too soon for another train.
    send(&mut link, [5, 6], 1500, at(0.9));
    send(&mut link, [7], 1500, at(0.9035));
    // Other opportunities, and a frame that spans two of them.
    send(&mut link, [8], 3000, at(1.5));
    send(&mut link, [9], 1000, at(1.5));
    // The trace repeats. A frame exceeds its opportunities.
    send(&mut link, [10], 4000, at(2.1));
    let ends = [0.0, 0.003, 0.01, 0.02, 0.9, 0.903, 0.91, 1.5, 1.54, 2.11];
    assert_eq!(arrivals(&mut link), ends.map(at));
}

/// A frame of 2,000 bytes takes an opportunity and 500 bytes of the next; the other 1,000 bytes of
/// it carry the second frame, and the third one waits for the last.
#[test]
fn a_frame_leaves_the_rest_of_its_last_opportunity_in_a_train() {
    let ms = |all: &[u64]| all.iter().copied().map(Duration::from_millis).collect::<Vec<_>>();
    let light = LightOpportunities {
        trains: vec![(Duration::ZERO, ms(&[0, 3, 8]))],
        period: Some(secs(2.0)),
    };
    let config = DirectionConfig {
        opportunities: Some(opportunities(&[500], 500)),
        light: Some(Arc::new(light)),
        ..DirectionConfig::default()
    };
    let mut link = channel(&forward(config));
    send(&mut link, [1], 2000, at(0.0));
    send(&mut link, [2, 3], 1000, at(0.0));
    assert_eq!(arrivals(&mut link), [0.003, 0.003, 0.008].map(at));
}

#[test]
fn opportunities_within_a_stall_are_lost() {
    let stalls = Stalls {
        scripted: vec![window(0.002, 0.002)],
        holds: StallHolds::Transmitter,
        ..Stalls::default()
    };
    let opportunities = Some(opportunities(&[1, 2, 3, 4], 4));
    let config = DirectionConfig { opportunities, stalls, ..DirectionConfig::default() };
    let mut link = channel(&forward(config));
    send(&mut link, 1..=3, 1500, at(0.0));
    assert_eq!(arrivals(&mut link), [0.001, 0.004, 0.005].map(at));
}

#[test]
fn a_trace_without_opportunities_sends_nothing_and_ends() {
    for trace in [opportunities(&[], 0), opportunities(&[], 10)] {
        let config = DirectionConfig { opportunities: Some(trace), ..DirectionConfig::default() };
        let mut link = channel(&forward(config));
        send(&mut link, [1], 100, at(1.0));
        assert_eq!(link.next_event(), None);
    }
}

#[test]
fn a_backlogged_trace_uses_its_whole_capacity() {
    // 120 opportunities in 113 ms.
    let at: Vec<Duration> =
        (0..120).map(|n| Duration::from_millis((n * n * 7 + n) % 113 + 1)).collect();
    let mut at: Vec<Duration> = at.into_iter().collect();
    at.sort();
    let trace = Arc::new(Opportunities { at, period: Duration::from_millis(113) });
    let config = DirectionConfig { opportunities: Some(trace), ..DirectionConfig::default() };
    let mut link = channel(&forward(config));
    for number in 0..20_000 {
        send(&mut link, [number], 40 + (number as u32 * 37) % 1460, Instant::START);
    }
    let end = Instant::START + Duration::from_millis(113 * 50);
    common::poll_until(&mut link, Direction::Forward, end);
    let carried = link.stats(Direction::Forward).bytes;
    // Everything except the frame that is not complete.
    assert!((120 * 50 * 1500 - 1500..=120 * 50 * 1500).contains(&carried), "{carried}");
}

/// A packet of 100 bytes every half second; silent for two seconds, active for one.
fn voice() -> Priority {
    let span = |length| Distribution::Constant(secs(length));
    Priority {
        activity: RenewalProcess { good: span(2.0), bad: span(1.0), stationary: false },
        every: secs(0.5),
        packet: 100,
    }
}

#[test]
fn a_priority_packet_preempts_a_frame_which_then_resumes() {
    let config = DirectionConfig { priority: Some(voice()), ..slow() };
    let mut link = channel(&forward(config));
    // Packets at 2.0, 2.5 and 5.0, 5.5: of 0.1 s each.
    send(&mut link, [1], 1000, at(0.5));
    send(&mut link, [2, 3], 1000, at(1.25));
    send(&mut link, [4], 1000, at(5.55));
    let held: Vec<_> = drain(&mut link);
    let arrived =
        |number, time| FrameOutcome::Arrived { number, at: at(time), held: Duration::ZERO };
    assert_eq!(held, [arrived(1, 1.5), arrived(2, 2.7), arrived(3, 3.7), arrived(4, 6.6)]);
}

#[test]
fn priority_packets_wait_for_stalls_and_each_other_and_change_rate_too() {
    let stalls = Stalls { scripted: vec![window(1.9, 0.3)], ..Stalls::default() };
    let rate_changes = vec![change(2.25, 800)];
    let config = DirectionConfig { priority: Some(voice()), stalls, rate_changes, ..slow() };
    let mut link = channel(&forward(config));
    send(&mut link, [1], 100, at(1.85));
    send(&mut link, [2], 100, at(2.0));
    // 50 bytes by 1.9, the priority packet from 2.2: half of it until 2.25, the rest in 0.5 s until
    // 2.75. The one of 2.5 then until 3.75, and the frames: 50 bytes in half a second, 100 in one,
    // interrupted at 5.0 if that had not ended before.
    let ends: Vec<f64> = arrivals(&mut link).iter().map(|at| at.secs_f64()).collect();
    assert_eq!(ends, [4.25, 7.25]);
}

#[test]
fn a_priority_source_takes_opportunities_first() {
    let opportunities = Some(opportunities(&[1000], 1000));
    let voice = Priority { packet: 800, ..voice() };
    let config =
        DirectionConfig { opportunities, priority: Some(voice), ..DirectionConfig::default() };
    let mut link = channel(&forward(config));
    // Its packets of 2.0 s and 2.5 s take all of the opportunity at 3 s, and 100 bytes of the next.
    send(&mut link, 1..=4, 1400, at(0.5));
    assert_eq!(arrivals(&mut link), [1.0, 2.0, 4.0, 5.0].map(at));
}

#[test]
fn a_saturating_priority_source_leaves_no_capacity_and_does_not_hang() {
    let never = Distribution::Constant(Duration::ZERO);
    let activity =
        RenewalProcess { good: never, bad: Distribution::Constant(secs(1.0)), stationary: false };
    // 100 bytes take 0.1 s; an opportunity a millisecond is enough for 15 packets.
    for (every, starves) in [(0.2, [false; 2]), (0.1, [true, false]), (0.000_01, [true; 2])] {
        let priority =
            Some(Priority { activity: activity.clone(), every: secs(every), packet: 100 });
        let paced = DirectionConfig { priority, ..slow() };
        let slotted =
            DirectionConfig { opportunities: Some(opportunities(&[1], 1)), ..paced.clone() };
        for (config, starved) in [paced, slotted].into_iter().zip(starves) {
            let mut link = channel(&forward(config));
            send(&mut link, [1], 100, at(1.0));
            assert_eq!(link.next_event().is_none(), starved, "every {every} s");
        }
    }
}

#[test]
fn a_queue_counts_the_frames_that_wait_for_an_opportunity() {
    let config = DirectionConfig {
        opportunities: Some(opportunities(&[10], 10)),
        queue: Limit::Packets(2),
        ..DirectionConfig::default()
    };
    let mut link = channel(&forward(config));
    send(&mut link, 1..=3, 1500, at(0.001));
    let seen = drain(&mut link);
    assert_eq!(seen[0], FrameOutcome::Lost { number: 3, at: at(0.001), cause: DropCause::Queue });
    assert_eq!(seen.len(), 3);
}

/// The bits that a link can send from the start until `end`, times a billion.
fn capacity(config: &DirectionConfig, end: Instant) -> u128 {
    let mut edges: Vec<Instant> = config.rate_changes.iter().map(|change| change.at).collect();
    for Interval { at, length } in &config.stalls.scripted {
        edges.extend([*at, *at + *length]);
    }
    edges.retain(|edge| *edge < end);
    edges.push(Instant::START);
    edges.push(end);
    edges.sort();
    let stalled = |at: Instant| {
        config.stalls.scripted.iter().any(|stall| stall.at <= at && at < stall.at + stall.length)
    };
    let rate_at = |at: Instant| {
        let changes = config.rate_changes.iter().rev();
        changes.into_iter().find(|change| change.at <= at).map_or(config.rate, |it| it.rate)
    };
    let piece = |pair: &[Instant]| {
        if stalled(pair[0]) {
            return 0;
        }
        let rate = rate_at(pair[0]).expect("finite").bits_per_second();
        u128::from(rate) * u128::from((pair[1] - pair[0]).nanos())
    };
    edges.windows(2).map(piece).sum()
}

fn changing() -> impl Strategy<Value = DirectionConfig> {
    let change = (0..30_000u64, 1_000..1_000_000u64);
    let stall = (0..30_000u64, 1..3000u64);
    let changes = prop::collection::vec(change, 0..6);
    (1_000..1_000_000u64, changes, prop::collection::vec(stall, 0..4)).prop_map(
        |(bits, mut changes, stalls)| {
            changes.sort_by_key(|change| change.0);
            let scripted = stalls
                .into_iter()
                .map(|(from, length)| window(from as f64 / 1e3, length as f64 / 1e3));
            DirectionConfig {
                rate: rate(bits),
                rate_changes: changes.iter().map(|(ms, r)| change_at(*ms, *r)).collect(),
                stalls: Stalls { scripted: scripted.collect(), ..Stalls::default() },
                ..DirectionConfig::default()
            }
        },
    )
}

fn change_at(milliseconds: u64, bits: u64) -> RateChange {
    RateChange { at: Instant::from_nanos(milliseconds * 1_000_000), rate: rate(bits) }
}

/// When `mm-link` sends each of these frames, opportunity by opportunity.
fn mahimahi(trace: &Opportunities, frames: &[(Instant, u32)]) -> Vec<Instant> {
    let mut left: Vec<u32> = frames.iter().map(|frame| frame.1).collect();
    let mut sent = Vec::new();
    for round in 0.. {
        for since in &trace.at {
            let now = Instant::START + trace.period * round + *since;
            let mut opportunity = 1500;
            while sent.len() < frames.len() && frames[sent.len()].0 < now && opportunity > 0 {
                let front = &mut left[sent.len()];
                let used = opportunity.min(*front);
                (*front, opportunity) = (*front - used, opportunity - used);
                if *front == 0 {
                    sent.push(now);
                }
            }
        }
        if sent.len() == frames.len() {
            break;
        }
    }
    sent
}

fn frames() -> impl Strategy<Value = Vec<(Instant, u32)>> {
    let gap = prop_oneof![Just(0u64), 0..20u64, 0..3000u64];
    prop::collection::vec((gap, 1..3000u32), 1..60).prop_map(|frames| {
        let mut now = Instant::START;
        let entry = |(gap, bytes)| {
            now += Duration::from_millis(gap);
            (now, bytes)
        };
        frames.into_iter().map(entry).collect()
    })
}

proptest! {
    /// A transmitter works at the current rate whenever a frame waits and no stall prevents it, to
    /// the nanosecond.
    #[test]
    fn work_is_conserved(config in changing(), frames in frames()) {
        let mut link = channel(&forward(config.clone()));
        for (number, (at, bytes)) in frames.iter().enumerate() {
            send(&mut link, [number as u64], *bytes, *at);
        }
        let mut idle_from = Instant::START;
        for (end, (entry, bytes)) in arrivals(&mut link).into_iter().zip(frames) {
            let before = capacity(&config, entry.max(idle_from));
            let needed = u128::from(bytes) * 8_000_000_000;
            prop_assert!(capacity(&config, end) - before >= needed);
            let earlier = Instant::from_nanos(end.nanos() - 1);
            prop_assert!(capacity(&config, earlier) - before < needed, "{end}");
            idle_from = end;
        }
    }

    #[test]
    fn opportunities_are_used_as_by_mahimahi(
        mut trace in prop::collection::vec(0..100u64, 1..30), more in 0..5u64, frames in frames(),
    ) {
        trace.sort_unstable();
        let config = DirectionConfig {
            opportunities: Some(opportunities(&trace, trace.last().unwrap().max(&1) + more)),
            ..DirectionConfig::default()
        };
        let mut link = channel(&forward(config.clone()));
        for (number, (at, bytes)) in frames.iter().enumerate() {
            send(&mut link, [number as u64], *bytes, *at);
        }
        let expected = mahimahi(config.opportunities.as_ref().unwrap(), &frames);
        prop_assert_eq!(arrivals(&mut link), expected);
    }

    /// The reference serves the source first, then the frames, millisecond by millisecond.
    #[test]
    fn a_priority_source_is_served_first(frames in frames(), every in 20..400u64, packet in 1..60u32) {
        let priority = Priority { every: Duration::from_millis(every), packet, ..voice() };
        let config = DirectionConfig { priority: Some(priority.clone()), ..slow() };
        let mut link = channel(&forward(config));
        for (number, (at, bytes)) in frames.iter().enumerate() {
            send(&mut link, [number as u64], *bytes, *at);
        }
        prop_assert_eq!(arrivals(&mut link), preempted(&priority, &frames));
    }

    #[test]
    fn shared_states_are_equal_in_both_directions(seed: u64, shared: bool) {
        let spans = Distribution::Exponential(secs(1.0));
        let residence = RenewalProcess { good: spans.clone(), bad: spans, stationary: true };
        let bad = BadState { delay: Some(secs(5.0)), ..BadState::default() };
        let direction = DirectionConfig { bad, ..DirectionConfig::default() };
        let config = ChannelConfig {
            states: Some(States { residence, shared }),
            ..common::both(&direction)
        };
        let mut link = Channel::new(&config, &Stream::new(seed));
        let mut delays = [Vec::new(), Vec::new()];
        for number in 0..100 {
            let now = at(20.0 * number as f64);
            for direction in Direction::BOTH {
                link.send(direction, Packet::new(number, 100), now);
                let seen = common::poll_until(&mut link, direction, Instant::NEVER);
                delays[direction.index()].push(seen[0].arrival().unwrap() - now);
            }
        }
        prop_assert_eq!(delays[0] == delays[1], shared);
    }
}

/// When the frames are sent if `slow()` sends one byte per millisecond, after every packet of the
/// source that has arrived before.
fn preempted(source: &Priority, frames: &[(Instant, u32)]) -> Vec<Instant> {
    let mut left: Vec<u32> = frames.iter().map(|frame| frame.1).collect();
    let (mut sent, mut urgent) = (Vec::new(), 0);
    for millisecond in 0.. {
        let second = millisecond / 1000;
        let since_talk = millisecond % 3000 - 2000 * u64::from(millisecond % 3000 >= 2000);
        if second % 3 == 2 && since_talk * 1_000_000 % source.every.nanos() == 0 {
            urgent += source.packet;
        }
        let now = Instant::from_nanos(millisecond * 1_000_000);
        if urgent > 0 {
            urgent -= 1;
        } else if sent.len() < frames.len() && frames[sent.len()].0 <= now {
            left[sent.len()] -= 1;
            if left[sent.len()] == 0 {
                sent.push(now + Duration::from_millis(1));
            }
        }
        if sent.len() == frames.len() {
            break;
        }
    }
    sent
}
