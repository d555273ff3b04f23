//! Packet scripts of Freeze-TCP.

use super::super::Middlebox;
use super::super::script::{Script, ack, data};
use super::*;

/// A script with disconnections from 10 s to 12 s and from 20 s to 21 s, and a warning of 500 ms.
fn script() -> Script {
    let span = |at: u64, length: u64| Interval {
        at: Instant::START + Duration::from_secs(at),
        length: Duration::from_secs(length),
    };
    let disconnections = Arc::from([span(10, 2), span(20, 1)]);
    let schedule = FreezeSchedule::new(disconnections, Duration::from_millis(500));
    Script::new(Middlebox::Freeze(Freeze::new(schedule)))
}

#[test]
fn the_window_is_closed_before_a_disconnection_and_reopened_after_it() {
    let mut script = script();
    script.pass([data(1), data(2), ack(1), ack(2)]);
    assert_eq!(script.timer(), Some(9500));
    assert_eq!(script.at(9500).on_timer(), ["local A2 closed"]);
    assert_eq!(script.timer(), Some(12_000));
    // Data in flight is still acknowledged, and the window stays closed.
    script.pass([data(3)]);
    assert_eq!(script.on_packet(ack(3)), ["A3 closed"]);
    assert_eq!(script.at(12_000).on_timer(), ["local A3"; 3]);
    assert_eq!(script.on_packet(ack(4)), ["A4"]);
    assert_eq!(script.timer(), Some(19_500));
}

#[test]
fn after_the_last_disconnection_there_is_no_timer() {
    let mut script = script();
    script.pass([data(1), ack(1)]);
    for millis in [9_500, 12_000, 19_500, 21_000] {
        assert_eq!(script.timer(), Some(millis));
        script.at(millis).on_timer();
    }
    assert_eq!(script.timer(), None);
    assert_eq!(script.on_packet(ack(2)), ["A2"]);
}

#[test]
fn a_flow_without_acks_is_not_frozen() {
    let mut script = script();
    script.pass([data(1)]);
    assert_eq!(script.at(9_500).on_timer(), [""; 0]);
}

#[test]
fn a_reordered_ack_does_not_replace_the_newest_one() {
    let mut script = script();
    script.pass([data(1), data(2), ack(2), ack(1)]);
    assert_eq!(script.at(9_500).on_timer(), ["local A2 closed"]);
}
