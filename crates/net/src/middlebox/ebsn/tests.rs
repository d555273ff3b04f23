//! Packet scripts of explicit bad state notification (EBSN).

use super::super::Middlebox;
use super::super::script::{Script, ack, data};
use super::*;

/// A script with bad states from 10 s to 12 s and from 20 s to 20.4 s, and an interval of 500 ms.
fn script() -> Script {
    let span = |at: u64, length: u64| Interval {
        at: Instant::START + Duration::from_secs(at),
        length: Duration::from_millis(length),
    };
    let bad_states = Arc::from([span(10, 2000), span(20, 400)]);
    let ebsn = Ebsn::new(bad_states, Duration::from_millis(500));
    Script::new(Middlebox::Ebsn(ebsn))
}

#[test]
fn a_bad_state_is_notified_from_its_beginning_in_the_interval() {
    let mut script = script();
    script.pass([data(1), ack(1)]);
    for millis in [10_000, 10_500, 11_000, 11_500, 20_000] {
        assert_eq!(script.timer(), Some(millis));
        assert_eq!(script.at(millis).on_timer(), ["local notification"]);
    }
    assert_eq!(script.timer(), None);
}

#[test]
fn a_notification_is_a_datagram_of_56_bytes_to_the_sender() {
    let mut script = script();
    script.pass([data(1), ack(1)]);
    let mut outgoing = Vec::new();
    script.middlebox.on_timer(Instant::START + Duration::from_secs(10), &mut outgoing);
    let [OutgoingPacket { packet, .. }] = outgoing[..] else { panic!("{outgoing:?}") };
    assert!(packet.is_datagram() && !packet.to_receiver);
    assert_eq!((packet.bytes, packet.segment.len), (56, 0));
}

#[test]
fn a_sender_to_which_no_packet_went_is_not_notified() {
    let mut script = script();
    script.pass([data(1)]);
    assert_eq!(script.at(10_000).on_timer(), [""; 0]);
}
