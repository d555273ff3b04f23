//! PSH: RFC 9293 section 3.9.1.2.

use crate::script::pair::{End, connected};
use crate::script::{SEGMENT, base};
use rtolab_tcp::{Config, Flags, Segment};

fn sending(push: bool) -> (End, End) {
    let mut receiver = base();
    (receiver.receiver.ack_every, receiver.receiver.ack_pushed_at_once) = (2, true);
    connected(&Config { push, ..base() }, &receiver, 0)
}

fn pushed(segments: &[Segment]) -> Vec<bool> {
    segments.iter().map(|segment| segment.flags.has(Flags::PSH)).collect()
}

#[test]
fn the_last_segment_of_the_buffer_has_psh() {
    for push in [true, false] {
        let (mut sender, mut receiver) = sending(push);
        sender.connection.write(u64::from(2 * SEGMENT + 1));
        let sent = sender.sends(0);
        assert_eq!(pushed(&sent), [false, false, push]);
        receiver.answers(&sent[0], 0);
        receiver.answers(&sent[1], 0);
        assert_eq!(receiver.answers(&sent[2], 0).len(), usize::from(push));
    }
}

#[test]
fn a_retransmission_keeps_psh() {
    let (mut sender, _) = sending(true);
    sender.connection.write(u64::from(SEGMENT));
    assert_eq!(pushed(&sender.sends(0)), [true]);
    // More data is written, which does not change the retransmission.
    sender.connection.write(u64::from(SEGMENT));
    assert_eq!(pushed(&sender.sends(0)), [true]);
    let at = sender.timer();
    assert_eq!(pushed(&sender.sends(at)), [true]);
}

#[test]
fn a_fin_without_data_has_no_psh() {
    let (mut sender, _) = sending(true);
    sender.connection.close();
    assert_eq!(pushed(&sender.sends(0)), [false]);
}

/// `forced_push` is for data, even if a FIN follows right after half the largest window.
#[test]
fn a_fin_after_half_of_the_largest_window_has_no_psh() {
    let mut receiver = base();
    receiver.receiver.buffer = 8 * SEGMENT;
    let (mut sender, _) = connected(&Config { forced_push: true, ..base() }, &receiver, 0);
    sender.connection.write(u64::from(5 * SEGMENT));
    assert_eq!(pushed(&sender.sends(0)), [false, false, false, false, true]);
    sender.connection.close();
    assert_eq!(pushed(&sender.sends(0)), [false]);
}

/// Linux's `forced_push`: the first full segment after half the largest window.
#[test]
fn each_half_of_the_largest_window_has_psh_if_configured() {
    for (forced_push, expected) in [(true, vec![5]), (false, vec![])] {
        let mut receiver = base();
        receiver.receiver.buffer = 8 * SEGMENT;
        let (mut sender, _) = connected(&Config { forced_push, ..base() }, &receiver, 0);
        sender.connection.write(u64::from(100 * SEGMENT));
        let sent = pushed(&sender.sends(0));
        assert_eq!(sent.len(), 8);
        let marked: Vec<_> = (1..=sent.len()).filter(|number| sent[number - 1]).collect();
        assert_eq!(marked, expected);
    }
}
