//! Packet scripts of hints.

use rtolab_time::Duration;

use super::super::Middlebox;
use super::super::script::{Script, ack, data};
use super::*;

#[test]
fn each_end_of_a_disconnection_is_one_hint() {
    let down = |at: u64| Interval {
        at: Instant::START + Duration::from_secs(at),
        length: Duration::from_secs(2),
    };
    let hints = PathHint::new([down(10), down(20)].into());
    let mut script = Script::new(Middlebox::PathHint(hints));
    script.pass([data(1), ack(1)]);
    for millis in [12_000, 22_000] {
        assert_eq!(script.timer(), Some(millis));
        let mut outgoing = Vec::new();
        script.middlebox.on_timer(Instant::START + Duration::from_millis(millis), &mut outgoing);
        let hints: Vec<_> = outgoing.iter().map(|one| one.packet.notification()).collect();
        assert_eq!(hints, [Some(Notification::PathChange)]);
        assert!(outgoing[0].is_generated && !outgoing[0].packet.to_receiver);
    }
    assert_eq!(script.timer(), None);
}
