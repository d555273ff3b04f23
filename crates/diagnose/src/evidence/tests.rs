//! Tests of kinds of evidence that need no ACK, on ranges that are specified.

use rtolab_time::{Duration, Instant};

use super::input::{ArrivedCopy, Pair, Retransmitting};
use super::*;
use crate::history::samples::{at, covering_ack, range, retransmission};
use crate::history::{Arrival, Bound, Original, RetransmittedRange};
use crate::rtt::RttStatistics;

const WINDOW: Duration = Duration::from_millis(25);

fn bound(finding: Option<crate::history::Finding>) -> Option<Bound> {
    finding.map(|one| one.bound)
}

fn round_trips(millis: u64) -> RttStatistics {
    let mut rtt = RttStatistics::default();
    rtt.measure_newest(at(5000), at(5000 + millis));
    rtt
}

#[test]
fn a_capture_at_the_receiver_shows_which_copy_arrived_first() {
    let seen_range = range(&[10, 1000, 3000]);
    let seen = |arrival| bound(arrival::both_copies_seen(&seen_range, 2, &retransmission(arrival)));
    assert_eq!(seen(Arrival::SeenBefore), Some(Bound::AtMost(1)));
    assert_eq!(seen(Arrival::New), None);
    let fills = |arrival| bound(arrival::fills_hole(&seen_range, 2, &retransmission(arrival)));
    assert_eq!(fills(Arrival::FillsHole), Some(Bound::AtLeast(2)));
    assert_eq!(fills(Arrival::Reordered), None);
    let replaces =
        |arrival| bound(arrival::original_discarded(&seen_range, 2, &retransmission(arrival)));
    assert_eq!(replaces(Arrival::ReplacesDiscarded), Some(Bound::AtLeast(2)));
    assert_eq!(replaces(Arrival::FillsHole), None);
    let acked = |arrival| {
        bound(already_acknowledged::at_receiver(&seen_range, 2, &retransmission(arrival)))
    };
    assert_eq!(acked(Arrival::Acknowledged), Some(Bound::AtMost(1)));
    assert_eq!(acked(Arrival::SeenBefore), None);
}

/// The newest copy is at index 2.
fn retransmitting(is_known: bool, newest: u64) -> Retransmitting {
    Retransmitting {
        frame: 20,
        is_known,
        newest: Some((at(newest), 15)),
        reordering_window: WINDOW,
    }
}

#[test]
fn what_was_acknowledged_before_its_retransmission_had_arrived() {
    let copies = range(&[10, 1000, 3000]);
    let of =
        |is_known| already_acknowledged::on_retransmission(&copies, &retransmitting(is_known, 0));
    assert_eq!(bound(of(true)), Some(Bound::AtMost(1)));
    assert_eq!(of(true).map(|one| one.frame), Some(20));
    assert_eq!(bound(of(false)), None);
}

/// RACK: a copy is lost if a packet that left more than the reordering window later has arrived.
#[test]
fn copies_that_later_packets_overtook_are_lost() {
    let copies = range(&[10, 1000, 3000]);
    let of = |range: &RetransmittedRange, newest| {
        bound(overtaken_copies::on_retransmission(range, &retransmitting(false, newest)))
    };
    assert_eq!(of(&copies, 35), None);
    assert_eq!(of(&copies, 36), Some(Bound::AtLeast(1)));
    assert_eq!(of(&copies, 1025), Some(Bound::AtLeast(1)));
    assert_eq!(of(&copies, 1026), Some(Bound::AtLeast(2)));
    assert_eq!(of(&copies, 9000), Some(Bound::AtLeast(2)), "one copy arrived");
    let syn = RetransmittedRange { is_syn: true, ..copies.clone() };
    assert_eq!(of(&syn, 9000), None);
    let known = overtaken_copies::on_retransmission(&copies, &retransmitting(true, 9000));
    assert_eq!(bound(known), None);
    // The capture lacks the original.
    assert_eq!(of(&range(&[0, 1000, 3000]), 9000), None);
    let other = ArrivedCopy { sent: at(1026), frame: 15, reordering_window: WINDOW };
    let found = overtaken_copies::by_arrived_copy(&copies, &other);
    assert_eq!(bound(found), Some(Bound::AtLeast(2)));
}

#[test]
fn copies_sent_well_after_an_arrival_were_not_the_first() {
    let of = |range: &RetransmittedRange, sent| {
        let other = ArrivedCopy { sent: at(sent), frame: 15, reordering_window: WINDOW };
        bound(arrived_before::by_arrived_copy(range, &other))
    };
    let copies = range(&[10, 1000, 3000]);
    assert_eq!(of(&copies, 974), Some(Bound::AtMost(0)));
    assert_eq!(of(&copies, 975), Some(Bound::AtMost(1)), "the copy left within the window");
    assert_eq!(of(&copies, 2974), Some(Bound::AtMost(1)));
    assert_eq!(of(&copies, 2975), None, "all copies left before");
    let later = range(&[100, 1000]);
    assert_eq!(of(&later, 74), None, "even the original left after it");
    assert_eq!(of(&RetransmittedRange { is_syn: true, ..copies }, 974), None);
}

/// The smallest round trip takes 1000 ms: a copy that left less than 600 ms before is not answered.
#[test]
fn an_ack_that_comes_too_soon_answers_an_earlier_copy() {
    let of = |covered_at| {
        let covering_ack = Some(covering_ack(covered_at));
        let copies = RetransmittedRange { covering_ack, ..range(&[10, 1000, 3000]) };
        ack_too_soon::soonest(&copies, &round_trips(1000))
    };
    assert_eq!(of(1000), Some(0));
    assert_eq!(of(1599), Some(0));
    assert_eq!(of(1600), None, "the ACK comes before the third copy");
    assert_eq!(of(3599), Some(1));
    assert_eq!(of(3600), None);
    assert_eq!(of(999), None, "the ACK comes before all copies");
}

/// Ranges whose originals left one after the other, the second covered after this time.
fn of_next([first, second]: [u64; 2], covered: [u64; 2], rtt_ms: u64) -> Option<Bound> {
    let of = |sent, covered| RetransmittedRange {
        covering_ack: Some(covering_ack(covered)),
        ..range(&[sent, 2000])
    };
    let (range, next) = (of(first, covered[0]), of(second, covered[1]));
    let rtt = round_trips(rtt_ms);
    bound(original_missing::of_next(&Pair { range: &range, next: &next, rtt: &rtt }))
}

/// A delayed ACK takes 250 ms at most, or 60 % of the smallest round trip.
#[test]
fn an_original_that_is_not_acknowledged_after_the_one_before_it_was_lost() {
    let lost = Some(Bound::AtLeast(1));
    assert_eq!(of_next([10, 11], [2100, 2350], 100), lost);
    assert_eq!(of_next([10, 11], [2100, 2349], 100), None);
    assert_eq!(of_next([10, 259], [2100, 2350], 100), lost);
    assert_eq!(of_next([10, 260], [2100, 2350], 100), None, "not right after it");
    assert_eq!(of_next([10, 11], [2100, 2700], 1000), lost);
    assert_eq!(of_next([10, 11], [2100, 2699], 1000), None);
    assert_eq!(of_next([0, 1], [2100, 2350], 100), None, "the capture lacks the original");
}

/// The original of the next range left at 500 ms and arrived after this range was acknowledged.
#[test]
fn an_original_that_arrives_after_the_range_shows_that_later_copies_were_unneeded() {
    let of = |sent, covered: [u64; 2]| {
        let this = RetransmittedRange {
            covering_ack: Some(covering_ack(covered[0])),
            ..range(&[10, 1000])
        };
        let mut next = RetransmittedRange {
            covering_ack: Some(covering_ack(covered[1])),
            ..range(&[sent, 2000])
        };
        next.note(Bound::AtMost(0).shown_by(9).of(&arrived_before::KIND));
        let rtt = round_trips(100);
        bound(originals_in_order::of_first(&Pair { range: &this, next: &next, rtt: &rtt }))
    };
    assert_eq!(of(500, [1100, 1200]), Some(Bound::AtMost(0)));
    assert_eq!(of(999, [1100, 1200]), Some(Bound::AtMost(0)));
    assert_eq!(of(1000, [1100, 1200]), None, "it left no earlier than the copy");
    assert_eq!(of(500, [1100, 1100]), None, "one ACK covers both");
    assert_eq!(of(9, [1100, 1200]), None, "even the original left after it");
}

#[test]
fn bounds_leave_the_copies_that_may_have_arrived_first() {
    let of = |bounds: &[Bound]| {
        let mut found = range(&[10, 1000, 3000]);
        for bound in bounds {
            found.note(bound.shown_by(9).of(&arrived_before::KIND));
        }
        found
    };
    let (most, least) = (Bound::AtMost, Bound::AtLeast);
    for (bounds, expected, original, arrived) in [
        (&[][..], (None, 0), Original::Unknown, None),
        (&[most(2), most(1)], (Some(1), 0), Original::Unknown, None),
        (&[most(0), most(1)], (Some(0), 0), Original::Arrived, Some(0)),
        (&[least(1), least(2)], (None, 2), Original::Lost, Some(2)),
        (&[least(1), most(1)], (Some(1), 1), Original::Lost, Some(1)),
        (&[least(1), most(0)], (Some(0), 1), Original::Unknown, None),
    ] {
        let found = of(bounds);
        assert_eq!(found.bounds(), expected, "{bounds:?}");
        assert_eq!(found.original(), original, "{bounds:?}");
        assert_eq!(found.arrived_copy(), arrived, "{bounds:?}");
    }
    assert_eq!(of(&[least(2)]).delivered_copy(), Some(at(3000)));
    assert_eq!(of(&[least(2), most(2)]).delivered_copy(), Some(at(3000)));
    assert_eq!(of(&[least(2), most(1)]).delivered_copy(), None, "they contradict each other");
    assert_eq!(of(&[least(1)]).delivered_copy(), None);
    assert_eq!(of(&[most(1), most(1)]).evidence.len(), 1, "the same evidence counts once");
    assert_eq!(of(&[]).first_retransmitted(), Some(at(1000)));
    assert_eq!(range(&[10]).first_retransmitted(), None::<Instant>);
}

/// The receiver misses the first two of three copies, unless its D-SACKs report one of them.
#[test]
fn copies_that_the_receiver_still_misses_did_not_reach_its_tcp() {
    let of = |index, arrival, reported, duplicates| {
        let mut copies = range(&[10, 1000, 3000]);
        copies.note_still_missing(at(reported), 20);
        copies.duplicates = duplicates;
        let copy = retransmission(arrival);
        let found = bound(still_missing::at_receiver(&copies, index, &copy));
        (found, bound(arrival::both_copies_seen(&copies, index, &copy)))
    };
    let (seen, least) = (Arrival::SeenBefore, |index| (Some(Bound::AtLeast(index)), None));
    assert_eq!([1, 2].map(|index| of(index, seen, 1001, 0)), [1, 2].map(least));
    assert_eq!(of(1, seen, 11, 0), least(1));
    for (found, first) in [(of(2, seen, 11, 0), 1), (of(2, seen, 1001, 1), 1)] {
        assert_eq!(found, (None, Some(Bound::AtMost(first))));
    }
    assert_eq!(of(1, seen, 10, 0), (None, Some(Bound::AtMost(0))), "it passed after the original");
    assert_eq!(of(2, seen, 9000, 0), least(2), "one copy arrived");
    assert_eq!(of(1, Arrival::FillsHole, 1001, 0), (None, None));
}
