//! Tests of the timers that other minimum RTOs would give, on captures that are specified packet by
//! packet. The round trip is 100 ms.

use crate::script::Event::{self, Ack, Data, Duplicate};
use crate::script::Script;
#[allow(dead_code, reason = "only a part of the events is used")]
use rtolab_diagnose::{Diagnosis, MINIMUM_RTOS_MS, TimerReport};

/// Waits with the usual round trip, such that SRTT is 100 ms and no deviation is left.
const STEADY: u32 = 60;

/// A capture with the steady waits. Events after them begin at 30 s and with the segment after
/// [`STEADY`].
fn steady(stamps: bool, sack: bool) -> Script {
    let mut script = Script::opened_with(Diagnosis::with_timers(), (0, 100), stamps, sack);
    for number in 1..=STEADY {
        let at = 1000 + 200 * u64::from(number);
        script.add_events(&[(at, Data(number)), (at + 100, Ack(number))]);
    }
    script
}

fn of_client(script: &mut Script) -> Vec<TimerReport> {
    let timers = script.report().timers;
    timers.into_iter().filter(|row| row.from == "client").collect()
}

/// The rows of the client after the steady waits and these events.
fn rows(sack: bool, events: &[(u64, Event)]) -> Vec<TimerReport> {
    of_client(steady(false, sack).add_events(events))
}

fn at(rows: &[TimerReport], millis: u64) -> TimerReport {
    let index = MINIMUM_RTOS_MS.iter().position(|minimum| *minimum == millis);
    rows[index.expect("a minimum of the list")].clone()
}

#[test]
fn steady_round_trips_are_never_late() {
    for row in rows(true, &[]) {
        // The SYN gives a round trip, too, and the first wait had an estimate.
        assert_eq!(row.waits, u64::from(STEADY), "{row:?}");
        assert_eq!(row.single_waits, row.waits);
        assert_eq!((row.late, row.genuine, row.unknown), (0, 0, 0));
        let decayed = row.minimum >= 0.05;
        assert!(!decayed || row.spurious + row.spurious_probes == 0, "{row:?}");
    }
}

/// The ACK comes after 400 ms, 300 ms beyond SRTT.
#[test]
fn without_probes_the_timer_expires_after_srtt_and_the_minimum() {
    let rows = rows(false, &[(30_000, Data(61)), (30_400, Ack(61))]);
    for (millis, late) in [(20, 1), (200, 1), (300, 0), (500, 0)] {
        let row = at(&rows, millis);
        assert_eq!((row.late, row.spurious, row.spurious_probes), (late, late, 0), "{millis} ms");
        assert_eq!(row.spurious_single, late);
    }
}

/// With probes the timer of a single segment restarts when the probe is sent: after 100 ms and the
/// minimum, and again after as long.
#[test]
fn with_probes_the_first_deadline_is_that_of_the_probe() {
    let rows = rows(true, &[(30_000, Data(61)), (30_400, Ack(61))]);
    for (millis, probes, timeouts) in
        [(20, 1, 1), (70, 1, 1), (150, 1, 0), (200, 1, 0), (300, 0, 0)]
    {
        let row = at(&rows, millis);
        assert_eq!((row.spurious_probes, row.spurious), (probes, timeouts), "{millis} ms");
    }
}

/// The segment was lost, and retransmitted after 300 ms. The ACK echoes the copy.
#[test]
fn a_real_timeout_would_have_come_earlier_by_the_difference_of_the_minimums() {
    let mut script = steady(true, false);
    script.add_events(&[(30_000, Data(61)), (30_300, Data(61))]);
    script.echo = 30_301;
    script.add_events(&[(30_400, Ack(61))]);
    script.echo = 31_001;
    script.add_events(&[(31_000, Data(62)), (31_100, Ack(62))]);
    let rows = of_client(&mut script);
    for (millis, saved) in [(50, 0.15), (100, 0.1), (200, 0.0), (500, -0.3)] {
        let row = at(&rows, millis);
        assert_eq!((row.genuine, row.unknown, row.spurious), (1, 0, 0), "{millis} ms");
        assert!((row.saved - saved).abs() < 0.002, "{millis} ms: {}", row.saved);
    }
}

/// As before, but the ACK echoes the original: the timeout was spurious.
#[test]
fn a_spurious_timeout_of_the_capture_is_spurious_with_any_smaller_minimum() {
    let mut script = steady(true, false);
    script.add_events(&[(30_000, Data(61)), (30_300, Data(61))]);
    script.echo = 30_001;
    script.add_events(&[(30_350, Ack(61))]);
    let rows = of_client(&mut script);
    for (millis, spurious) in [(50, 1), (200, 1), (300, 0)] {
        let row = at(&rows, millis);
        assert_eq!((row.genuine, row.spurious), (0, spurious), "{millis} ms");
    }
}

#[test]
fn a_diagnosis_replays_no_timers_unless_asked() {
    let mut script = Script::opened((0, 100), true, true);
    let report = script.add_events(&[(1000, Data(1)), (1100, Ack(1))]).report();
    assert!(report.timers.is_empty());
}

/// The rows and the report of a sender with SACK whose last segment was lost and retransmitted once
/// after 300 ms, as by a timeout and by a tail loss probe. These events follow.
fn single_segment(events: &[(u64, Event)]) -> rtolab_diagnose::ConnectionReport {
    let mut script = steady(true, true);
    script.add_events(&[(30_000, Data(61)), (30_300, Data(61))]);
    script.echo = 30_301;
    script.add_events(&[(30_400, Ack(61))]);
    for (millis, event) in events {
        if let Ack(_) = event {
            script.echo = *millis as u32 - 99;
        }
        script.add_events(&[(*millis, *event)]);
    }
    script.report()
}

/// With 100 ms both timers would have expired 0.1 s earlier.
#[test]
fn a_single_segment_is_repaired_earlier_by_the_difference_of_the_minimums() {
    let (flight, next) = (
        [62, 63, 64, 65].map(|number| (31_000, Data(number))),
        [(31_100, Ack(65)), (31_500, Data(66)), (31_600, Ack(66))],
    );
    let probe = [&flight[..], &next].concat();
    let either = [(31_000, Data(62)), (31_100, Ack(62))];
    for events in [&probe[..], &either] {
        let timers = single_segment(events).timers;
        let rows: Vec<_> = timers.into_iter().filter(|row| row.from == "client").collect();
        for (millis, saved) in [(50, 0.15), (100, 0.1), (200, 0.0), (500, -0.3)] {
            let row = at(&rows, millis);
            assert_eq!((row.genuine, row.probed, row.unknown), (0, 1, 0), "{millis} ms");
            assert!((row.probes_saved - saved).abs() < 0.002, "{millis} ms: {}", row.probes_saved);
        }
    }
}

/// After a timeout and an ACK, cwnd is two segments.
#[test]
fn a_flight_after_its_ack_shows_that_a_retransmission_was_a_probe() {
    let events = [62, 63, 64, 65].map(|number| (31_000, Data(number)));
    let end = [(31_100, Ack(65)), (31_500, Data(66)), (31_600, Ack(66))];
    let report = single_segment(&[&events[..], &end].concat());
    assert!(report.timeouts.is_empty() && report.episodes.is_empty(), "{:?}", report.timeouts);
    assert_eq!(report.retransmissions[0].trigger.name(), "tlp");
    let lost = report.time_lost.expect("a time lost");
    assert!((lost - 0.3).abs() < 0.001, "{lost}");
}

#[test]
fn a_retransmission_without_such_a_flight_may_be_either() {
    let report = single_segment(&[(31_000, Data(62)), (31_100, Ack(62))]);
    let [timeout] = &report.timeouts[..] else { panic!("{:?}", report.timeouts) };
    assert!(timeout.may_be_probe);
}

/// The first copy is lost, too. The next timer is twice the RTO after a timeout, and the RTO after
/// a probe.
#[test]
fn the_next_timer_shows_whether_a_retransmission_was_a_probe() {
    for (second, first_is_probe) in [(30_600, true), (30_900, false)] {
        let mut script = steady(true, true);
        script.add_events(&[(30_000, Data(61)), (30_300, Data(61)), (second, Data(61))]);
        script.echo = second as u32 + 1;
        script.add_events(&[(second + 100, Ack(61))]);
        script.echo = 32_001;
        let report = script.add_events(&[(32_000, Data(62)), (32_100, Ack(62))]).report();
        let triggers: Vec<_> =
            report.retransmissions.iter().map(|one| one.trigger.name()).collect();
        let first = if first_is_probe { "tlp" } else { "timeout" };
        assert_eq!(triggers, [first, "timeout"], "{second}");
        assert_eq!(report.timeouts.len(), 2 - usize::from(first_is_probe), "{second}");
        assert!(report.timeouts.iter().all(|timeout| !timeout.may_be_probe), "{second}");
    }
}

/// Without SACK there are no probes.
#[test]
fn a_sender_without_sack_has_timeouts_only() {
    let mut script = steady(true, false);
    script.add_events(&[(30_000, Data(61)), (30_300, Data(61)), (30_400, Ack(61))]);
    let report = script.report();
    assert_eq!(report.timeouts.len(), 1);
    assert!(!report.timeouts[0].may_be_probe);
}

/// The same of a server, which learns from the SYN whether it may use SACK.
#[test]
fn a_server_without_sack_has_timeouts_only() {
    for (sack, may_be_probe) in [(false, false), (true, true)] {
        let mut script = steady(true, sack);
        script.add_events(&[(30_000, Data(61)), (30_300, Data(61)), (30_400, Ack(61))]);
        let report = script.report_of_server();
        let [timeout] = &report.timeouts[..] else { panic!("{:?}", report.timeouts) };
        assert_eq!((timeout.from, timeout.may_be_probe), ("server", may_be_probe));
        let timers = report.timers.iter().filter(|row| row.from == "server");
        assert_eq!(timers.map(|row| row.spurious_probes).sum::<u64>() > 0, may_be_probe);
    }
}

/// The ACK of the original comes 250 ms after SRTT.
#[test]
fn the_wait_before_a_spurious_timeout_is_one_with_a_late_ack() {
    let mut script = steady(true, false);
    script.add_events(&[(30_000, Data(61)), (30_300, Data(61))]);
    script.echo = 30_001;
    let rows = of_client(script.add_events(&[(30_350, Ack(61))]));
    for (millis, late) in [(20, 1), (200, 1), (300, 0)] {
        let row = at(&rows, millis);
        assert_eq!((row.waits, row.late), (u64::from(STEADY) + 1, late), "{millis} ms");
    }
}

/// 61 was lost. Its duplicate ACKs come late, and the timer of a smaller minimum would have expired
/// before.
#[test]
fn a_short_timer_expires_before_the_fast_retransmit_of_a_loss() {
    let mut script = steady(true, false);
    script.add_events(&[61, 62, 63, 64].map(|number| (30_000, Data(number))));
    script.add_events(&[(30_180, Ack(60)); 3]);
    script.add_events(&[(30_181, Data(61))]);
    script.echo = 30_182;
    let rows = of_client(script.add_events(&[(30_281, Ack(64))]));
    for (millis, preempted) in [(20, 1), (70, 1), (100, 0), (300, 0)] {
        let row = at(&rows, millis);
        assert_eq!((row.preempted, row.genuine, row.unknown), (preempted, 0, 0), "{millis} ms");
        assert_eq!(row.waits, u64::from(STEADY), "no ACK of an original ended the wait");
    }
}

/// Linux sends probes again when everything sent before the retransmission is acknowledged.
#[test]
fn after_a_recovery_the_first_deadline_is_again_that_of_the_probe() {
    let mut script = steady(true, true);
    script.add_events(&[(30_000, Data(61)), (30_300, Data(61))]);
    script.echo = 30_301;
    script.add_events(&[(30_400, Ack(61)), (31_000, Data(62))]);
    script.echo = 31_001;
    let rows = of_client(script.add_events(&[(31_400, Ack(62))]));
    for (millis, probes, timeouts) in [(70, 1, 1), (150, 1, 0), (200, 1, 0), (300, 0, 0)] {
        let row = at(&rows, millis);
        assert_eq!((row.spurious_probes, row.spurious), (probes, timeouts), "{millis} ms");
    }
}

/// New data restarts the probe timer, but not the retransmission timer.
#[test]
fn the_retransmission_timer_runs_from_the_oldest_segment() {
    let events = [(30_000, Data(61)), (30_380, Data(62)), (30_420, Ack(61)), (30_480, Ack(62))];
    let rows = rows(false, &events);
    for (millis, spurious) in [(200, 1), (300, 1), (500, 0)] {
        assert_eq!(at(&rows, millis).spurious, spurious, "{millis} ms");
    }
}

/// 62 is sent while the ACK of the retransmission is awaited.
#[test]
fn new_data_after_a_retransmission_begins_no_wait() {
    let mut script = steady(true, false);
    script.add_events(&[(30_000, Data(61)), (30_300, Data(61)), (30_350, Data(62))]);
    script.echo = 30_301;
    script.add_events(&[(30_400, Ack(61))]);
    script.echo = 30_351;
    let rows = of_client(script.add_events(&[(30_450, Ack(62))]));
    // The wait for 62 begins with the ACK of 61.
    assert_eq!(at(&rows, 200).waits, u64::from(STEADY) + 1);
    assert_eq!(at(&rows, 200).genuine, 1);
}

/// The ACK of the retransmission is partial, so the recovery goes on.
#[test]
fn in_a_recovery_there_is_no_probe() {
    let mut script = steady(true, true);
    script.add_events(&[61, 62, 63, 64].map(|number| (30_000, Data(number))));
    script.add_events(&[(30_100, Duplicate(60, 62)), (30_101, Data(61))]);
    script.echo = 30_102;
    script.add_events(&[(30_201, Ack(62))]);
    script.echo = 30_001;
    let rows = of_client(script.add_events(&[(30_600, Ack(64))]));
    for (millis, timeouts) in [(70, 1), (200, 1), (500, 0)] {
        let row = at(&rows, millis);
        assert_eq!((row.spurious_probes, row.spurious), (0, timeouts), "{millis} ms");
    }
}

/// The timeout of 61 began a recovery of all four segments.
#[test]
fn a_timeout_of_the_last_segment_in_a_recovery_is_no_probe() {
    let mut script = steady(true, true);
    script.add_events(&[61, 62, 63, 64].map(|number| (30_000, Data(number))));
    script.add_events(&[(30_300, Data(61))]);
    script.echo = 30_301;
    script.add_events(&[(30_400, Ack(63)), (30_700, Data(64))]);
    script.echo = 30_701;
    script.add_events(&[(30_800, Ack(64)), (31_000, Data(65))]);
    script.echo = 31_001;
    let report = script.add_events(&[(31_100, Ack(65))]).report();
    assert_eq!(report.timeouts.len(), 2);
    assert!(report.timeouts.iter().all(|timeout| !timeout.may_be_probe), "{:?}", report.timeouts);
}

/// With SACK a spurious retransmission of the capture is one by the probe with a smaller minimum,
/// and the timeout after it comes later.
#[test]
fn a_spurious_retransmission_of_a_single_segment_is_one_by_the_probe_as_well() {
    let mut script = steady(true, true);
    script.add_events(&[(30_000, Data(61)), (30_300, Data(61))]);
    script.echo = 30_001;
    let rows = of_client(script.add_events(&[(30_350, Ack(61))]));
    for (millis, probes, timeouts) in [(70, 1, 1), (100, 1, 0), (200, 1, 0), (300, 0, 0)] {
        let row = at(&rows, millis);
        let spurious = (row.spurious_probes, row.spurious, row.spurious_single);
        assert_eq!(spurious, (probes, timeouts, timeouts), "{millis} ms");
    }
}

/// The ACK comes a round trip after the copy, and the capture shows nothing later.
#[test]
fn a_retransmission_without_a_verdict_is_unknown_where_the_timer_would_have_expired() {
    let rows = rows(false, &[(30_000, Data(61)), (30_300, Data(61)), (30_400, Ack(61))]);
    for (millis, unknown) in [(50, 1), (200, 1), (500, 0)] {
        let row = at(&rows, millis);
        assert_eq!((row.unknown, row.genuine, row.spurious), (unknown, 0, 0), "{millis} ms");
    }
}
