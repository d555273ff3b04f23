//! Tests of the classes, on ranges that are specified. Round trips take 100 ms, and the timeout
//! 300 ms.

use rtolab_time::Duration;

use super::*;
use crate::evidence::kinds;
use crate::history::Bound;
use crate::history::samples::{at, covering_ack, range};

fn round_trips() -> RttStatistics {
    let mut rtt = RttStatistics::default();
    rtt.take(Duration::from_millis(100));
    rtt
}

fn assessment(verdict: Necessity, kinds_of_evidence: &[&str]) -> Assessment {
    let all = kinds();
    let piece = |name: &&str| Bound::AtMost(0).shown_by(9).of(all[name]);
    let evidence = kinds_of_evidence.iter().map(piece).collect();
    Assessment { verdict, confidence: 0.99, evidence, against: Vec::new() }
}

/// The class of an unneeded retransmission. The timestamp shows that, which both ACKs can have.
fn unneeded(range: &RetransmittedRange, dsack_seen: bool) -> TimeoutClass {
    let found = assessment(Necessity::Unneeded, &["older-timestamp"]);
    class(range, &found, (&round_trips(), dsack_seen))
}

/// A range with the original at 0, and retransmissions after these times in milliseconds.
fn covered(copies: &[u64], covering: CoveringAck) -> RetransmittedRange {
    let copies = [&[0], copies].concat();
    RetransmittedRange { covering_ack: Some(covering), ..range(&copies) }
}

#[test]
fn the_verdict_decides_unless_the_retransmission_was_unneeded() {
    let range = covered(&[1000], covering_ack(1100));
    let of = |verdict| class(&range, &assessment(verdict, &[]), (&round_trips(), false));
    assert_eq!(of(Necessity::Needed), TimeoutClass::Genuine);
    assert_eq!(of(Necessity::Unknown), TimeoutClass::Unknown);
    let uncovered = RetransmittedRange { covering_ack: None, ..range };
    assert_eq!(unneeded(&uncovered, false), TimeoutClass::Unknown);
}

/// Copies that were sent in 6 s came within less than a quarter of that.
#[test]
fn copies_that_the_path_released_at_once_were_late() {
    let covering = CoveringAck { reports_duplicate: true, ..covering_ack(8000) };
    let of = |duplicates, last| {
        let last_duplicate = Some(at(last));
        let range = covered(&[1000, 3000, 7000], covering);
        unneeded(&RetransmittedRange { duplicates, last_duplicate, ..range }, true)
    };
    assert_eq!(of(2, 9499), TimeoutClass::Spurious);
    assert_eq!(of(2, 9500), TimeoutClass::AckLost);
    assert_eq!(of(1, 8000), TimeoutClass::AckLost);
}

/// Nothing made the receiver acknowledge the original before the copy arrived.
#[test]
fn a_delayed_ack_that_reports_a_copy_was_late_unless_the_path_lost_copies() {
    let covering =
        CoveringAck { reports_duplicate: true, may_be_delayed: true, ..covering_ack(8000) };
    let of = |duplicates| {
        unneeded(&RetransmittedRange { duplicates, ..covered(&[100, 3000], covering) }, true)
    };
    assert_eq!(of(1), TimeoutClass::Unknown);
    assert_eq!(of(2), TimeoutClass::Spurious);
}

#[test]
fn a_receiver_that_reports_duplicates_would_have_reported_the_copy() {
    let lost = CoveringAck { jumps: true, ..covering_ack(1100) };
    assert_eq!(unneeded(&covered(&[1000], lost), false), TimeoutClass::AckLost);
    assert_eq!(unneeded(&covered(&[1000], lost), true), TimeoutClass::Spurious);
    let of_another = CoveringAck { has_dsack: true, ..lost };
    assert_eq!(unneeded(&covered(&[1000], of_another), true), TimeoutClass::AckLost);
    let syn = RetransmittedRange { is_syn: true, ..covered(&[1000], lost) };
    assert_eq!(unneeded(&syn, true), TimeoutClass::AckLost, "nobody reports a SYN");
}

/// 60 ms at the soonest, usually twice the smallest round trip, and the timeout if a queue built
/// up.
#[test]
fn the_time_shows_whether_the_ack_answers_a_copy() {
    let of = |millis, jumps| {
        let duplicate = DuplicateAck::Missing;
        unneeded(&covered(&[1000], CoveringAck { jumps, duplicate, ..covering_ack(millis) }), false)
    };
    for (millis, jumps, expected) in [
        (1059, false, TimeoutClass::Spurious),
        (1060, false, TimeoutClass::AckLost),
        (1200, false, TimeoutClass::AckLost),
        (1201, false, TimeoutClass::Spurious),
        (1300, true, TimeoutClass::AckLost),
        (1301, true, TimeoutClass::Spurious),
    ] {
        assert_eq!(of(millis, jumps), expected, "{millis} {jumps}");
    }
}

#[test]
fn an_ack_of_either_copy_is_classified_by_what_followed() {
    let of = |covering: CoveringAck| unneeded(&covered(&[1000], covering), false);
    let due = covering_ack(1100);
    assert_eq!(of(due), TimeoutClass::Spurious);
    assert_eq!(of(CoveringAck { all: true, ..due }), TimeoutClass::Unknown);
    let delayed = CoveringAck { may_be_delayed: true, all: true, ..due };
    assert_eq!(of(delayed), TimeoutClass::Spurious);
    // The ACK answers the second copy, before which the delayed ACK would have been sent.
    let second = CoveringAck { at: at(3100), ..delayed };
    assert_eq!(unneeded(&covered(&[1000, 3000], second), false), TimeoutClass::Unknown);
    let missing = CoveringAck { duplicate: DuplicateAck::Missing, ..due };
    assert_eq!(of(missing), TimeoutClass::AckLost);
    let came = CoveringAck { duplicate: DuplicateAck::Came, all: true, ..due };
    assert_eq!(of(came), TimeoutClass::Unknown);
    let syn = RetransmittedRange { is_syn: true, ..covered(&[1000], came) };
    assert_eq!(unneeded(&syn, false), TimeoutClass::Spurious);
    let duplicate = RetransmittedRange { duplicates: 1, ..covered(&[1000], missing) };
    assert_eq!(unneeded(&duplicate, false), TimeoutClass::Spurious);
}

#[test]
fn evidence_that_only_an_ack_of_the_original_gives_shows_a_late_one() {
    let range =
        covered(&[1000], CoveringAck { duplicate: DuplicateAck::Missing, ..covering_ack(1100) });
    let of = |kinds: &[&str]| {
        class(&range, &assessment(Necessity::Unneeded, kinds), (&round_trips(), false))
    };
    assert_eq!(of(&["older-timestamp", "arrived-before"]), TimeoutClass::AckLost);
    assert_eq!(of(&["older-timestamp", "ack-too-soon"]), TimeoutClass::Spurious);
    // Without a round trip the ACK may answer a copy.
    let found = assessment(Necessity::Unneeded, &["older-timestamp"]);
    assert_eq!(class(&range, &found, (&RttStatistics::default(), false)), TimeoutClass::AckLost);
}

#[test]
fn the_confidence_in_a_class_is_at_most_that_of_its_kind() {
    let of = |class, reports_duplicate| {
        let covering = CoveringAck { reports_duplicate, ..covering_ack(1100) };
        let found = assessment(Necessity::Unneeded, &[]);
        (confidence(class, &covered(&[1000], covering), &found) * 100.0).round() as u32
    };
    for class in [TimeoutClass::Spurious, TimeoutClass::AckLost] {
        assert_eq!([of(class, false), of(class, true)], [97, 90]);
    }
    assert_eq!([of(TimeoutClass::Genuine, true), of(TimeoutClass::Unknown, true)], [99, 0]);
}

#[test]
fn a_class_has_the_name_of_documents() {
    use TimeoutClass::{AckLost, Genuine, Spurious, Unknown};
    for class in [Genuine, AckLost, Spurious, Unknown] {
        assert_eq!(serde_json::json!(class), class.name());
    }
    assert_eq!(AckLost.name(), "ack-lost");
}
