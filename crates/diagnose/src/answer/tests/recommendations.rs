//! Tests of the advice.

use super::*;
use crate::report::RetransmissionReport;
use crate::report::samples::report;
use crate::totals::{LossRate, Outage};

/// The advice about a capture with these totals.
fn advice_of(change: impl FnOnce(&mut CaptureTotals)) -> String {
    said(advice::advice(&totals(change), None))
}

/// The advice about one connection of 10 s with these totals.
fn of_connection(change: impl FnOnce(&mut CaptureTotals)) -> String {
    said(advice::advice(&totals(change), Some(&report())))
}

#[test]
fn an_outage_is_what_to_look_for() {
    let outage = Outage { at: 1.0, length: 5.0, timeouts: 3, ..Outage::default() };
    let said = advice_of(|totals| (totals.outage, totals.lost) = (Some(outage), 1));
    assert!(said.starts_with("Look for an outage of the path. ("), "{said}");
    let outage = Outage { is_of_acks: true, is_after_capture: true, ..outage };
    let said = advice_of(|totals| (totals.outage, totals.ack_lost) = (Some(outage), 3));
    assert!(said.starts_with("The sending host discarded the acknowledgments, or the"), "{said}");
}

#[test]
fn few_losses_do_not_tell_their_cause() {
    let of = |lost| advice_of(|totals| (totals.lost, totals.needed) = (lost, lost));
    assert!(of(9).starts_with("These losses are too few to tell their cause"));
    assert!(of(10).starts_with("The capture does not show the round trips at these losses"));
    assert!(of(10).contains("the path's devices."), "it was captured at the sender");
    let at_receiver = advice_of(|totals| (totals.lost, totals.without_delays) = (10, 1));
    assert!(at_receiver.contains("the path's devices, or capture at the sender."), "{at_receiver}");
    assert!(!of(0).contains("losses are"));
}

#[test]
fn lost_acknowledgments_are_named_if_no_data_was_lost() {
    let of = |lost| advice_of(|totals| (totals.ack_lost, totals.lost) = (1, lost));
    assert!(of(0).starts_with("Acknowledgments were lost: look at the drop"));
    assert!(!of(1).contains("Acknowledgments were lost"));
    // Nothing is recommended if most retransmissions lack a verdict.
    let undecided = advice_of(|totals| (totals.ack_lost, totals.unknown) = (1, 5));
    assert!(!undecided.contains("Acknowledgments were lost"), "{undecided}");
}

#[test]
fn what_holds_packets_is_looked_for() {
    let of = |count| advice_of(|totals| totals.held = waits(count, 2.0, 2.0));
    assert!(of(1).contains("For the delay, look for what holds packets"));
    assert!(of(2).contains("For the delays, look for what holds packets"));
    assert!(!of(0).contains("holds packets"));
}

#[test]
fn idle_connections_need_packets_within_the_shortest_silence_that_failed() {
    let of = |longest_idle| {
        advice_of(|totals| {
            (totals.idle_timeouts, totals.shortest_idle_timeout) = (1, 300.0);
            totals.longest_idle = longest_idle;
        })
    };
    let survived = of(200.0);
    assert!(survived.contains("Send something more often than every 300 s"), "{survived}");
    assert!(survived.contains("(after silences of up to 200 s connections went on)"), "{survived}");
    assert!(!of(0.0).contains("went on") && !of(300.0).contains("went on"));
    assert!(!advice_of(|_| {}).contains("Send something"));
}

/// More than two unneeded retransmissions for each timeout that was spurious or lost its ACKs.
#[test]
fn a_sender_that_goes_back_n_needs_frto_or_timestamps() {
    let of = |go_back_n, going_back| {
        advice_of(|totals| {
            (totals.spurious, totals.ack_lost, totals.timeouts) = (1, 1, 2);
            (totals.go_back_n, totals.going_back) = (go_back_n, going_back);
            (totals.unneeded, totals.retransmissions) = (7, 7);
            (totals.unneeded_bytes, totals.stalls) = (7000, 1);
        })
    };
    let both = of(5, [0, 1, 1]);
    assert!(both.contains("F-RTO or timestamps prevent that"), "{both}");
    assert!(both.contains("(7 retransmissions unneeded, 7.0 kB)"), "{both}");
    assert!(!of(4, [0, 1, 1]).contains("F-RTO"));
    let with_timestamps = of(5, [1, 1, 1]);
    assert!(with_timestamps.contains("F-RTO prevents that"), "{with_timestamps}");
    let without_new_data = of(5, [0, 0, 1]);
    assert!(without_new_data.contains("F-RTO needs new data to prevent that"));
    assert!(!of(5, [1, 0, 1]).contains("F-RTO"));
}

/// F-RTO that is on already is not recommended.
#[test]
fn a_sender_that_used_frto_is_not_told_to_switch_it_on() {
    let of = |with_timestamps, with_frto| {
        advice_of(|totals| {
            (totals.spurious, totals.timeouts, totals.go_back_n) = (1, 1, 5);
            totals.going_back = [with_timestamps, 1, 1];
            totals.going_back_with_frto = with_frto;
            (totals.unneeded, totals.retransmissions, totals.stalls) = (7, 7, 1);
        })
    };
    for (timestamps, advice) in [(0, "Timestamps prevent that"), (1, "whether other settings")] {
        let said = of(timestamps, 1);
        assert!(said.contains("although it used F-RTO") && said.contains(advice), "{said}");
        assert!(!said.contains("tcp_frto=2"), "{said}");
        assert!(of(timestamps, 0).contains("tcp_frto=2"));
    }
}

/// A transfer of half a second and 100 kB has a rate.
#[test]
fn the_rate_is_that_outside_of_silences() {
    let healthy = of_connection(|_| {});
    assert!(healthy.contains("it ran at 800 kbit/s on average. If"), "{healthy}");
    assert!(healthy.contains("(1.0 MB in 10.0 s; no unneeded retransmission)"), "{healthy}");
    let idle = of_connection(|totals| totals.closed_window = waits(1, 2.0, 2.0));
    assert!(idle.contains("it ran at 1.0 Mbit/s on average outside these silences."), "{idle}");
    let mostly = of_connection(|totals| totals.closed_window = waits(1, 5.0, 5.0));
    assert!(
        mostly.contains("took 5.0 s of the transfer's 10.0 s; outside them it ran at 1.6 Mbit/s"),
        "{mostly}"
    );
    assert!(of_connection(|totals| totals.bytes = 100_000).contains("80 kbit/s"));
    assert!(!of_connection(|totals| totals.bytes = 99_999).contains("kbit/s"));
    let short = |seconds| of_connection(|totals| totals.closing = waits(1, seconds, seconds));
    assert!(short(9.5).contains("Mbit/s") && !short(9.6).contains("Mbit/s"));
    let marked = of_connection(|totals| totals.ecn_reductions = 1);
    assert!(marked.contains("Marks are no fault") && marked.contains("It ran at 800 kbit/s"));
}

#[test]
fn one_unneeded_retransmission_in_a_hundred_hardly_disturbs() {
    let of = |unneeded| {
        of_connection(|totals| {
            (totals.unneeded, totals.retransmissions) = (unneeded, unneeded);
            totals.unneeded_bytes = 1000 * unneeded;
        })
    };
    assert!(of(10).contains("Neither losses nor delays slowed the transfer down"));
    assert!(of(10).contains("; 10 retransmissions unneeded, 10 kB)"));
    assert!(of(11).contains("No setting of TCP's retransmission would save time."));
    let late = of_connection(|totals| {
        (totals.unneeded, totals.retransmissions) = (1, 1);
        totals.late = waits(1, 1.0, 1.0);
    });
    assert!(!late.contains("Neither"), "{late}");
}

#[test]
fn losses_slow_a_sender_down_if_half_of_the_recoveries_did() {
    let of = |recoveries, timeouts| {
        of_connection(|totals| {
            (totals.lost, totals.needed, totals.retransmissions) = (10, 10, 10);
            (totals.recoveries, totals.timeouts, totals.genuine) = (recoveries, timeouts, timeouts);
        })
    };
    assert!(
        of([4, 2], 0).contains("Each loss makes the sender slow down: the transfer ran at 800")
    );
    assert!(of([4, 1], 0).contains("did not make the sender slow down: as much data"));
    assert!(of([4, 1], 1).contains("Each loss makes the sender slow down"));
    assert!(of([0, 0], 0).contains("A loss makes most senders slow down"));
}

/// 100 connections of which 100 opening segments were lost.
#[test]
fn a_full_listen_queue_is_no_loss_of_the_path() {
    let mut report = report();
    let lost = RetransmissionReport {
        is_opening: true,
        len: 0,
        ..crate::report::samples::retransmission(0.0, crate::Necessity::Needed)
    };
    report.retransmissions = vec![lost];
    let mut totals = CaptureTotals::default();
    for _ in 0..100 {
        totals.add(&report);
    }
    let said = said(sentences::of_capture(&totals, None));
    assert!(said.starts_with("Only segments that open connections were lost."), "{said}");
    assert!(said.contains("(100 losses of SYN, SYN-ACK or first data; 0 of 99900 other data"));
    assert!(said.contains("Let the server accept connections faster or lengthen its queue"));
    assert!(matches!(network(&totals), NetworkVerdict::Healthy));
    assert!(totals.loss().is_some_and(|LossRate { share, .. }| share == 0.0));
}

#[test]
fn the_verdict_names_losses_and_delays() {
    let of = |change: fn(&mut CaptureTotals)| network(&totals(change));
    assert_eq!(of(|_| {}), NetworkVerdict::Healthy);
    for change in [
        (|totals: &mut CaptureTotals| totals.lost = 1) as fn(&mut CaptureTotals),
        |totals| totals.lost_openings = 1,
        |totals| totals.lost_fins = 1,
        |totals| totals.ack_lost = 1,
    ] {
        assert_eq!(of(change), NetworkVerdict::Lossy);
    }
    for change in [
        (|totals: &mut CaptureTotals| totals.spurious = 1) as fn(&mut CaptureTotals),
        |totals| totals.held.count = 1,
        |totals| totals.late.count = 1,
        |totals| totals.unneeded = 1,
    ] {
        assert_eq!(of(change), NetworkVerdict::Delayed);
    }
    assert_eq!(
        of(|totals| (totals.lost, totals.spurious) = (1, 1)),
        NetworkVerdict::LossyAndDelayed
    );
    assert_eq!(of(|totals| (totals.lost, totals.unneeded) = (1, 1)), NetworkVerdict::Lossy);
    for change in [
        (|totals: &mut CaptureTotals| totals.unknown = 1) as fn(&mut CaptureTotals),
        |totals| totals.connections = 0,
        |totals| totals.segments = 0,
        |totals| totals.stopped_at_end.count = 1,
        |totals| totals.undecided.count = 51,
    ] {
        assert_eq!(of(change), NetworkVerdict::Unknown);
    }
    assert_eq!(of(|totals| totals.undecided.count = 50), NetworkVerdict::Healthy);
}

/// The answer about a connection with this many losses, this queue at the losses, and fast
/// retransmits a second apart, after long and after other round trips.
fn with_queue(
    lost: u32,
    (queue, is_long): (u64, bool),
    [long, short]: [usize; 2],
    change: impl FnOnce(&mut CaptureTotals),
) -> String {
    let mut report = report();
    let needed = |n| crate::report::samples::retransmission(f64::from(n), crate::Necessity::Needed);
    report.retransmissions = (0..lost).map(needed).collect();
    (report.queue, report.queue_at_losses.is_long) = (Some(queue), is_long);
    report.queue_at_losses.fast_retransmits =
        (0..long + short).map(|n| (n as f64, n < long)).collect();
    let mut totals = CaptureTotals::default();
    totals.add(&report);
    change(&mut totals);
    said(sentences::of_connection(&totals, &report))
}

/// A quarter of all round trips are long: 3 of 3 by chance in 1.6 % of the cases, 2 of 2 in 6 %.
#[test]
fn losses_of_a_full_link_are_no_fault() {
    let full = with_queue(10, (5000, true), [3, 0], |_| {});
    assert!(full.contains(": the link is full, and its queue of some 5.0 kB drops packets."));
    assert!(full.contains("; fast retransmits at 3 times, after long round trips at 3)"), "{full}");
    assert!(full.contains("Such losses are no fault"), "{full}");
    let probably = with_queue(10, (5000, true), [2, 0], |_| {});
    assert!(probably.contains(": the link was probably full, as some 5.0 kB were queued then."));
    assert!(probably.contains("Losses of a full link are no fault"), "{probably}");
    let outage = Outage { at: 1.0, length: 5.0, timeouts: 3, ..Outage::default() };
    let both = with_queue(10, (5000, true), [3, 0], |totals| totals.outage = Some(outage));
    assert!(both.contains(". Outside the outage the link is full"), "{both}");
    assert!(both.contains("Look for an outage of the path. The losses of the full link are no"));
}

#[test]
fn losses_without_a_full_link_have_other_causes() {
    let none = with_queue(10, (0, false), [0, 5], |_| {});
    assert!(none.contains("Hardly any data waited before the losses"), "{none}");
    let late = |totals: &mut CaptureTotals| totals.late = waits(2, 2.0, 2.0);
    let delayed = with_queue(10, (0, false), [0, 5], late);
    assert!(
        delayed.contains("Outside the delays hardly any data waited before losses"),
        "{delayed}"
    );
    assert!(delayed.contains(", and at times delays others."), "{delayed}");
    let alike = with_queue(10, (0, true), [2, 3], |_| {});
    assert!(alike.contains("losses happened at short and long round trips alike."), "{alike}");
    let undecided = with_queue(10, (0, true), [3, 2], |_| {});
    assert!(undecided.contains("so that a queue may have overflowed"), "{undecided}");
    for (queue, spans) in [((0, false), [0, 5]), ((0, true), [2, 3]), ((0, true), [3, 2])] {
        let few = with_queue(9, queue, spans, |_| {});
        assert!(few.contains("These losses are too few to tell their cause"), "{few}");
    }
}

/// A sender that its receiver's window limits for 6 of 10 s, at 800 kbit/s.
#[test]
fn a_full_window_is_the_limit_unless_it_was_closed_for_long() {
    let of = |small, closed| {
        let mut report = report();
        report.full_window = [6.0, small];
        let totals = totals(|totals| totals.closed_window = waits(1, closed, closed));
        said(sentences::of_connection(&totals, &report))
    };
    let large = of(0.0, 2.9);
    assert!(large.contains("The receiver's window was full for 6.0 s, and hardly any"), "{large}");
    assert!(large.contains("(full for 6.0 s of 10.0 s; 800 kbit/s on average)"), "{large}");
    assert!(of(3.0, 2.9).contains("was the limit for 6.0 s: it was small or closed"));
    assert!(!of(0.0, 3.0).contains("window was full"), "another sentence says so");
}

/// Several connections may fill a link together, and a capture at the receiver shows no delays.
#[test]
fn connections_that_fill_a_link_together_are_not_blamed_on_the_application() {
    let of = |transfers, without_delays| {
        advice_of(|totals| {
            (totals.connections, totals.transfers, totals.without_delays) =
                (2, transfers, without_delays);
        })
    };
    let both = of(2, 2);
    assert!(both.starts_with("No losses slowed the connections down (a capture"), "{both}");
    assert!(both.contains("If together they ran at about the speed of a link, that"), "{both}");
    assert!(of(1, 0).starts_with("Neither losses nor delays slowed the connections down."));
    assert!(of(0, 0).starts_with("If it is slow, losses and delays are not the reason:"));
    assert!(of(0, 1).starts_with("If it is slow, losses are not the reason:"));
}
