//! Tests of what a second capture adds.

use super::NetworkVerdict::{Delayed, Healthy, Lossy, LossyAndDelayed};
use super::*;
use crate::pair::PairDirection;

fn direction(packets: u64, lost: u64, held: u64) -> PairDirection {
    PairDirection { packets, bytes: 0, lost, held, ..PairDirection::default() }
}

fn pair(out: PairDirection, back: PairDirection) -> Pair {
    Pair {
        clock_offset: 0.0,
        connections: 1,
        directions: [out, back],
        paired_verdicts: crate::paired_verdict::PairedVerdicts::new(),
    }
}

#[test]
fn the_fate_of_packets_is_told_for_each_direction() {
    let of = |lost, held| {
        let both = pair(direction(100, lost, held), direction(50, 0, 0));
        sentences::of_pair(&both).into_iter().map(|one| one.text).collect::<Vec<_>>()
    };
    let [out, back] = &of(1, 0)[..] else { panic!("two directions") };
    assert_eq!(
        out,
        "Between the two captures, from the sender to the receiver, 1 packet was lost."
    );
    assert_eq!(
        back,
        "Between the two captures, back to the sender, every packet arrived, none late."
    );
    assert!(of(0, 2)[0].ends_with("nothing was lost, 2 packets were held."));
    assert!(of(2, 1)[0].ends_with("2 packets were lost and 1 packet was held."));
    let mut ended = direction(100, 0, 0);
    (ended.missing_at_end, ended.delay) = (3, Some([0.01, 0.02, 0.03, 0.04]));
    let text = said(sentences::of_pair(&pair(ended, direction(50, 0, 0))));
    assert!(text.contains("After that, 3 packets were captured at the sending end only"), "{text}");
    assert!(
        text.contains(
            "(100 packets; one-way delay 10 ms to 40 ms, half below 20 ms, 99 % below 30 ms)"
        ),
        "{text}"
    );
    assert!(!of(1, 0)[0].contains("After that"));
}

/// Totals without a loss, with a second capture that shows these.
fn paired(out: PairDirection, back: PairDirection) -> CaptureTotals {
    totals(|totals| totals.paired = Some(Box::new([out, back])))
}

/// The first sentence about a path without a loss, with a second capture that shows these losses.
fn corrected(out: PairDirection, back: PairDirection) -> (String, String) {
    let first = sentences::of_capture(&paired(out, back), None).remove(0);
    (first.text, first.basis)
}

#[test]
fn losses_that_only_the_second_capture_shows_correct_the_answer() {
    let data = |lost| PairDirection { bytes: 1000, ..direction(100, lost, 0) };
    let acks = |lost| direction(50, lost, 0);
    let (text, basis) = corrected(data(1), acks(0));
    assert_eq!(text, "These paths lose 1.0 % of the packets to the receiver.");
    assert_eq!(basis, "1 of 100 packets and 0 of 50 packets");
    let (text, basis) = corrected(data(0), acks(1));
    assert_eq!(text, "These paths lose no data, but 2.0 % of the acknowledgments.");
    assert!(basis.starts_with("0 of 1000 data segments lost;"), "{basis}");
    let (text, _) = corrected(data(0), data(5));
    assert_eq!(text, "These paths lose no data, but 5.0 % of the packets back to the sender.");
    let (text, _) = corrected(data(1), acks(1));
    assert_eq!(
        text,
        "These paths lose 1.0 % of the packets to the receiver, and 2.0 % of the acknowledgments."
    );
    let (text, _) = corrected(data(0), acks(0));
    assert_eq!(text, "These paths lose nothing.");
}

/// The advice about a path that lost an acknowledgment, with a second capture.
fn with_delays(lost: u64, [least, most]: [f64; 2]) -> String {
    let out = PairDirection { delay: Some([least, least, most, most]), ..direction(100, lost, 0) };
    let mut acks_lost = paired(out, direction(50, 1, 0));
    acks_lost.ack_lost = 1;
    advice::advice(&acks_lost, None).next().expect("advice").text
}

#[test]
fn losses_in_both_directions_are_named() {
    assert!(with_delays(0, [0.01, 0.01]).starts_with("Acknowledgments were lost: look"));
    assert!(with_delays(1, [0.01, 0.01]).starts_with("Packets were lost in both directions: look"));
}

#[test]
fn the_verdict_gains_the_losses_of_the_second_capture() {
    let of = |lost, change: fn(&mut CaptureTotals)| {
        let mut totals = paired(direction(100, 0, 0), direction(50, lost, 0));
        change(&mut totals);
        network(&totals)
    };
    let changes: [fn(&mut CaptureTotals); 3] =
        [|_| {}, |totals| totals.spurious = 1, |totals| totals.lost = 1];
    assert_eq!(changes.map(|change| of(0, change)), [Healthy, Delayed, Lossy]);
    assert_eq!(changes.map(|change| of(1, change)), [Lossy, LossyAndDelayed, Lossy]);
}

#[test]
fn what_the_second_capture_shows_follows_the_first_sentence() {
    let mut answer = CaptureAnswer {
        network: Healthy,
        loss: None,
        sentences: sentences::of_capture(&totals(|_| {}), None),
        connections: vec![],
    };
    answer.pair(&pair(direction(100, 0, 0), direction(50, 1, 0)));
    assert!(answer.sentences[1].text.starts_with("Between the two captures, from the sender"));
}
