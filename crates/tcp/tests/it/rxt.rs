//! Eifel detection by a flag on retransmissions (draft-ludwig-tsvwg-tcp-rxt-flag-03), end to end.

use crate::script::pair::{End, connected};
use crate::script::{base, end_of, number_of};
use rtolab_tcp::spurious::Verdict;
use rtolab_tcp::{Event, Flags, Segment, specification};

/// Four segments that left at 10 ms, and the retransmission of the first.
struct Timeout {
    sender: End,
    receiver: End,
    originals: Vec<Segment>,
    again: Segment,
}

fn timeout() -> Timeout {
    let mut config = base();
    config.window.initial = rtolab_tcp::config::InitialWindow::Segments(4);
    config.receiver.ack_every = 2;
    let sending = specification::sender("newreno+eifel:rxt", &config).unwrap();
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
        Event::Verdict { verdict, detector, .. } if *detector == "eifel:rxt" => Some(*verdict),
        _ => None,
    })
}

#[test]
fn t_rxt_1_an_acknowledgment_without_the_flag_is_of_an_original() {
    let Timeout { mut sender, mut receiver, originals, .. } = timeout();
    assert_eq!(receiver.answers(&originals[0], 1020), []);
    let ack = receiver.answers(&originals[1], 1021)[0];
    assert_eq!((ack.ack, ack.flags), (end_of(2), Flags::ACK));
    let left = sender.answers(&ack, 1030);
    assert_eq!(verdict(&sender), Some(Verdict::Spurious));
    assert_eq!(left.iter().map(|segment| number_of(segment.seq)).collect::<Vec<_>>(), [5, 6]);
    assert!(left.iter().all(|segment| segment.flags == Flags::ACK));
}

#[test]
fn t_rxt_2_an_acknowledgment_with_the_flag_is_of_the_retransmission() {
    let Timeout { mut sender, mut receiver, again, .. } = timeout();
    // At once, though it is the first of two in order.
    let ack = receiver.answers(&again, 1020)[0];
    assert_eq!((ack.ack, ack.flags), (end_of(1), Flags::ACK | Flags::RXT_ECHO));
    let left = sender.answers(&ack, 1030);
    assert_eq!(verdict(&sender), Some(Verdict::Genuine));
    assert_eq!(left.iter().map(|segment| number_of(segment.seq)).collect::<Vec<_>>(), [2, 3]);
    assert!(left.iter().all(|segment| segment.flags.has(Flags::RXT)));
}

#[test]
fn t_rxt_2_a_delayed_acknowledgment_hides_the_original() {
    let Timeout { mut sender, mut receiver, originals, again } = timeout();
    assert_eq!(receiver.answers(&originals[0], 1020), []);
    let ack = receiver.answers(&again, 1021)[0];
    assert_eq!((ack.ack, ack.flags), (end_of(1), Flags::ACK | Flags::RXT_ECHO));
    sender.answers(&ack, 1030);
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
        assert_eq!((ack.ack, ack.flags), (una, Flags::ACK | Flags::RXT_ECHO));
        assert_eq!(sender.answers(&ack, 1050), []);
    }
    let fast = |event: &Event| matches!(event, Event::FastRetransmit(_));
    assert!(!sender.events.iter().any(fast));
}

#[test]
fn data_of_the_answering_end_does_not_take_the_answer_along() {
    let Timeout { mut receiver, again, .. } = timeout();
    receiver.connection.write(1000);
    let sent = receiver.answers(&again, 1020);
    assert_eq!((sent[0].len, sent[0].flags), (0, Flags::ACK | Flags::RXT_ECHO));
    assert_eq!((sent[1].len, sent[1].flags), (1000, Flags::ACK));
}
