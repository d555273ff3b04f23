//! Tests of sentences, from totals that are specified.

mod endings;
mod losses;
mod pairs;
mod recommendations;
mod round_trips;
mod silences;

use rtolab_capture::ClockSteps;
use rtolab_time::Duration;

use super::*;
use crate::failure::FailureKind;
use crate::pauses::Waits;
use crate::totals::{FailedConnections, LoneSyns};

/// The totals of one connection with 1000 segments of 1000 bytes, with these changes.
fn totals(change: impl FnOnce(&mut CaptureTotals)) -> CaptureTotals {
    let mut totals = CaptureTotals::default();
    (totals.connections, totals.segments, totals.bytes) = (1, 1000, 1_000_000);
    change(&mut totals);
    totals
}

fn waits(count: u64, seconds: f64, longest: f64) -> Waits {
    Waits { count, seconds, longest }
}

/// The text and the basis of sentences.
fn said(sentences: impl IntoIterator<Item = Sentence>) -> String {
    let texts = sentences.into_iter().map(|one| format!("{} ({})", one.text, one.basis));
    texts.collect::<Vec<_>>().join(" ")
}

fn of_silences(change: impl FnOnce(&mut CaptureTotals)) -> String {
    said(super::silences::sentences(&totals(change)))
}

fn of_capture(change: impl FnOnce(&mut CaptureTotals)) -> String {
    said(sentences::of_capture(&totals(change), None))
}

#[test]
fn nothing_is_said_of_what_did_not_happen() {
    let none = totals(|_| {});
    assert_eq!(said(super::silences::sentences(&none)), "");
    assert_eq!(said(super::silences::outage(&none)), "");
    assert_eq!(said(closing::stopped_at_end(&none)), "");
    assert_eq!(said(closing::idle_before_close(&none)), "");
    assert_eq!(said(closing::no_data(&none)), "");
    assert_eq!(said(failures::sentences(&none)), "");
    assert_eq!(said(missing_direction::sentence(&none)), "");
    assert_eq!(said(super::round_trips::growth(&none)), "");
    assert_eq!(said(super::round_trips::reordering(&none)), "");
    assert_eq!(said(clock::sentence(ClockSteps::default())), "");
}

#[test]
fn a_clock_that_stepped_back_is_named() {
    let steps = |count| ClockSteps { count, longest: Duration::from_millis(1500) };
    assert!(said(clock::sentence(steps(1))).contains("stepped back once, by 1.5 s:"));
    assert!(said(clock::sentence(steps(3))).contains("stepped back 3 times, by up to 1.5 s:"));
}

#[test]
fn ecn_marks_and_late_openings_are_counted() {
    let marked = of_capture(|totals| totals.ecn_reductions = 2);
    assert!(marked.contains("marked packets (ECN), and twice a sender slowed down"), "{marked}");
    assert!(marked.contains("(2 segments with CWR)"), "{marked}");
    for (connections, text) in [
        (1, "The connection opened late: its SYN or SYN-ACK was retransmitted."),
        (2, "Connections opened late: their SYNs or SYN-ACKs were retransmitted."),
    ] {
        let said = of_capture(|totals| (totals.connections, totals.handshake) = (connections, 2));
        assert!(said.contains(text) && said.contains("(2 such retransmissions)"), "{said}");
    }
    let none = of_capture(|_| {});
    assert!(!none.contains("ECN") && !none.contains("opened late"), "{none}");
}

/// From one in twenty on.
#[test]
fn retransmissions_without_a_verdict_are_counted_if_they_are_many() {
    let of = |unknown, retransmissions| {
        of_capture(|totals| {
            (totals.unknown, totals.retransmissions) = (unknown, retransmissions);
            totals.unneeded = retransmissions - unknown;
        })
    };
    assert!(!of(1, 21).contains("does not show whether"));
    assert!(of(1, 20).contains("does not show whether 1 retransmission was needed."));
    assert!(of(2, 20).contains("does not show whether 2 retransmissions were needed."));
    assert!(of(2, 2).contains("The capture does not show whether anything was lost."));
    assert!(of(2, 2).contains("(2 of 2 without a verdict)"));
}

#[test]
fn one_direction_shows_neither_losses_nor_late_acknowledgments() {
    let of = |two_way, one_way| {
        of_capture(|totals| (totals.connections, totals.one_way) = (two_way, one_way))
    };
    let one = of(0, 1);
    assert!(one.starts_with("Only one direction of this connection was captured"), "{one}");
    assert!(one.contains("(1 with packets of one end, 0 with packets of both)"), "{one}");
    assert!(one.contains("Capture again where both directions pass"), "{one}");
    assert!(of(0, 2).starts_with("Only one direction of these connections was captured"));
    assert!(of(3, 2).starts_with("Only one direction of 2 connections was captured"));
    assert!(!of(1, 0).contains("direction"));
}

#[test]
fn many_unanswered_syns_are_a_flood_or_a_scan() {
    let of = |two_way, to_one_server| {
        of_capture(|totals| {
            (totals.connections, totals.one_way) = (two_way, 50);
            let first = (7, "10.0.0.2:80".into());
            totals.lone_syns = LoneSyns { count: 50, first, to_one_server };
            let failed = FailedConnections { count: 2, ..FailedConnections::default() };
            totals.failures.insert(FailureKind::SynAckUnanswered, failed);
        })
    };
    let flood = of(3, true);
    assert!(flood.starts_with("50 SYNs to 10.0.0.2:80 got no answer"), "{flood}");
    assert!(flood.contains("as in a SYN flood.") && flood.contains("(50 of 53 connections)"));
    assert!(!flood.contains("one direction") && !flood.contains("Capture again"), "{flood}");
    assert!(flood.contains("Clients whose addresses a SYN flood forges do not answer."));
    let scan = of(0, false);
    assert!(scan.contains("The way back to the client loses it"), "{scan}");
    assert!(scan.starts_with("50 SYNs, such as that of number 7 to 10.0.0.2:80,"), "{scan}");
    assert!(scan.contains("as in a scan of ports") && !scan.contains("Capture again"), "{scan}");
}
