//! Tests of segments that pass a capture at the receiver, but do not reach the receiver's TCP.

use rtolab_diagnose::{ConnectionReport, Necessity};

use crate::script::Event::{self, Ack, Data, Duplicate, Sacked};
use crate::script::Script;

/// The verdict on each retransmission in a capture, and the strongest evidence for it.
fn verdicts(report: &ConnectionReport) -> Vec<(Necessity, &'static str)> {
    let rows = report.retransmissions.iter();
    rows.map(|one| (one.verdict, one.evidence.first().map_or("", |piece| piece.kind))).collect()
}

/// The report on a capture at the receiver, with a round trip of 100 ms to the sender.
fn at_receiver(sack: bool, events: &[(u64, Event)]) -> ConnectionReport {
    Script::opened((100, 0), false, sack).add_events(events).report()
}

const DISCARDED: (Necessity, &str) = (Necessity::Needed, "still-missing");
const SEEN_TWICE: (Necessity, &str) = (Necessity::Unneeded, "both-copies-seen");

/// Segment 2 passes before segments 3 to 5, which the receiver reports while it misses 2.
const DISCARDS_2: [(u64, Event); 7] = [
    (200, Data(1)),
    (200, Ack(1)),
    (201, Data(2)),
    (202, Data(3)),
    (202, Duplicate(1, 3)),
    (203, Data(4)),
    (203, Sacked(1, 3, 4)),
];

#[test]
fn what_the_receiver_still_misses_did_not_reach_its_tcp() {
    let events = [&DISCARDS_2[..], &[(303, Data(2)), (303, Ack(4))]].concat();
    assert_eq!(verdicts(&at_receiver(true, &events)), [DISCARDED]);
}

/// The host discards the first retransmission, too: segment 5 passes after it and is reported.
#[test]
fn retransmissions_that_the_host_discards_were_needed() {
    let rest = [
        (303, Data(2)),
        (304, Data(5)),
        (304, Sacked(1, 3, 5)),
        (405, Data(2)),
        (405, Ack(5)),
        (500, Data(2)),
        (500, Ack(5)),
    ];
    let events = [&DISCARDS_2[..], &rest].concat();
    assert_eq!(verdicts(&at_receiver(true, &events)), [DISCARDED, DISCARDED, SEEN_TWICE]);
}

/// Segments 2 and 4 are missing. Both are retransmitted before the receiver's first answer, which
/// then expects segment 4.
#[test]
fn the_ack_of_a_gap_shows_that_the_next_one_is_still_missing() {
    let events = [
        (200, Data(1)),
        (200, Ack(1)),
        (201, Data(2)),
        (202, Data(3)),
        (202, Duplicate(1, 3)),
        (203, Data(4)),
        (204, Data(5)),
        (204, Duplicate(1, 5)),
        (303, Data(2)),
        (303, Data(4)),
        (303, Ack(3)),
        (304, Ack(5)),
    ];
    assert_eq!(verdicts(&at_receiver(true, &events)), [DISCARDED, DISCARDED]);
}

/// The first retransmission of segment 2 is discarded, so that no ACK ever expects segment 4. The
/// receiver has reported segment 5 next to it.
#[test]
fn a_gap_above_another_one_is_still_missing_if_the_segment_after_it_is_reported() {
    let events = |reported| {
        [
            (200, Data(1)),
            (200, Ack(1)),
            (201, Data(2)),
            (202, Data(3)),
            (202, Duplicate(1, 3)),
            (203, Data(4)),
            (204, Data(5)),
            (205, Data(6)),
            (205, Sacked(1, reported, 6)),
            (303, Data(2)),
            (304, Data(4)),
            (304, Sacked(1, 3, 6)),
            (305, Data(7)),
            (305, Sacked(1, 3, 7)),
            (405, Data(2)),
            (405, Ack(7)),
        ]
    };
    let of = |reported| verdicts(&at_receiver(true, &events(reported)));
    assert_eq!(of(5), [DISCARDED, DISCARDED, DISCARDED]);
    // An ACK has room for few blocks, so that segment 4 may have arrived without a report.
    assert_eq!(of(6), [DISCARDED, SEEN_TWICE, DISCARDED]);
}

/// Without SACK three duplicate ACKs report it.
#[test]
fn without_sack_three_duplicate_acks_report_what_is_missing() {
    let events = |duplicates: u32| {
        let mut events = vec![(200, Data(1)), (200, Ack(1)), (201, Data(2))];
        for n in 0..duplicates {
            let at = 210 + u64::from(n);
            events.extend([(at, Data(3 + n)), (at, Ack(1))]);
        }
        events.extend([(310, Data(2)), (310, Ack(2 + duplicates))]);
        events
    };
    let of = |duplicates| verdicts(&at_receiver(false, &events(duplicates)));
    assert_eq!(of(3), [DISCARDED]);
    assert_eq!(of(2), [SEEN_TWICE]);
}

/// A receiver that is late, whose acknowledgments are late, or that reports the segment twice, has
/// it.
#[test]
fn what_the_receiver_gets_late_did_reach_its_tcp() {
    // The host stands still: nothing after segment 2 is reported either.
    let stopped = [
        (200, Data(1)),
        (200, Ack(1)),
        (201, Data(2)),
        (202, Data(3)),
        (1201, Data(2)),
        (1300, Ack(2)),
        (1300, Ack(3)),
        (1300, Ack(3)),
    ];
    assert_eq!(verdicts(&at_receiver(true, &stopped)), [SEEN_TWICE]);
    // Segment 2 is lost before the capture point, and segment 3 arrives.
    let lost = [
        (200, Data(1)),
        (200, Ack(1)),
        (202, Data(3)),
        (202, Duplicate(1, 3)),
        (203, Data(4)),
        (203, Sacked(1, 3, 4)),
        (303, Data(2)),
        (304, Data(3)),
        (304, Ack(4)),
        (304, Ack(4)),
    ];
    let found = verdicts(&at_receiver(true, &lost));
    assert_eq!(found, [(Necessity::Needed, "fills-hole"), SEEN_TWICE]);
}

/// A loss on the rest of a path is an ordinary loss, and so is one in a capture at the sender.
#[test]
fn only_a_capture_at_the_receiver_says_that_the_host_discards_segments() {
    let events = [&DISCARDS_2[..], &[(303, Data(2)), (303, Ack(4))]].concat();
    for (near, far) in [(50, 50), (0, 100)] {
        let seen = |&(at, event): &(u64, Event)| match event {
            Data(_) => (at, event),
            _ => (at + far, event),
        };
        let mut events: Vec<_> = events.iter().map(seen).collect();
        events.sort_by_key(|(at, _)| *at);
        let report = Script::opened((near, far), false, true).add_events(&events).report();
        let [(_, evidence)] = verdicts(&report)[..] else { panic!("one retransmission") };
        assert!(!["still-missing", "both-copies-seen"].contains(&evidence), "{near} {evidence}");
    }
}
