//! Eifel detection by two header bits, end to end: Ludwig and Katz 2000, where the mark of a
//! retransmission is echoed in whatever acknowledgment comes. `rxt.rs` has the same cases for the
//! draft, whose receiver answers at once.

use crate::script::pair::{End, connected};
use crate::script::{base, end_of, number_of};
use rtolab_tcp::config::{InitialWindow, RxtAnswer};
use rtolab_tcp::spurious::Verdict;
use rtolab_tcp::{Event, Flags, Segment, specification};

const ECHO: Flags = Flags::RXT_ECHO;

/// Four segments that left at 10 ms, and the retransmission of the first.
struct Timeout {
    sender: End,
    receiver: End,
    originals: Vec<Segment>,
    again: Segment,
}

fn timeout() -> Timeout {
    let mut config = base();
    config.window.initial = InitialWindow::Segments(4);
    config.receiver.ack_every = 2;
    config.receiver.rxt_answer = RxtAnswer::NextAck;
    let sending = specification::sender("newreno+eifel:two-bits", &config).unwrap();
    let (mut sender, receiver) = connected(&sending, &config, 10);
    sender.connection.write(100_000);
    let originals = sender.sends(10);
    assert!(originals.iter().all(|segment| segment.flags == Flags::ACK));
    let at = sender.timer();
    let again = sender.sends_one(at);
    assert_eq!((number_of(again.seq), again.flags), (1, Flags::ACK | Flags::RXT));
    Timeout { sender, receiver, originals, again }
}

fn verdict(end: &End) -> Option<Verdict> {
    end.events.iter().rev().find_map(|event| match event {
        Event::Verdict { verdict, detector, .. } if *detector == "eifel:two-bits" => Some(*verdict),
        _ => None,
    })
}

fn numbers(segments: &[Segment]) -> Vec<u32> {
    segments.iter().map(|segment| number_of(segment.seq)).collect()
}

#[test]
fn t_rxt_1_an_acknowledgment_without_the_echo_is_of_originals() {
    let Timeout { mut sender, mut receiver, originals, .. } = timeout();
    assert_eq!(receiver.answers(&originals[0], 1020), []);
    let ack = receiver.answers(&originals[1], 1021)[0];
    assert_eq!((ack.ack, ack.flags), (end_of(2), Flags::ACK));
    let left = sender.answers(&ack, 1030);
    assert_eq!(verdict(&sender), Some(Verdict::Spurious));
    assert_eq!(numbers(&left), [5, 6]);
    assert!(left.iter().all(|segment| segment.flags == Flags::ACK));
}

#[test]
fn t_rxt_2_the_echo_waits_for_the_delayed_acknowledgment() {
    let Timeout { mut sender, mut receiver, again, .. } = timeout();
    // The originals are lost: a pure answer to the mark would leave now.
    assert_eq!(receiver.answers(&again, 1020), []);
    assert_eq!(receiver.timer(), 1220);
    let ack = receiver.sends_one(1220);
    assert_eq!((ack.ack, ack.flags), (end_of(1), Flags::ACK | ECHO));
    let left = sender.answers(&ack, 1230);
    assert_eq!(verdict(&sender), Some(Verdict::Genuine));
    assert_eq!(numbers(&left), [2, 3]);
    assert!(left.iter().all(|segment| segment.flags.has(Flags::RXT)));
}

#[test]
fn t_rxt_2_one_acknowledgment_of_the_retransmission_and_an_original_has_the_echo() {
    let Timeout { mut sender, mut receiver, originals, again } = timeout();
    // Segment 1 was lost and 2 late.
    assert_eq!(receiver.answers(&again, 1020), []);
    let ack = receiver.answers(&originals[1], 1021)[0];
    assert_eq!((ack.ack, ack.flags), (end_of(2), Flags::ACK | ECHO));
    assert_eq!(numbers(&sender.answers(&ack, 1030)), [3, 4]);
    assert_eq!(verdict(&sender), Some(Verdict::Genuine));
}

#[test]
fn t_rxt_2_a_delayed_acknowledgment_hides_the_original() {
    let Timeout { mut sender, mut receiver, originals, again } = timeout();
    assert_eq!(receiver.answers(&originals[0], 1020), []);
    // A duplicate is answered at once by any receiver, and the answer covers the original.
    let ack = receiver.answers(&again, 1021)[0];
    assert_eq!((ack.ack, ack.flags), (end_of(1), Flags::ACK | ECHO));
    sender.answers(&ack, 1030);
    assert_eq!(verdict(&sender), Some(Verdict::Genuine));
}

#[test]
fn t_rxt_2_data_takes_the_echo_along() {
    let Timeout { mut sender, mut receiver, again, .. } = timeout();
    receiver.gets(&again, 1020);
    receiver.connection.write(1000);
    let data = receiver.sends_one(1020);
    assert_eq!((data.len, data.ack, data.flags), (1000, end_of(1), Flags::ACK | ECHO));
    sender.answers(&data, 1030);
    assert_eq!(verdict(&sender), Some(Verdict::Genuine));
}

#[test]
fn t_rxt_3_the_answer_to_a_duplicate_starts_no_fast_retransmit() {
    let Timeout { mut sender, mut receiver, originals, again } = timeout();
    for segment in &originals {
        for ack in receiver.answers(segment, 1020) {
            sender.answers(&ack, 1030);
        }
    }
    let una = sender.una();
    for _ in 0..4 {
        let ack = receiver.answers(&again, 1040)[0];
        assert_eq!((ack.ack, ack.flags), (una, Flags::ACK | ECHO));
        assert_eq!(sender.answers(&ack, 1050), []);
    }
    let fast = |event: &Event| matches!(event, Event::FastRetransmit(_));
    assert!(!sender.events.iter().any(fast));
}
