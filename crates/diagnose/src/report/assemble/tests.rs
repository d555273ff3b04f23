//! Tests of the figures that follow from a report's rows.

use super::*;
use crate::evidence::Necessity;
use crate::report::samples::{episode, report, retransmission, silence, timeout};

/// The time lost in milliseconds by a connection with these changes.
fn lost(change: impl FnOnce(&mut ConnectionReport)) -> Option<u64> {
    let mut report = report();
    change(&mut report);
    time_lost(&report).map(|lost| (lost * 1000.0).round() as u64)
}

#[test]
fn time_that_passed_during_several_episodes_counts_once() {
    let genuine = |times| episode(times, TimeoutClass::Genuine);
    assert_eq!(lost(|_| {}), Some(0));
    // Each ends a second after its stall, and the time lost is as long as the stall.
    assert_eq!(lost(|report| report.episodes = vec![genuine([1.0, 3.0])]), Some(2000));
    let apart = [genuine([1.0, 3.0]), genuine([6.0, 7.0])];
    assert_eq!(lost(|report| report.episodes = apart.to_vec()), Some(3000));
    // From 2 to 4 s, and from 3 to 5 s, in any order.
    let both = [genuine([2.0, 4.0]), genuine([1.0, 3.0])];
    assert_eq!(lost(|report| report.episodes = both.to_vec()), Some(3000));
    let within = [genuine([1.0, 5.0]), genuine([2.5, 3.0])];
    assert_eq!(lost(|report| report.episodes = within.to_vec()), Some(4000));
    let with_probe = |report: &mut ConnectionReport| {
        (report.episodes, report.probes) = (vec![genuine([1.0, 3.0])], vec![genuine([6.0, 6.5])]);
    };
    assert_eq!(lost(with_probe), Some(2500));
}

#[test]
fn late_acknowledgments_cost_their_silences_less_a_round_trip() {
    let of = |wait, min_rtt| {
        lost(|report| {
            (report.silences, report.min_rtt) = (vec![silence("server", 2.0, wait)], min_rtt);
        })
    };
    assert_eq!(of(Wait::Network, Some(0.25)), Some(1750));
    assert_eq!(of(Wait::Network, None), Some(2000));
    assert_eq!(of(Wait::Application, None), Some(0));
}

#[test]
fn the_time_lost_is_unknown_where_the_capture_hides_it() {
    let unended = |stalled| {
        lost(|report| {
            let mut open = episode([1.0, 3.0], TimeoutClass::Genuine);
            (open.end, open.stalled) = (None, stalled);
            report.episodes = vec![open];
        })
    };
    assert_eq!(unended(Some([1.0, 3.5])), Some(2500), "at least the stall");
    assert_eq!(unended(None), None);
    assert_eq!(lost(|report| report.only_from = Some("client")), None);
    let at_receiver = |count| {
        lost(|report| {
            report.vantage = Vantage::Receiver;
            report.retransmissions = vec![retransmission(1.0, Necessity::Needed); count];
        })
    };
    assert_eq!([at_receiver(0), at_receiver(1)], [Some(0), None]);
}

/// A silence of 30 s in which the client's host seems to have stood still, and others.
fn waits(others: &[(&'static str, f64, Wait)], timed_out: Option<&'static str>) -> Wait {
    let mut report = report();
    report.silences = vec![silence("client", 30.0, Wait::Host)];
    let others = others.iter().map(|&(end, length, wait)| silence(end, length, wait));
    report.silences.extend(others);
    report.timeouts = timed_out
        .into_iter()
        .map(|from| TimeoutReport { from, ..timeout(1.0, TimeoutClass::Genuine) })
        .collect();
    excuse_long_timers(&mut report);
    let first = &report.silences[0];
    assert_eq!(first.end, if first.wait == Wait::Host { "client" } else { "server" });
    first.wait
}

#[test]
fn a_sender_that_waited_longer_for_acks_has_a_long_timer() {
    assert_eq!(waits(&[], None), Wait::Host);
    assert_eq!(waits(&[("server", 31.0, Wait::Network)], None), Wait::Network);
    assert_eq!(waits(&[("server", 30.0, Wait::Network)], None), Wait::Host, "no longer");
    assert_eq!(waits(&[("client", 31.0, Wait::Network)], None), Wait::Host, "the other end waited");
    assert_eq!(waits(&[("server", 31.0, Wait::Window)], None), Wait::Host);
    // Its timer expires in time.
    assert_eq!(waits(&[("server", 31.0, Wait::Network)], Some("client")), Wait::Host);
    assert_eq!(waits(&[("server", 31.0, Wait::Network)], Some("server")), Wait::Network);
}

#[test]
fn an_episode_is_a_probe_if_its_only_timer_was_that_of_one() {
    let of = |timer, timeouts, at| {
        let mut one = episode([1.0, 3.0], TimeoutClass::Genuine);
        one.cost.timeouts = timeouts;
        let own = TimeoutReport { timer, ..timeout(at, TimeoutClass::Genuine) };
        is_probe(&one, &[timeout(0.5, TimeoutClass::Genuine), own])
    };
    assert!(of(Timer::Probe, 1, 1.0));
    assert!(!of(Timer::Retransmission, 1, 1.0) && !of(Timer::Either, 1, 1.0));
    assert!(!of(Timer::Probe, 2, 1.0) && !of(Timer::Probe, 1, 1.5));
}
