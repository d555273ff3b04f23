//! Tests of sentences about times without packets.

use super::*;
use crate::totals::Outage;

#[test]
fn spurious_timeouts_have_their_number_and_the_longest_stall() {
    let of = |stalls| {
        of_silences(|totals| {
            (totals.stalls, totals.spurious, totals.timeouts) = (stalls, 2, 5);
            (totals.longest_stall, totals.longest_stall_at) = (3.0, 12.0);
        })
    };
    assert!(
        of(0).starts_with("The retransmission timer expired twice although data was only late")
    );
    let one = of(1);
    assert!(one.starts_with("Nothing was acknowledged for 3.0 s, from 12.0 s into"), "{one}");
    assert!(one.contains("timer had expired twice, without need. (2 of 5 timeouts spurious)"));
    let two = of(2);
    assert!(two.starts_with("Twice nothing was acknowledged"), "{two}");
    assert!(two.contains("the longest time for 3.0 s from 12.0 s into"), "{two}");
}

#[test]
fn timeouts_that_may_be_probes_are_called_so() {
    let said = of_silences(|totals| {
        (totals.spurious, totals.timeouts, totals.perhaps_probes) = (1, 1, 1);
    });
    assert!(said.contains("timer (for a retransmission or a tail loss probe, which"), "{said}");
}

#[test]
fn timeouts_of_losses_and_of_lost_acks_are_counted_apart() {
    let of = |genuine, ack_lost, longest| {
        of_silences(|totals| {
            (totals.genuine, totals.ack_lost, totals.timeouts) = (genuine, ack_lost, 9);
            totals.longest_outage = longest;
        })
    };
    assert_eq!(
        of(1, 2, 0.9),
        "Once the sender repaired a loss only when its retransmission timer expired; twice the \
         timer expired because acknowledgments were lost and not the data. (3 of 9 timeouts)"
    );
    let lost_acks = of(0, 1, 0.9);
    assert!(lost_acks.starts_with("Once the timer expired because ack"), "{lost_acks}");
    assert!(lost_acks.ends_with("(1 of 9 timeouts)"), "{lost_acks}");
    assert!(of(1, 0, 1.0).contains("expired, after up to 1.0 s without an acknowledgment."));
}

/// The sentence about an outage has its timeouts, so that other sentences have the rest.
#[test]
fn timeouts_of_an_outage_are_not_named_again() {
    let of = |is_of_acks, is_after_capture| {
        let of = totals(|totals| {
            (totals.genuine, totals.ack_lost, totals.timeouts) = (4, 5, 9);
            totals.longest_outage = 7.0;
            let (timeouts, reduced) = (3, None);
            let outage =
                Outage { at: 2.0, length: 7.0, timeouts, is_of_acks, reduced, is_after_capture };
            totals.outage = Some(outage);
        });
        (said(super::super::silences::outage(&of)), said(super::super::silences::sentences(&of)))
    };
    let (outage, others) = of(false, false);
    assert_eq!(
        outage,
        "Nothing got through for 7.0 s, from 2.0 s into the capture on: an outage of the path. \
         (the timer expired 3 times then)"
    );
    assert!(others.starts_with("Once the sender repaired"), "{others}");
    assert!(others.contains("; 5 times the timer") && others.ends_with("(6 of 9 timeouts)"));
    let (outage, others) = of(true, false);
    assert!(outage.starts_with("Nothing came back for 7.0 s"), "{outage}");
    assert!(others.starts_with("4 times the sender"), "{others}");
    assert!(others.contains("; twice the timer"), "{others}");
    assert_eq!(
        of(true, true).0,
        "For 7.0 s, from 2.0 s into the capture on, acknowledgments passed this capture at the \
         sender, but did not reach the sender's TCP. (the timer expired 3 times then)"
    );
}

#[test]
fn waits_have_their_number_their_sum_and_the_longest() {
    let of = |count: u64| {
        let of = waits(count, count as f64, 1.0);
        [
            of_silences(|totals| totals.probe_repairs = of),
            of_silences(|totals| totals.held = of),
            of_silences(|totals| totals.late = of),
        ]
    };
    let [probe, held, late] = of(1);
    assert!(probe.starts_with("Once the last segment before a pause was repaired only by a tail"));
    assert!(probe.contains("probe, after 1.0 s. (1.0 s in all)"), "{probe}");
    assert!(held.starts_with("Once nothing came back for 1.0 s:"), "{held}");
    assert!(held.ends_with("(1.0 s in all)"), "{held}");
    assert!(late.starts_with("Once an acknowledgment came late without a timeout, by up to 1.0 s"));
    let [probe, held, late] = of(2);
    assert!(probe.contains("after up to 1.0 s. (2.0 s in all)"), "{probe}");
    assert!(held.starts_with("Twice nothing came back for up to 1.0 s:"), "{held}");
    assert!(late.starts_with("Twice") && late.ends_with("(2.0 s in all)"), "{late}");
}

#[test]
fn repairs_by_timeout_have_their_part_of_all_timeouts() {
    let said = of_silences(|totals| {
        (totals.repairs_by_timeout, totals.repairing_timeouts) = (waits(1, 8.0, 8.0), 5);
        totals.timeouts = 7;
    });
    assert!(said.contains("waited for its timer at each loss, 5 times for 8.0 s."), "{said}");
    assert!(said.ends_with("(5 of 7 timeouts)"), "{said}");
}

#[test]
fn data_after_idle_that_fails_says_how() {
    let of = |count, resets| {
        of_silences(|totals| {
            (totals.idle_timeouts, totals.idle_resets) = (count, resets);
            (totals.shortest_idle_timeout, totals.unanswered_after_idle) = (300.0, 9);
        })
    };
    let never = of(1, 0);
    assert!(never.starts_with("The first data after a silence of 300 s was never answered."));
    assert!(never.ends_with("(9 retransmissions of that data, 0 resets)"), "{never}");
    assert!(of(1, 1).contains("a silence of 300 s was answered by a reset."));
    let all = of(2, 2);
    assert!(all.starts_with("In 2 connections the first data after 300 s of silence or more was"));
    assert!(all.contains("more was answered by a reset."), "{all}");
    let both = of(2, 1);
    assert!(both.contains("more was never answered, or answered by a reset."), "{both}");
}

#[test]
fn an_application_with_nothing_to_send_is_named_with_its_end() {
    let of = |has_short_pauses| {
        of_capture(|totals| {
            totals.application = [waits(0, 0.0, 0.0), waits(2, 9.0, 5.0)];
            totals.has_short_pauses = has_short_pauses;
        })
    };
    let long = of(false);
    assert!(long.contains("For 9.0 s the server sent nothing because its application"), "{long}");
    assert!(long.contains("(2 pauses of a second and more, the longest 5.0 s)"), "{long}");
    assert!(!long.contains("client sent"), "{long}");
    assert!(of(true).contains("(2 pauses, the longest 5.0 s)"));
}

#[test]
fn times_that_no_path_is_to_blame_for_are_named() {
    let stopped = of_capture(|totals| totals.stopped = waits(2, 60.0, 40.0));
    assert!(stopped.contains("For 60.0 s the sender's host stood still"), "{stopped}");
    assert!(stopped.contains("(2 silences)"), "{stopped}");
    let closed = of_capture(|totals| totals.closed_window = waits(1, 7.0, 7.0));
    assert!(closed.contains("For 7.0 s the sender waited because the receiving app"), "{closed}");
    assert!(closed.contains("(window closed once)"), "{closed}");
    let undecided = of_capture(|totals| totals.undecided = waits(1, 7.0, 7.0));
    assert!(undecided.contains("For 7.0 s no data came from the other end;"), "{undecided}");
    assert!(undecided.contains("(1 silence)"), "{undecided}");
    let none = of_capture(|_| {});
    for absent in ["stood still", "the receiving app", "from the other end", "sent nothing"] {
        assert!(!none.contains(absent), "{none}");
    }
}
