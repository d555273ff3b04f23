//! Freezing as packet scripts.

use super::super::Middlebox;
use super::super::script::{Script, ack, data};
use super::*;

/// Disconnected from 10 s to 12 s and from 20 s to 21 s, foreseen half a second before.
fn script() -> Script {
    let span = |at: u64, length: u64| Interval {
        at: Instant::START + Duration::from_secs(at),
        length: Duration::from_secs(length),
    };
    let disconnections = Arc::from([span(10, 2), span(20, 1)]);
    Script::new(Middlebox::Freeze(Freeze::new(disconnections, Duration::from_millis(500))))
}

#[test]
fn before_a_disconnection_the_window_is_closed_and_after_it_opened() {
    let mut script = script();
    script.pass([data(1), data(2), ack(1), ack(2)]);
    assert_eq!(script.timer(), Some(9500));
    assert_eq!(script.at(9500).wakes(), ["local A2 closed"]);
    assert_eq!(script.timer(), Some(12_000));
    // What was on the way is still acknowledged, and the window stays closed.
    script.pass([data(3)]);
    assert_eq!(script.sees(ack(3)), ["A3 closed"]);
    assert_eq!(script.at(12_000).wakes(), ["local A3"; 3]);
    assert_eq!(script.sees(ack(4)), ["A4"]);
    assert_eq!(script.timer(), Some(19_500));
}

#[test]
fn after_the_last_disconnection_there_is_no_timer() {
    let mut script = script();
    script.pass([data(1), ack(1)]);
    for millis in [9_500, 12_000, 19_500, 21_000] {
        assert_eq!(script.timer(), Some(millis));
        script.at(millis).wakes();
    }
    assert_eq!(script.timer(), None);
    assert_eq!(script.sees(ack(2)), ["A2"]);
}

#[test]
fn a_flow_that_acknowledged_nothing_gets_nothing() {
    let mut script = script();
    script.pass([data(1)]);
    assert_eq!(script.at(9_500).wakes(), [""; 0]);
}

#[test]
fn an_overtaken_ack_does_not_take_the_newest_ones_place() {
    let mut script = script();
    script.pass([data(1), data(2), ack(2), ack(1)]);
    assert_eq!(script.at(9_500).wakes(), ["local A2 closed"]);
}
