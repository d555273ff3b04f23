//! Eifel detection by header bits, end to end: by the flag of draft-ludwig-tsvwg-tcp-rxt-flag-03,
//! whose receiver answers a marked retransmission at once, and by the two bits of Ludwig and Katz
//! 2000, where the next acknowledgment echoes the mark.

use crate::script::pair::{End, connected};
use crate::script::{base, end_of, number_of};
use rtolab_tcp::config::{InitialWindow, RxtAnswer};
use rtolab_tcp::spurious::Verdict;
use rtolab_tcp::{Event, Flags, Segment, specification};

const ECHO: Flags = Flags::RXT_ECHO;
const FLAG: (&str, RxtAnswer) = ("eifel:rxt", RxtAnswer::AtOnce);
const TWO_BITS: (&str, RxtAnswer) = ("eifel:two-bits", RxtAnswer::NextAck);

/// Four segments that were sent at 10 ms, and the retransmission of the first.
struct Timeout {
    detector: &'static str,
    sender: End,
    receiver: End,
    originals: Vec<Segment>,
    retransmission: Segment,
}

fn timeout((detector, answer): (&'static str, RxtAnswer)) -> Timeout {
    let mut config = base();
    config.window.initial = InitialWindow::Segments(4);
    config.receiver.ack_every = 2;
    config.receiver.rxt_answer = answer;
    let sending = specification::sender(&format!("newreno+{detector}"), &config).unwrap();
    let (mut sender, receiver) = connected(&sending, &config, 10);
    sender.connection.write(100_000);
    let originals = sender.sends(10);
    assert!(originals.iter().all(|segment| segment.flags == Flags::ACK));
    let at = sender.timer();
    let retransmission = sender.sends_one(at);
    assert_eq!(number_of(retransmission.seq), 1);
    assert_eq!(retransmission.flags, Flags::ACK | Flags::RXT);
    Timeout { detector, sender, receiver, originals, retransmission }
}

impl Timeout {
    fn verdict(&self) -> Option<Verdict> {
        self.sender.events.iter().rev().find_map(|event| match event {
            Event::Verdict { verdict, detector, .. } if *detector == self.detector => {
                Some(*verdict)
            }
            _ => None,
        })
    }

    /// The sender receives `ack` and then sends exactly these segments.
    fn acks(&mut self, ack: &Segment, millis: u64, sent: &[u32], flags: Flags) {
        let left = self.sender.answers(ack, millis);
        assert_eq!(left.iter().map(|segment| number_of(segment.seq)).collect::<Vec<_>>(), sent);
        assert!(left.iter().all(|segment| segment.flags == flags));
    }
}

#[test]
fn t_rxt_1_an_ack_without_the_echo_is_for_originals() {
    for variant in [FLAG, TWO_BITS] {
        let mut t = timeout(variant);
        assert_eq!(t.receiver.answers(&t.originals[0], 1020), []);
        let ack = t.receiver.answers(&t.originals[1], 1021)[0];
        assert_eq!((ack.ack, ack.flags), (end_of(2), Flags::ACK));
        t.acks(&ack, 1030, &[5, 6], Flags::ACK);
        assert_eq!(t.verdict(), Some(Verdict::Spurious));
    }
}

#[test]
fn t_rxt_2_the_flag_is_answered_at_once() {
    let mut t = timeout(FLAG);
    // The retransmission is the first of two in order.
    let ack = t.receiver.answers(&t.retransmission, 1020)[0];
    assert_eq!((ack.ack, ack.flags), (end_of(1), Flags::ACK | ECHO));
    t.acks(&ack, 1030, &[2, 3], Flags::ACK | Flags::RXT);
    assert_eq!(t.verdict(), Some(Verdict::Genuine));
}

#[test]
fn t_rxt_2_the_echo_of_two_bits_waits_for_the_delayed_acknowledgment() {
    let mut t = timeout(TWO_BITS);
    // The originals are lost: a pure answer to the mark would leave now.
    assert_eq!(t.receiver.answers(&t.retransmission, 1020), []);
    assert_eq!(t.receiver.timer(), 1220);
    let ack = t.receiver.sends_one(1220);
    assert_eq!((ack.ack, ack.flags), (end_of(1), Flags::ACK | ECHO));
    t.acks(&ack, 1230, &[2, 3], Flags::ACK | Flags::RXT);
    assert_eq!(t.verdict(), Some(Verdict::Genuine));
}

#[test]
fn t_rxt_2_one_acknowledgment_of_the_retransmission_and_an_original_has_the_echo() {
    let mut t = timeout(TWO_BITS);
    // Segment 1 was lost and 2 late.
    assert_eq!(t.receiver.answers(&t.retransmission, 1020), []);
    let ack = t.receiver.answers(&t.originals[1], 1021)[0];
    assert_eq!((ack.ack, ack.flags), (end_of(2), Flags::ACK | ECHO));
    t.acks(&ack, 1030, &[3, 4], Flags::ACK | Flags::RXT);
    assert_eq!(t.verdict(), Some(Verdict::Genuine));
}

#[test]
fn t_rxt_2_a_delayed_acknowledgment_hides_the_original() {
    for variant in [FLAG, TWO_BITS] {
        let mut t = timeout(variant);
        assert_eq!(t.receiver.answers(&t.originals[0], 1020), []);
        // Any receiver answers a duplicate at once, and the answer covers the original.
        let ack = t.receiver.answers(&t.retransmission, 1021)[0];
        assert_eq!((ack.ack, ack.flags), (end_of(1), Flags::ACK | ECHO));
        t.sender.answers(&ack, 1030);
        assert_eq!(t.verdict(), Some(Verdict::Genuine));
    }
}

#[test]
fn t_rxt_3_the_answer_to_a_duplicate_starts_no_fast_retransmit() {
    for variant in [FLAG, TWO_BITS] {
        let mut t = timeout(variant);
        for segment in &t.originals {
            for ack in t.receiver.answers(segment, 1020) {
                t.sender.answers(&ack, 1030);
            }
        }
        let una = t.sender.una();
        for _ in 0..4 {
            let ack = t.receiver.answers(&t.retransmission, 1040)[0];
            assert_eq!((ack.ack, ack.flags), (una, Flags::ACK | ECHO));
            t.acks(&ack, 1050, &[], Flags::ACK);
        }
        let fast = |event: &Event| matches!(event, Event::FastRetransmit(_));
        assert!(!t.sender.events.iter().any(fast));
    }
}

#[test]
fn data_does_not_carry_the_answer_to_the_flag() {
    let mut t = timeout(FLAG);
    t.receiver.connection.write(1000);
    let sent = t.receiver.answers(&t.retransmission, 1020);
    assert_eq!((sent[0].len, sent[0].flags), (0, Flags::ACK | ECHO));
    assert_eq!((sent[1].len, sent[1].flags), (1000, Flags::ACK));
}

#[test]
fn t_rxt_2_data_carries_the_echo_of_two_bits() {
    let mut t = timeout(TWO_BITS);
    t.receiver.gets(&t.retransmission, 1020);
    t.receiver.connection.write(1000);
    let data = t.receiver.sends_one(1020);
    assert_eq!((data.len, data.ack, data.flags), (1000, end_of(1), Flags::ACK | ECHO));
    t.sender.answers(&data, 1030);
    assert_eq!(t.verdict(), Some(Verdict::Genuine));
}
