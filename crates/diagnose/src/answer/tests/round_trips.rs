//! Tests of sentences about round trips and reordering.

use super::*;
use crate::half_connection::Reordering;
use crate::rtt::RoundTrips;

const GROWN: RoundTrips = RoundTrips { least: 0.02, median: 0.1, ninetieth: 0.3, after_step: None };

fn growth(found: RoundTrips, change: impl FnOnce(&mut CaptureTotals)) -> String {
    said(super::super::round_trips::growth(&totals(|totals| {
        (totals.grown, totals.most_grown) = (1, Some((4, found)));
        change(totals);
    })))
}

#[test]
fn round_trips_that_grew_say_how() {
    let mostly = growth(GROWN, |_| {});
    assert!(mostly.starts_with("The round trip grew from 20 ms to 100 ms and more: data or ack"));
    assert!(mostly.ends_with("(smallest 20 ms, half above 100 ms, 10 % above 300 ms)"), "{mostly}");
    let at_times = growth(RoundTrips { median: 0.03, ..GROWN }, |_| {});
    assert!(at_times.starts_with("The round trip grew from 20 ms to 300 ms and more at times:"));
    let step = RoundTrips { after_step: Some(0.25), ..GROWN };
    let stepped = growth(step, |_| {});
    assert!(stepped.starts_with("The round trip rose from 20 ms to 250 ms at once and stayed"));
    let short = growth(RoundTrips { least: 0.000_9, ..GROWN }, |_| {});
    assert!(short.starts_with("The round trip grew from less than 1 ms to 100 ms"), "{short}");
    // Held packets have long round trips, which say nothing about a queue.
    assert_eq!(growth(GROWN, |totals| totals.held = waits(1, 2.0, 2.0)), "");
    assert_ne!(growth(step, |totals| totals.held = waits(1, 2.0, 2.0)), "");
}

#[test]
fn round_trips_that_grew_say_of_which_connection() {
    let one = growth(GROWN, |totals| totals.connections = 2);
    assert!(one.starts_with("The round trip of connection 4 grew from 20 ms"), "{one}");
    let two = growth(GROWN, |totals| (totals.connections, totals.grown) = (3, 2));
    assert!(two.starts_with("The round trips of 2 connections grew, most that of connection 4:"));
}

/// At least ten segments, and two in a thousand.
#[test]
fn reordering_matters_from_a_number_and_a_share_on() {
    let of = |count, segments, extent, unneeded| {
        said(super::super::round_trips::reordering(&totals(|totals| {
            (totals.segments, totals.unneeded) = (segments, unneeded);
            totals.reordering = Reordering { count, extent };
        })))
    };
    assert_eq!(of(9, 1000, 1, 0), "");
    assert_eq!(of(10, 5001, 1, 0), "");
    let coped = of(10, 5000, 3, 0);
    assert!(coped.starts_with("The network reorders packets: at least 10 data segments came"));
    assert!(coped.contains("after later ones. The sender coped"), "{coped}");
    assert!(coped.ends_with("(0.2 % of 5000 data segments)"), "{coped}");
    let far = of(10, 1000, 4, 1);
    assert!(
        far.contains("later ones, some by 4 segments. 1 retransmission was unneeded."),
        "{far}"
    );
    assert!(of(10, 1000, 4, 2).contains("2 retransmissions were unneeded."));
}

/// A receiver discards segments with old timestamps (PAWS). The path has not lost them.
#[test]
fn segments_that_came_too_late_for_the_receiver_are_reordered() {
    let of = |discarded| {
        of_capture(|totals| {
            (totals.discarded, totals.needed, totals.retransmissions) =
                (discarded, discarded, discarded);
            totals.reordering.count = 1;
        })
    };
    assert!(of(1).contains("Once the receiver discarded one for its old timestamp"), "{}", of(1));
    let two = of(2);
    assert!(two.starts_with("These paths lose nothing."), "{two}");
    assert!(two.contains("came after later ones. The receiver discarded 2 for their old"), "{two}");
    assert!(two.contains("Look for a link or a device that spreads"), "{two}");
    assert!(!two.contains("coped") && !two.contains("slowed"), "{two}");
    assert!(!of(0).contains("reorders"));
    let network = |discarded| super::super::network(&totals(|totals| totals.discarded = discarded));
    assert_eq!([network(0), network(1)], [NetworkVerdict::Healthy, NetworkVerdict::Delayed]);
}
