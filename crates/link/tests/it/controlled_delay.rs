//! A CoDel queue (RFC 8289) on a link.

use crate::common::{FrameOutcome, Packet, at, channel, forward, poll_both, rate, secs};
use rtolab_link::{
    Channel, CoDel, Direction, DirectionConfig, Discipline, DropCause, Limit, Outcome,
};
use rtolab_time::{Duration, Instant};

const TARGET: f64 = 0.005;
const INTERVAL: f64 = 0.1;

/// A frame of 1,000 bytes takes a millisecond.
fn controlled(ecn: bool) -> Channel<Packet> {
    let codel = CoDel { target: secs(TARGET), interval: secs(INTERVAL), ecn };
    channel(&forward(DirectionConfig {
        rate: rate(8_000_000),
        delay: secs(0.01),
        queue: Limit::Packets(2000),
        discipline: Discipline::CoDel(codel),
        ..DirectionConfig::default()
    }))
}

/// Sends a frame at this interval until `end`.
fn overload(link: &mut Channel<Packet>, every: Duration, end: Instant) -> Vec<(u64, Instant)> {
    let sendings: Vec<_> = (0..100_000)
        .map(|number| (number, Instant::START + every * number))
        .take_while(|(_, at)| *at < end)
        .collect();
    for (number, at) in &sendings {
        link.send(Direction::Forward, Packet::new(*number, 1000), *at);
    }
    sendings
}

#[test]
fn a_standing_queue_shrinks_to_the_target() {
    let mut link = controlled(false);
    // 5 % overload from a sender that does not react.
    let every = Duration::from_micros(952);
    let sendings = overload(&mut link, every, at(60.0));
    let [outcomes, _] = poll_both(&mut link, Instant::NEVER);
    let delays = |from: f64, to: f64| {
        let delays: Vec<f64> = outcomes
            .iter()
            .filter_map(|out| Some((out.number() as usize, out.arrival()?)))
            .filter(|(number, _)| (at(from)..at(to)).contains(&sendings[*number].1))
            .map(|(number, arrival)| arrival.since(sendings[number].1).secs_f64() - 0.011)
            .collect();
        (
            delays.iter().copied().fold(0.0, f64::max),
            delays.iter().sum::<f64>() / delays.len() as f64,
        )
    };
    // The drop rate grows until it equals the excess of 50 frames a second: 50 = sqrt(count) /
    // interval, reached after 2 * sqrt(count) * interval = 1 s. Until then a part of the excess
    // waits.
    let (worst, _) = delays(0.0, 3.0);
    let (_, mean) = delays(30.0, 60.0);
    assert!(worst > 4.0 * TARGET, "{worst}");
    assert!((0.5 * TARGET..2.0 * TARGET).contains(&mean), "{mean}");
    let lost = outcomes.iter().filter(|out| out.cause() == Some(DropCause::Early)).count() as u64;
    let drops = link.stats(Direction::Forward).drops;
    assert_eq!((drops.early, drops.total()), (lost, lost));
}

#[test]
fn drops_are_spaced_by_the_control_law() {
    let mut link = controlled(false);
    for number in 0..1500 {
        link.send(Direction::Forward, Packet::new(number, 1000), at(0.0));
    }
    let [outcomes, _] = poll_both(&mut link, Instant::NEVER);
    let drops: Vec<f64> = outcomes
        .iter()
        .filter_map(|out| match out {
            FrameOutcome::Lost { at, .. } => Some(at.secs_f64()),
            FrameOutcome::Arrived { .. } => None,
        })
        .collect();
    // The frame that leaves the queue after 5 ms is the first above the target; the first drop
    // comes an interval later.
    let mut due = TARGET + INTERVAL;
    assert!(drops.len() > 50);
    for (n, dropped) in drops.iter().enumerate() {
        // A frame leaves the queue every millisecond; time is rounded to nanoseconds.
        assert!((-1e-9..0.001_001).contains(&(dropped - due)), "{n}: {dropped} {due}");
        // The control law starts at the first drop, then at the due times.
        due = if n == 0 { *dropped } else { due } + INTERVAL / ((n + 1) as f64).sqrt();
    }
    // None is missing: the last frame was sent before the next drop is due.
    let last = outcomes.iter().filter_map(FrameOutcome::arrival).max().unwrap().secs_f64() - 0.011;
    assert!(due > last - 0.001, "{due} {last}");
}

#[test]
fn ecn_capable_frames_are_marked_and_none_is_dropped() {
    let mut link = controlled(true);
    for number in 0..1500 {
        link.send(Direction::Forward, Packet::new(number, 1000), at(0.0));
    }
    let mut marked = 0;
    while let Some(now) = link.next_event() {
        while let Some(outcome) = link.poll(now) {
            let Outcome::Delivered { frame, .. } = outcome else { panic!("{outcome:?}") };
            marked += u64::from(frame.marked);
        }
    }
    let stats = link.stats(Direction::Forward);
    assert_eq!((stats.delivered, stats.drops.total(), stats.marked), (1500, 0, marked));
    assert!(marked > 40);
}
