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

/// The first sentence about a path without a loss, after a second capture showed these losses.
fn corrected(out: PairDirection, back: PairDirection) -> (String, String) {
    let mut sentences = sentences::of_capture(&totals(|_| {}), None);
    let mut sentence = sentences.remove(0);
    sentences::with_losses(&mut sentence, &pair(out, back));
    (sentence.text, sentence.basis)
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
    assert_eq!(text, "These paths lose no data.");
}

/// The sentence about losses without a queue, after a second capture.
fn with_delays(lost: u64, [least, most]: [f64; 2]) -> String {
    let acks_lost = totals(|totals| totals.ack_lost = 1);
    let mut sentence = advice::advice(&acks_lost, None).next().expect("advice");
    let out = PairDirection { delay: Some([least, least, most, most]), ..direction(100, lost, 0) };
    advice::with_second_capture(&mut sentence, &pair(out, direction(50, 1, 0)));
    sentence.text
}

#[test]
fn losses_in_both_directions_are_named() {
    assert!(with_delays(0, [0.01, 0.01]).starts_with("Acknowledgments were lost: look"));
    assert!(with_delays(1, [0.01, 0.01]).starts_with("Packets were lost in both directions: look"));
}

#[test]
fn the_verdict_gains_the_losses_of_the_second_capture() {
    let of = |before, lost| {
        let mut answer = CaptureAnswer {
            network: before,
            loss: None,
            sentences: sentences::of_capture(&totals(|_| {}), None),
            connections: vec![],
        };
        answer.pair(&pair(direction(100, 0, 0), direction(50, lost, 0)));
        assert!(answer.sentences[1].text.starts_with("Between the two captures, from the sender"));
        answer.network
    };
    assert_eq!([Healthy, Delayed, Lossy].map(|before| of(before, 0)), [Healthy, Delayed, Lossy]);
    assert_eq!(
        [Healthy, Delayed, Lossy].map(|before| of(before, 1)),
        [Lossy, LossyAndDelayed, Lossy]
    );
}
