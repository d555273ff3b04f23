//! Tests of the second pass, on ranges that are specified.

use super::*;
use crate::evidence::kinds;
use crate::history::Bound;
use crate::history::samples::{covering_ack, range};

/// The ranges of successive segments, with the times in milliseconds of their copies.
fn successive(copies: &[&[u64]]) -> Vec<RetransmittedRange> {
    let of = |(copies, index): (&&[u64], u32)| {
        let start = Seq::FIRST + 1 + 1000 * index;
        RetransmittedRange { start, end: start + 1000, ..range(copies) }
    };
    copies.iter().zip(0..).map(of).collect()
}

fn found(range: &RetransmittedRange) -> Vec<(&'static str, Bound)> {
    range.evidence.iter().map(|piece| (piece.kind.name, piece.bound)).collect()
}

/// Go-back-N retransmits both segments. The copy of the first one arrived 990 ms after the original
/// of the second one had left, and the ACK still expected the second one.
#[test]
fn without_sack_the_arrival_of_a_copy_shows_that_the_next_original_was_lost() {
    let lost = |expected_next: u32| {
        let mut ranges = successive(&[&[10, 1000], &[11, 1100]]);
        let sure = kinds()["overtaken-copies"];
        ranges[0].note(Bound::AtLeast(1).shown_by(9).of(sure));
        ranges[0].covering_ack = Some(covering_ack(1100));
        ranges[0].expected_next = Some(Seq::FIRST + 1 + expected_next);
        run(&mut ranges, &RttStatistics::default(), false);
        found(&ranges[1])
    };
    assert_eq!(lost(1000), [("overtaken-copies", Bound::AtLeast(1))]);
    assert_eq!(lost(2000), [], "the ACK expected data that was not retransmitted");
}

/// With SACK the order of the first covering ACKs decides, whatever they expected.
#[test]
fn with_sack_the_arrival_of_a_copy_shows_that_originals_acknowledged_later_were_lost() {
    let lost = |covered: [u64; 2]| {
        let mut ranges = successive(&[&[10, 1000], &[11, 1100]]);
        let sure = kinds()["overtaken-copies"];
        ranges[0].note(Bound::AtLeast(1).shown_by(9).of(sure));
        for (range, covered) in ranges.iter_mut().zip(covered) {
            range.covering_ack = Some(covering_ack(covered));
        }
        run(&mut ranges, &RttStatistics::default(), true);
        found(&ranges[1])
    };
    assert_eq!(lost([1100, 1200]), [("overtaken-copies", Bound::AtLeast(1))]);
    assert_eq!(lost([1200, 1100]), []);
    assert_eq!(lost([1100, 1100]), [], "one ACK covers both");
}
