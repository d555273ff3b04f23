//! Tests of sentences about losses and their cost.

use super::*;

type Change = fn(&mut CaptureTotals);

/// The first sentence about 1000 segments of which none was lost.
fn without_loss(change: impl FnOnce(&mut CaptureTotals)) -> String {
    sentences::of_capture(&totals(change), None).remove(0).text
}

#[test]
fn a_path_that_loses_nothing_is_qualified_as_the_capture_needs() {
    assert_eq!(without_loss(|_| {}), "These paths lose nothing.");
    assert_eq!(without_loss(|totals| totals.segments = 300), "These paths lose nothing.");
    assert_eq!(
        without_loss(|totals| totals.segments = 299),
        "These paths lose nothing here, but carried little data."
    );
    for change in [(|totals: &mut CaptureTotals| totals.lost_fins = 1) as Change, |totals| {
        totals.lost_openings = 1;
    }] {
        assert_eq!(without_loss(change), "These paths lose no data.");
    }
    let late = |count| move |totals: &mut CaptureTotals| totals.late = waits(count, 2.0, 2.0);
    assert_eq!(without_loss(late(1)), "These paths lose nothing, but delayed packets once.");
    assert_eq!(without_loss(late(2)), "These paths lose nothing, but at times delay packets.");
    // With one retransmission of a thousand segments that has no verdict, a loss rate that matters
    // is not excluded yet; with two it is possible.
    let doubtful = |unknown, delays| {
        without_loss(|totals| {
            (totals.unknown, totals.unneeded, totals.retransmissions) = (unknown, 9, 9 + unknown);
            totals.late = waits(delays, 2.0, 2.0);
        })
    };
    assert_eq!(doubtful(1, 0), "These paths lose nothing.");
    assert_eq!(doubtful(2, 0), "No loss is certain.");
    assert_eq!(doubtful(2, 1), "No loss is certain, but at times packets are delayed.");
}

#[test]
fn a_loss_rate_has_its_interval_and_its_bursts() {
    let of = |lost, bursts| {
        of_capture(|totals| {
            (totals.lost, totals.bursts) = (lost, bursts);
            (totals.needed, totals.retransmissions) = (lost, lost);
        })
    };
    let bursty = of(12, 4);
    assert!(
        bursty.starts_with("These paths lose 1.2 % of the data segments, in bursts"),
        "{bursty}"
    );
    assert!(bursty.contains("in bursts of some 3") && bursty.contains("; in 4 bursts"), "{bursty}");
    assert!(bursty.contains("(12 of 1000 data segments; 95 % interval "), "{bursty}");
    assert!(!of(12, 5).contains("in bursts of"));
    assert!(!of(2, 0).contains("in bursts of"));
    assert!(of(3, 1).contains("in bursts of some 3"));
}

#[test]
fn the_cost_names_its_cause() {
    let cost = |change: Change| {
        of_capture(|totals| {
            totals.time_lost = 3.0;
            change(totals);
        })
    };
    let causes: [(&str, Change); 7] = [
        ("Timeouts", |totals| (totals.timeouts, totals.genuine, totals.lost) = (1, 1, 1)),
        ("Timeouts and delays", |totals| {
            (totals.timeouts, totals.genuine, totals.lost) = (2, 1, 1);
            (totals.spurious, totals.stalls) = (1, 1);
        }),
        ("The delay", |totals| (totals.timeouts, totals.spurious, totals.stalls) = (2, 2, 1)),
        ("The delay", |totals| totals.late = waits(1, 3.0, 3.0)),
        ("Delays", |totals| (totals.timeouts, totals.spurious, totals.stalls) = (2, 2, 2)),
        ("Waits for probes", |totals| totals.probe_repairs = waits(1, 3.0, 3.0)),
        ("Waits for probes and delays", |totals| {
            (totals.probe_repairs, totals.late) = (waits(1, 1.0, 1.0), waits(1, 2.0, 2.0));
        }),
    ];
    for (cause, change) in causes {
        let said = cost(change);
        assert!(said.contains(&format!(") {cause} cost the connections 3.0 s")), "{said}");
    }
    let none = cost(|_| {});
    assert!(!none.contains(" cost "), "{none}");
}

#[test]
fn the_cost_says_how_much_the_sender_added() {
    let of = |lost, own| {
        of_capture(|totals| {
            (totals.timeouts, totals.spurious, totals.stalls) = (1, 1, 1);
            (totals.unneeded, totals.retransmissions) = (3, 3);
            (totals.time_lost, totals.time_lost_by_sender) = (lost, own);
        })
    };
    let with = of(3.0, 1.0);
    assert!(with.contains("3.0 s, 1.0 s of it because the sender retransmitted what had arrived."));
    assert!(
        with.contains("(acknowledgments came 2.000 s later than due, 1.000 s of retransmitting"),
        "{with}"
    );
    let short = of(3.0, 0.049);
    assert!(short.contains("cost the connections 3.0 s."), "{short}");
    assert!(short.contains("(acknowledgments came 2.951 s later than due, 0.049 s of"), "{short}");
    let none = of(3.0, 0.0);
    assert!(none.contains("(acknowledgments came 3.000 s later than due)"), "{none}");
    // Too little time to mention.
    assert!(!of(0.049, 0.0).contains(" cost "));
    assert!(of(0.05, 0.0).contains("cost the connections 50 ms."));
}

#[test]
fn a_cost_that_a_capture_at_the_receiver_hides_is_unknown() {
    let at_receiver = of_capture(|totals| totals.at_receiver = 2);
    assert!(at_receiver.contains("The cost is unknown, because the capture was made at the"));
    assert!(at_receiver.contains("(2 captured at the receiver)"), "{at_receiver}");
    let repaired = of_capture(|totals| (totals.lost, totals.needed) = (1, 1));
    assert!(repaired.contains("All losses were repaired without a timeout."), "{repaired}");
}

#[test]
fn losses_after_the_capture_point_are_told_from_those_of_the_path() {
    let of = |lost, after, paired: bool| {
        of_capture(|totals| {
            (totals.lost, totals.bursts, totals.lost_after_capture) = (lost, lost, after);
            (totals.needed, totals.retransmissions) = (lost, lost);
            totals.paired = paired.then(Box::default);
        })
    };
    let all = of(12, 12, false);
    let text = "Up to this capture at the receiver nothing is lost, but 1.2 % of the data segments \
                passed it and did not reach the receiver's TCP. (12 of 1000 data segments; ";
    assert!(all.starts_with(text), "{all}");
    assert!(all.contains("The receiving host discards them, or the path does"), "{all}");
    assert!(!all.contains("error counters of the path's devices"), "{all}");
    assert!(of(12, 12, true).starts_with("Up to the capture at the receiver nothing is lost, "));
    let some = of(12, 3, false);
    let text = "These paths lose 1.2 % of the data segments. 3 of the 12 lost segments had passed \
                this capture at the receiver and did not reach the receiver's TCP.";
    assert!(some.starts_with(text), "{some}");
    assert!(some.contains("discards those that passed the capture, or"), "{some}");
    assert!(some.contains("error counters of the path's devices"), "{some}");
    assert!(!of(12, 0, false).contains("receiver's TCP"));
}

/// What is said of lost segments in these parts of the path.
fn of_places(places: [u64; 3], change: impl FnOnce(&mut CaptureTotals)) -> String {
    said(loss_places::sentence(&totals(|totals| {
        (totals.lost, totals.loss_places) = (places.iter().sum(), places);
        change(totals);
    })))
}

#[test]
fn the_side_of_the_capture_point_is_that_of_the_losses() {
    let of = |places| of_places(places, |_| {});
    let beyond = "had passed the capture point:";
    assert!(of([0, 0, 1]).starts_with(&format!("The lost segment {beyond} it was lost beyond it")));
    assert!(
        of([0, 0, 2]).starts_with(&format!("All lost segments {beyond} they were lost beyond"))
    );
    let before = "the capture point: it was lost on the way from the sender. (";
    assert!(of([1, 0, 0]).starts_with(&format!("The lost segment did not reach {before}")));
    assert!(of([2, 0, 0]).starts_with("None of the lost segments reached the capture point: they"));
    let both = "Of the 3 lost segments, 1 was lost before the capture point, 2 beyond it. (the capture \
                contains 2 of them and lacks 1)";
    assert_eq!(of([1, 0, 2]), both);
    assert_eq!(of([0, 1, 0]), "", "at the ends, nothing is said");
    let not_all = of_places([1, 0, 2], |totals| totals.lost = 7);
    assert!(not_all.starts_with("Of the 7 lost segments, 1 was lost before"), "{not_all}");
}

#[test]
fn a_capture_that_lacks_data_may_lack_lost_segments() {
    let of = |places| of_places(places, |totals| totals.missed_bytes = 1000);
    assert!(
        of([1, 0, 2]).contains("1 was lost before the capture point or missed by the capture,")
    );
    assert!(of([1, 0, 0]).contains("from the sender, unless the capture missed it. ("));
    assert!(of([2, 0, 0]).contains("from the sender, unless the capture missed them. ("));
    assert!(!of([0, 0, 2]).contains("missed"));
}

#[test]
fn two_captures_show_in_which_of_three_parts_segments_were_lost() {
    let of = |places| of_places(places, |totals| totals.paired = Some(Box::default()));
    assert!(of([0, 0, 2]).contains("had passed both captures: they were lost beyond them, on"));
    assert!(of([2, 0, 0]).contains("reached either capture: they were lost on the way from"));
    let all = "Of the 6 lost segments, 1 was lost before both captures, 2 between them, 3 beyond \
               them. (3 of them are in both captures, 2 in one and 1 in none)";
    assert_eq!(of([1, 2, 3]), all);
    let later = "Of the 5 lost segments, 2 were lost between the captures, 3 beyond them. (";
    assert!(of([0, 2, 3]).starts_with(later));
    let places = |totals: &mut CaptureTotals| {
        (totals.lost, totals.paired) = (7, Some(Box::default()));
    };
    let some = of_places([0, 0, 3], places);
    assert!(
        some.starts_with("Of the 7 lost segments, 3 were lost beyond both captures. ("),
        "{some}"
    );
}
