//! False claims of a receiver, and how its peer reacts to them.

use std::ops::Range;

use crate::script::base;
use crate::script::pair::{End, connected};
use rtolab_tcp::config::{FalseReport, InitialWindow};
use rtolab_tcp::spurious::Verdict;
use rtolab_tcp::{Event, Segment, Seq, specification};

const SEGMENT: u64 = 1000;

/// A sender that has sent four segments, and a receiver that makes this false claim.
fn after_four_segments(false_report: FalseReport, sender: &str) -> (End, End, Vec<Segment>) {
    let mut config = base();
    config.timestamps = true;
    config.dsack = true;
    config.window.initial = InitialWindow::Segments(4);
    let mut misbehaving = config.clone();
    misbehaving.receiver.lie = Some(false_report);
    let (mut a, b) = connected(&specification::sender(sender, &config).unwrap(), &misbehaving, 0);
    a.connection.write(100 * SEGMENT);
    let sent = a.sends(10);
    assert_eq!(sent.len(), 4);
    (a, b, sent)
}

/// The bytes that each answer acknowledges.
fn acknowledged_bytes(answers: &[Segment]) -> Vec<u64> {
    answers.iter().map(|ack| ack.ack.since(Seq::FIRST + 1)).collect()
}

/// The verdict of the sender on its retransmissions, after all of its first
/// four segments but these were lost.
fn after_a_loss(false_report: FalseReport, sender: &str, arrived: Range<usize>) -> Option<Verdict> {
    let (mut a, mut b, sent) = after_four_segments(false_report, sender);
    for segment in &sent[arrived] {
        for ack in b.answers(segment, 50) {
            a.gets(&ack, 50);
        }
    }
    let retransmissions = a.sends(50);
    let millis = if retransmissions.is_empty() { a.timer() } else { 50 };
    for round in 0..3 {
        let millis = millis + 100 * round;
        let sent = if round == 0 { retransmissions.clone() } else { Vec::new() };
        for segment in sent.into_iter().chain(a.sends(millis)) {
            for ack in b.answers(&segment, millis + 50) {
                a.gets(&ack, millis + 50);
            }
        }
    }
    a.sends(millis + 400);
    a.events.iter().find_map(|event| match event {
        Event::Verdict { verdict, .. } => Some(*verdict),
        _ => None,
    })
}

#[test]
fn divided_acknowledgments_add_up() {
    let (_, mut b, sent) = after_four_segments(FalseReport::AckDivision, "sack");
    let answers = b.answers(&sent[0], 20);
    assert_eq!(acknowledged_bytes(&answers), [125, 250, 375, 500, 625, 750, 875, 1000]);
    assert_eq!(acknowledged_bytes(&b.answers(&sent[1], 30)).last(), Some(&2000));
    b.sends_nothing(30);
}

#[test]
fn duplicates_are_repeated_while_a_segment_is_missing() {
    let (_, mut b, sent) = after_four_segments(FalseReport::SpoofedDuplicates, "sack");
    assert_eq!(acknowledged_bytes(&b.answers(&sent[0], 20)), [1000]);
    assert_eq!(acknowledged_bytes(&b.answers(&sent[2], 20)), [1000; 4]);
    assert_eq!(acknowledged_bytes(&b.answers(&sent[3], 20)), [1000; 4]);
    assert_eq!(acknowledged_bytes(&b.answers(&sent[1], 20)), [4000]);
}

#[test]
fn an_ack_of_new_data_below_another_gap_is_not_repeated() {
    let (_, mut b, sent) = after_four_segments(FalseReport::SpoofedDuplicates, "sack");
    assert_eq!(acknowledged_bytes(&b.answers(&sent[3], 20)), [0; 4]);
    assert_eq!(acknowledged_bytes(&b.answers(&sent[1], 20)), [0; 4]);
    assert_eq!(acknowledged_bytes(&b.answers(&sent[0], 20)), [2000]);
}

#[test]
fn an_optimistic_ack_covers_lost_data() {
    let (_, mut b, sent) = after_four_segments(FalseReport::Optimistic, "sack");
    assert_eq!(acknowledged_bytes(&b.answers(&sent[0], 20)), [1250]);
    assert_eq!(acknowledged_bytes(&b.answers(&sent[3], 20)), [5000]);
    // A retransmission is acknowledged truthfully, so that neither end waits for ever.
    assert_eq!(acknowledged_bytes(&b.answers(&sent[1], 30)), [4000]);
    assert_eq!(b.connection.receiver().available(), 4000);
}

#[test]
fn a_false_dsack_names_the_needed_retransmission() {
    let (_, mut b, sent) = after_four_segments(FalseReport::FalseDsack, "sack");
    b.answers(&sent[0], 20);
    b.answers(&sent[2], 20);
    let answer = b.answers(&sent[1], 30)[0];
    assert!(answer.sack_blocks().eq([sent[1].seq..sent[1].end()]), "{answer:?}");
    // Data that arrives in order and without a pause gets no false D-SACK.
    assert_eq!(b.answers(&sent[3], 30)[0].sack_blocks().count(), 0);
}

#[test]
fn a_false_echo_deceives_eifel_but_not_its_safe_variant() {
    let found = |sender| after_a_loss(FalseReport::OldEcho, sender, 1..3);
    assert_eq!(found("sack+eifel:rfc3522"), Some(Verdict::Spurious));
    assert_eq!(found("sack+eifel:safe"), Some(Verdict::Genuine));
}

#[test]
fn a_false_dsack_deceives_senders_that_undo_by_dsack() {
    let found = |sender| after_a_loss(FalseReport::FalseDsack, sender, 1..4);
    assert_eq!(found("sack+dsack"), Some(Verdict::Spurious));
    assert_eq!(found("sack+eifel:rfc3522"), Some(Verdict::Genuine));
}
