//! Tests of when a watch reports verdicts, on packets that are specified one by one.

use rtolab_capture::RUN_START;
use rtolab_diagnose::{Watch, WatchLimits};
use rtolab_tcp::Flags;
use rtolab_time::Duration;

use crate::packets::packet;
use crate::script::Event::{self, Ack, Data};
use crate::script::Script;

/// The watch of a connection with these events, and with the echo of the last ACK.
fn watched(events: &[(u64, Event)], echo: u32) -> Watch {
    let mut script = Script::opened((0, 100), true, true);
    script.add_events(&[(1000, Data(1)), (1100, Ack(1))]);
    script.echo = echo;
    script.add_events(events);
    let mut watch = Watch::new(WatchLimits::default());
    for captured in &script.packets {
        watch.packet(captured);
    }
    watch
}

/// The number of retransmissions that the watch reports up to this time.
fn reported(watch: &mut Watch, millis: u64) -> usize {
    watch.advance(RUN_START + Duration::from_millis(millis));
    std::iter::from_fn(|| watch.poll()).map(|report| report.retransmissions.len()).sum()
}

#[test]
fn verdicts_are_reported_as_soon_as_the_episode_is_over() {
    let mut watch = watched(&[(2000, Data(2)), (2300, Data(2)), (2400, Ack(2))], 2301);
    assert_eq!(reported(&mut watch, 2400), 0, "a duplicate may still come");
    assert_eq!(reported(&mut watch, 6000), 1);
    assert_eq!(reported(&mut watch, 60_000), 0, "each is reported once");
}

/// 3 to 5 are still outstanding, so the episode has not ended.
#[test]
fn settled_verdicts_wait_ten_seconds_for_the_end_of_the_episode() {
    let mut events: Vec<_> = (2..=5).map(|number| (2000, Data(number))).collect();
    events.extend([(2300, Data(2)), (2400, Ack(2))]);
    let mut watch = watched(&events, 2301);
    assert_eq!(reported(&mut watch, 12_000), 0);
    assert_eq!(reported(&mut watch, 12_800), 1);
}

#[test]
fn a_connection_that_is_idle_for_longer_than_the_limit_is_over() {
    let mut script = Script::opened((0, 100), true, true);
    script.add_events(&[(1000, Data(1)), (1100, Ack(1))]);
    let idle = Duration::from_secs(60);
    let mut watch = Watch::new(WatchLimits { idle, ..WatchLimits::default() });
    for captured in &script.packets {
        watch.packet(captured);
    }
    for (millis, open) in [(1100, 1), (61_000, 1), (67_000, 0)] {
        watch.advance(RUN_START + Duration::from_millis(millis));
        assert_eq!(watch.totals().open, open, "{millis} ms");
    }
}

/// Nothing acknowledges the retransmission. A closed connection may still retransmit for ten
/// seconds.
#[test]
fn the_last_verdicts_of_a_closed_connection_are_reported_after_ten_seconds() {
    let mut script = Script::opened((0, 100), true, true);
    script.add_events(&[(1000, Data(1)), (1100, Ack(1)), (2000, Data(2)), (2300, Data(2))]);
    let mut watch = Watch::new(WatchLimits::default());
    for captured in &script.packets {
        watch.packet(captured);
    }
    let mut reset = script.packets[1].clone();
    reset.packet.at = RUN_START + Duration::from_millis(2400);
    (reset.packet.segment.flags, reset.packet.segment.seq) = (Flags::RST, 8);
    watch.packet(&reset);
    assert_eq!(reported(&mut watch, 12_000), 0);
    assert_eq!(reported(&mut watch, 18_000), 1);
}

#[test]
fn a_quarter_of_the_connections_is_evicted_when_there_is_one_too_many() {
    let mut watch = Watch::new(WatchLimits { connections: 100, ..WatchLimits::default() });
    let mut evicted_with = |client: u32| {
        watch.packet(&packet(u64::from(client), client, Flags::SYN, (0, 0)));
        watch.totals().evicted
    };
    assert!((1..=100).all(|client| evicted_with(client) == 0));
    assert_eq!(evicted_with(101), 25);
}
