//! Tests of what totals imply.

use rtolab_capture::End;
use rtolab_time::Duration;

use super::*;
use crate::half_connection::SackCounts;

#[test]
fn delays_have_one_cause_if_they_come_from_one_stall() {
    let of = |spurious, stalls, late| {
        let late = Waits { count: late, ..Waits::default() };
        CaptureTotals { spurious, stalls, late, ..CaptureTotals::default() }.is_delayed_once()
    };
    assert!(of(1, 1, 0) && of(0, 0, 1) && of(3, 1, 0));
    assert!(!of(0, 0, 0) && !of(3, 2, 0) && !of(1, 1, 1) && !of(0, 0, 2));
}

#[test]
fn verdicts_that_are_missing_or_doubtful_matter_from_a_number_on() {
    let of = |unknown, needed, unneeded| {
        CaptureTotals { unneeded, needed, unknown, ..CaptureTotals::default() }.is_undecided()
    };
    assert!(of(3, 1, 1) && !of(2, 1, 1));
    let doubtful = |unknown, doubtful, segments| {
        CaptureTotals { segments, unknown, doubtful, ..CaptureTotals::default() }.is_doubtful()
    };
    assert!(doubtful(1, 1, 1999) && !doubtful(1, 1, 2000));
    let bound = |lost, unknown_data| {
        CaptureTotals { lost, unknown_data, ..CaptureTotals::default() }.is_loss_lower_bound()
    };
    assert!(bound(20, 2) && !bound(21, 2));
}

/// A path that loses packets loses others at the same rate.
#[test]
fn a_listen_queue_is_full_if_hardly_anything_but_openings_is_lost() {
    let of = |opened_late, lost_openings, lost| {
        let totals = CaptureTotals {
            connections: 100,
            segments: 100_100,
            opened_late,
            lost_openings,
            lost,
            ..CaptureTotals::default()
        };
        totals.is_listen_queue_full()
    };
    // 100 of 400 openings, and at most 1 of 100,000 other segments.
    assert!(of(100, 100, 0) && of(5, 100, 0) && !of(4, 100, 0));
    // 0.25 is 20 times 0.0125: 1249 lost ones, and one more.
    assert!(of(100, 100, 1248) && !of(100, 100, 1249));
}

#[test]
fn losses_in_bursts_widen_the_interval() {
    let of = |squares| {
        let totals =
            CaptureTotals { lost: 10, segments: 1000, squares, ..CaptureTotals::default() };
        totals.loss().expect("segments")
    };
    let (single, burst) = (of(10), of(100));
    assert_eq!((single.share, burst.share), (0.01, 0.01));
    // Wilson's interval of 10 in 1000 is 0.54 % to 1.83 %, and that of 1 in 100 0.18 % to 5.4 %.
    for (found, low, high) in [(single, 0.0054, 0.0183), (burst, 0.0018, 0.0545)] {
        assert!((found.low - low).abs() < 1e-4 && (found.high - high).abs() < 1e-4, "{found:?}");
    }
    assert_eq!(CaptureTotals::default().loss(), None);
}

/// Wilson's interval of none in 100 ends at 3.7 %, that of 5 in 100 at 11.2 %.
#[test]
fn losses_that_are_unknown_raise_the_upper_bound() {
    for (unknown_data, high) in [(0, 0.0370), (5, 0.1118)] {
        let totals = CaptureTotals { segments: 100, unknown_data, ..CaptureTotals::default() };
        let found = totals.loss().expect("segments");
        assert_eq!((found.share, found.low), (0.0, 0.0));
        assert!((found.high - high).abs() < 1e-4, "{found:?}");
    }
}

/// A quarter of the connection's 10 s.
#[test]
fn pauses_matter_if_they_take_much_of_the_time() {
    let of = |end, pause_ms, silent, wait| {
        let mut report = report();
        report.silences = vec![silence("client", silent, wait)];
        report.pauses.add(Duration::from_millis(pause_ms), end, wait);
        let totals = CaptureTotals::of(&report);
        assert_eq!(totals.has_short_pauses, totals != over(&[report]));
        totals
    };
    let alone = of(End::Client, 2500, 0.0, Wait::Application);
    assert_eq!((alone.application[0].seconds, alone.has_short_pauses), (2.5, true));
    assert_eq!(of(End::Server, 2500, 0.0, Wait::Application).application[1].longest, 2.5);
    assert_eq!(of(End::Client, 2500, 0.0, Wait::Unknown).undecided.seconds, 2.5);
    assert!(!of(End::Client, 2499, 0.0, Wait::Application).has_short_pauses);
    assert!(of(End::Client, 500, 2.0, Wait::Application).has_short_pauses);
    assert!(!of(End::Server, 500, 2.0, Wait::Application).has_short_pauses, "the other end's");
    assert!(of(End::Server, 500, 2.0, Wait::Unknown).has_short_pauses);
}

#[test]
fn pauses_may_hide_losses_if_there_are_more_than_one_in_so_many_segments() {
    let of = |segments| {
        let undecided = Waits { count: 3, ..Waits::default() };
        CaptureTotals { segments, undecided, ..CaptureTotals::default() }
    };
    assert!(!of(3 * SEGMENTS_PER_PAUSE).may_hide_losses());
    assert!(of(3 * SEGMENTS_PER_PAUSE - 1).may_hide_losses());
}

#[test]
fn held_segments_matter_if_they_are_five_and_take_a_tenth_of_the_time() {
    let of = |count, seconds, took| {
        let waits = Waits { count, seconds, longest: 0.1 };
        let held = [waits, Waits::default()];
        over(&[ConnectionReport { held, start: 3.0, end: 3.0 + took, ..report() }]).held_back[0]
            .count
    };
    assert_eq!((of(5, 0.5, 4.0), of(4, 0.5, 4.0)), (5, 0));
    assert_eq!((of(5, 0.5, 6.0), of(5, 0.02, 0.3)), (0, 0));
}

#[test]
fn sack_blocks_of_other_sequence_numbers_matter_if_they_are_three_and_most() {
    let of = |all, foreign| {
        let sacks = SackCounts { all, foreign };
        over(&[ConnectionReport { sacks, ..report() }]).foreign_sacks
    };
    assert_eq!((of(2, 2), of(3, 3), of(5, 3), of(6, 3)), (0, 3, 3, 0));
}
