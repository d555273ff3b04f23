//! Packet scripts of duplicate ACKs after handovers.

use rtolab_time::Duration;

use super::super::Middlebox;
use super::super::script::{Script, ack, data};
use super::*;

/// A script with handovers from 10 s to 10.6 s and from 20 s to 20.5 s.
fn script() -> Script {
    let span = |at: u64, length: u64| Interval {
        at: Instant::START + Duration::from_secs(at),
        length: Duration::from_millis(length),
    };
    Script::new(Middlebox::Handover(Handover::new(Arc::from([span(10, 600), span(20, 500)]))))
}

#[test]
fn three_duplicates_of_the_newest_ack_leave_at_the_end_of_each_handover() {
    let mut script = script();
    script.pass([data(1), data(2), ack(1), data(3), ack(2), ack(1)]);
    assert_eq!(script.timer(), Some(10_600));
    assert_eq!(script.at(10_600).on_timer(), ["local A2"; 3]);
    script.pass([ack(3)]);
    assert_eq!(script.timer(), Some(20_500));
    assert_eq!(script.at(20_500).on_timer(), ["local A3"; 3]);
    assert_eq!(script.timer(), None);
}

#[test]
fn a_flow_without_an_ack_is_not_notified() {
    let mut script = script();
    script.pass([data(1)]);
    assert_eq!(script.at(10_600).on_timer(), [""; 0]);
}
