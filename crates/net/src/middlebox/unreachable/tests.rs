//! Packet scripts of ICMP messages.

use super::super::Middlebox;
use super::super::script::{Script, ack, data, start_of};
use super::*;

/// A script with a link that is down from 10 s to 12 s, and a message a second.
fn script() -> Script {
    let down =
        Interval { at: Instant::START + Duration::from_secs(10), length: Duration::from_secs(2) };
    let router = Unreachable::new([down].into(), Duration::from_secs(1));
    Script::new(Middlebox::Unreachable(router))
}

fn messages(script: &mut Script, millis: u64) -> Vec<Notification> {
    let (mut outgoing, at) = (Vec::new(), Instant::START + Duration::from_millis(millis));
    script.middlebox.on_packet(data(3), at, &mut outgoing);
    assert!(!outgoing[0].is_generated, "the packet itself proceeds");
    outgoing[1..].iter().filter_map(|one| one.packet.notification()).collect()
}

#[test]
fn a_packet_to_a_dead_link_is_answered_with_its_sequence_number() {
    let mut script = script();
    script.pass([data(1), ack(1)]);
    assert_eq!(messages(&mut script, 9_999), []);
    assert_eq!(messages(&mut script, 10_000), [Notification::Unreachable(start_of(3))]);
    assert_eq!(messages(&mut script, 12_000), []);
}

#[test]
fn there_is_at_most_one_message_in_the_interval() {
    let mut script = script();
    script.pass([data(1), ack(1)]);
    let found = [10_000, 10_500, 10_999, 11_000].map(|ms| messages(&mut script, ms).len());
    assert_eq!(found, [1, 0, 0, 1]);
}

#[test]
fn a_sender_to_which_no_packet_went_gets_no_message() {
    assert_eq!(messages(&mut script(), 10_000), []);
}
