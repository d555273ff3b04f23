//! Tests of the rules of a passive analyser with captures specified packet by packet.

use crate::script::Event::{self, Ack, Data, Duplicate, Sacked, SuperSegment};
use crate::script::{BYTES, Script};
use rtolab_diagnose::{ConnectionReport, Necessity, TimeoutClass, Vantage};

/// A capture with a handshake that negotiates SACK.
fn after_handshake(near: u64, far: u64, stamps: bool) -> Script {
    Script::opened((near, far), stamps, true)
}

/// The reference timeline up to its timeout: eight segments are delayed, and the first times out.
fn delayed() -> Vec<(u64, Event)> {
    let mut events: Vec<(u64, Event)> = (1..=8).map(|n| (2000, Data(n))).collect();
    events.push((4500, Data(1)));
    events
}

/// The reference timeline with go-back-N after the timeout.
fn go_back_n() -> Vec<(u64, Event)> {
    let mut events = delayed();
    // The time of each acknowledgment, its number, and the segments sent in response.
    let responses: [(u64, u32, &[u32]); 8] = [
        (8100, 1, &[2, 3]),
        (8200, 2, &[4, 5]),
        (8300, 3, &[6, 7]),
        (8400, 4, &[8]),
        (8500, 5, &[9]),
        (8600, 6, &[10]),
        (8700, 7, &[11]),
        (8800, 8, &[12, 13]),
    ];
    for (at, ack, sent) in responses {
        events.push((at, Ack(ack)));
        events.extend(sent.iter().map(|&n| (at, Data(n))));
    }
    events.push((8900, Ack(8)));
    events.push((9200, Ack(8)));
    events
}

fn triggers(report: &ConnectionReport) -> Vec<&'static str> {
    report.retransmissions.iter().map(|resent| resent.trigger.name()).collect()
}

fn all_unneeded(report: &ConnectionReport) -> bool {
    report.retransmissions.iter().all(|resent| resent.verdict == Necessity::Unneeded)
}

#[test]
fn t_pc_1_go_back_n_is_recognized() {
    let mut events = go_back_n();
    events.extend((0..6).map(|n| (9300 + n * 100, Ack(8))));
    events.extend([(9900, Ack(9)), (10_000, Ack(10)), (10_100, Ack(11))]);
    let report = after_handshake(0, 1000, false).add_events(&events).report();
    assert_eq!(report.vantage, Vantage::Sender);
    let mut expected = vec!["timeout"];
    expected.extend(["after-timeout"; 7]);
    assert_eq!(triggers(&report), expected);
    assert!(all_unneeded(&report), "{:#?}", report.retransmissions);
    assert_eq!(report.timeouts[0].class, TimeoutClass::Spurious);
    assert!(report.findings.iter().any(|one| one.kind == "go-back-n"));
}

#[test]
fn t_pc_1_a_spurious_fast_retransmit_after_a_spurious_timeout() {
    let mut events = go_back_n();
    events.extend([(9300, Ack(8)), (9300, Data(9))]);
    events.extend((0..5).map(|n| (9400 + n * 100, Ack(8))));
    events.extend([(9900, Ack(9)), (10_000, Ack(10)), (10_100, Ack(11))]);
    let report = after_handshake(0, 1000, false).add_events(&events).report();
    assert_eq!(triggers(&report).last(), Some(&"fast"));
    assert!(all_unneeded(&report), "{:#?}", report.retransmissions);
    assert_eq!(report.episodes[0].cost.spurious_fast_retransmits, 1);
}

#[test]
fn t_pc_1_frto_retransmits_one_segment() {
    let mut events = delayed();
    events.extend([(8100, Ack(1)), (8100, Data(9)), (8100, Data(10))]);
    events.extend((2..=8).map(|n| (8000 + u64::from(n) * 100, Ack(n))));
    events.extend([(8900, Ack(8)), (9200, Ack(9)), (9300, Ack(10))]);
    let report = after_handshake(0, 1000, false).add_events(&events).report();
    assert_eq!(triggers(&report), ["timeout"]);
    assert_eq!(report.timeouts[0].class, TimeoutClass::Spurious);
    assert_eq!(report.timeouts[0].verdicts["frto"], "spurious");
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

#[test]
fn t_pc_1_eifel_by_timestamps() {
    let mut script = after_handshake(0, 1000, true);
    script.echo = 2001;
    let mut events = delayed();
    events.extend([(8100, Ack(1)), (8100, Data(9)), (8200, Ack(2)), (8200, Data(10))]);
    let report = script.add_events(&events).report();
    assert_eq!(report.retransmissions[0].evidence[0].kind, "older-timestamp");
    assert_eq!(report.timeouts[0].verdicts["eifel"], "spurious");
    assert_eq!(report.timeouts[0].class, TimeoutClass::Spurious);
}

#[test]
fn t_pc_2_at_the_receiver_both_copies_arrive_and_the_trigger_is_unknown() {
    let mut events: Vec<(u64, Event)> = Vec::new();
    for n in 1..=8 {
        events.extend([(6000 + u64::from(n) * 100, Data(n)), (6000 + u64::from(n) * 100, Ack(n))]);
    }
    events.extend([(6900, Data(1)), (6900, Ack(8)), (7200, Data(2)), (7200, Ack(8))]);
    let report = after_handshake(1000, 0, false).add_events(&events).report();
    assert_eq!(report.vantage, Vantage::Receiver);
    assert_eq!(triggers(&report), ["unknown", "unknown"]);
    let kinds: Vec<_> =
        report.retransmissions.iter().map(|resent| resent.evidence[0].kind).collect();
    assert_eq!(kinds, ["both-copies-seen"; 2]);
    assert!(report.timeouts.is_empty());
}

#[test]
fn t_pc_3_lost_and_late_acknowledgments_are_distinguished() {
    let mut script = after_handshake(0, 1000, true);
    script.echo = 2001;
    let mut events = delayed();
    events.extend([(5500, Duplicate(8, 1)), (5500, Data(9))]);
    let report = script.add_events(&events).report();
    assert_eq!(report.retransmissions[0].verdict, Necessity::Unneeded);
    assert_eq!(report.timeouts[0].class, TimeoutClass::AckLost);
    assert_eq!(report.timeouts[0].verdicts["eifel"], "spurious");
    assert_eq!(report.timeouts[0].verdicts["eifel:rfc3522"], "genuine");
}

#[test]
fn t_pc_4_a_packet_missing_from_the_capture_is_not_lost() {
    let mut events: Vec<(u64, Event)> = [1, 2, 4, 5].map(|n| (2000 + u64::from(n), Data(n))).into();
    events.extend((1..=5).map(|n| (3000 + u64::from(n), Ack(n))));
    events.extend([(3100, Data(6)), (4100, Ack(6)), (4200, Ack(8)), (4300, Data(9))]);
    let report = after_handshake(0, 1000, false).add_events(&events).report();
    assert_eq!(report.retransmissions.len(), 0);
    assert_eq!(report.missed_bytes, 3 * u64::from(BYTES));
}

#[test]
fn a_timer_that_expires_amid_duplicate_acknowledgments_is_a_timeout() {
    let mut events: Vec<(u64, Event)> = (1..=8).map(|n| (2000, Data(n))).collect();
    events.extend([
        (3000, Ack(1)),
        (3001, Ack(1)),
        (3002, Ack(1)),
        (3003, Ack(1)),
        (3003, Data(2)),
    ]);
    // The sender has already responded to the acknowledgment before the timeout.
    events.extend([(6298, Ack(1)), (6298, Data(9)), (6300, Data(2)), (7300, Ack(9))]);
    let report = after_handshake(0, 1000, false).add_events(&events).report();
    assert_eq!(triggers(&report), ["fast", "timeout"]);
    assert_eq!(report.timeouts[0].backoff, 0);
}

#[test]
fn a_stall_begins_when_data_become_outstanding() {
    let mut events = vec![(2000, Data(1)), (3000, Ack(1))];
    // Nothing is outstanding for a minute.
    events.extend([(63_000, Data(2)), (66_000, Data(2)), (67_000, Ack(2))]);
    let report = after_handshake(0, 1000, false).add_events(&events).report();
    assert_eq!(report.episodes[0].stalled, Some([63.0, 67.0]));
    let cost = report.episodes[0].cost;
    assert_eq!((cost.stall, cost.time_lost), (Some(4.0), Some(3.0)));
    assert!(report.episodes[0].description.starts_with("Nothing came back for 4.000 s"));
}

/// A connection with a measured round-trip time of 100 ms, until the timeout of segment 2.
fn timed_out() -> Vec<(u64, Event)> {
    vec![(1000, Data(1)), (1100, Ack(1)), (2000, Data(2)), (2000, Data(3)), (4500, Data(2))]
}

#[test]
fn without_d_sack_a_missing_duplicate_ack_shows_that_acknowledgments_were_lost() {
    let class = |meanwhile: &[(u64, Event)]| {
        let mut script = after_handshake(0, 100, true);
        script.echo = 2001;
        // The acknowledgment comes a round trip after the copy, like a response to it. Segment 3 is
        // lost.
        script.add_events(&timed_out()).add_events(&[(4600, Ack(2)), (4600, Data(4))]);
        script.add_events(meanwhile).add_events(&[(4700, Duplicate(2, 4)), (4700, Data(3))]);
        script.echo = 4701;
        script.add_events(&[(4800, Ack(4))]);
        script.report().timeouts[0].class
    };
    assert_eq!(class(&[]), TimeoutClass::AckLost);
    // The duplicate ACK is the response to the copy.
    assert_eq!(class(&[(4650, Ack(2))]), TimeoutClass::Spurious);
}

#[test]
fn an_acknowledgment_of_segments_that_were_sacked_before_the_timeout_is_late() {
    let mut script = after_handshake(0, 100, true);
    script.add_events(&timed_out()[..4]).add_events(&[(2000, Data(4)), (2000, Data(5))]);
    script.add_events(&[(2100, Duplicate(1, 3)), (2101, Duplicate(1, 4)), (2102, Duplicate(1, 5))]);
    script.add_events(&[(2102, Data(2)), (4500, Data(2))]);
    script.echo = 2103;
    let report = script.add_events(&[(8000, Ack(5))]).report();
    assert_eq!(triggers(&report), ["fast", "timeout"]);
    let verdicts: Vec<_> = report.retransmissions.iter().map(|resent| resent.verdict).collect();
    assert_eq!(verdicts, [Necessity::Needed, Necessity::Unneeded]);
    assert_eq!(report.timeouts[0].class, TimeoutClass::Spurious);
}

#[test]
fn as_many_duplicate_acks_as_retransmissions_show_that_all_were_unneeded() {
    let verdicts = |duplicates: u64| {
        let mut script = after_handshake(0, 100, false);
        script.add_events(&timed_out()[..4]).add_events(&[(2300, Data(3)), (2700, Data(2))]);
        script.add_events(&[(5000, Ack(3)), (5000, Data(4))]);
        script.add_events(&(0..duplicates).map(|n| (5001 + n, Ack(3))).collect::<Vec<_>>());
        let report = script.add_events(&[(5100, Ack(4))]).report();
        assert_eq!(triggers(&report), ["tlp", "timeout"]);
        let each = |resent: &rtolab_diagnose::RetransmissionReport| {
            resent.evidence.iter().any(|piece| piece.kind == "duplicate-each")
        };
        report.retransmissions.iter().map(each).collect::<Vec<_>>()
    };
    assert_eq!(verdicts(2), [true, true]);
    assert_eq!(verdicts(1), [false, false]);
}

/// Segment 3 is lost, and the acknowledgment of segment 2.
#[test]
fn parts_of_a_super_segment_that_arrive_are_no_duplicate_acks() {
    let mut script = after_handshake(0, 100, false);
    script.add_events(&timed_out()[..4]).add_events(&[(2300, Data(3)), (2700, Data(2))]);
    script.add_events(&[(2800, Ack(2)), (2800, SuperSegment(4, 6)), (2900, Sacked(2, 4, 4))]);
    script.add_events(&[(2901, Sacked(2, 4, 5)), (2902, Sacked(2, 4, 6)), (2902, Data(3))]);
    let report = script.add_events(&[(3002, Ack(6))]).report();
    assert_eq!(triggers(&report)[..2], ["tlp", "timeout"]);
    let kinds = report.retransmissions.iter().flat_map(|one| &one.evidence).map(|one| one.kind);
    assert!(!kinds.into_iter().any(|kind| kind == "duplicate-each"));
    assert_eq!(report.timeouts[0].class, TimeoutClass::Unknown);
}

#[test]
fn the_reordering_timer_is_no_timeout() {
    let trigger = |at| {
        let mut events = timed_out()[..4].to_vec();
        events.extend([
            (2000, Data(4)),
            (2100, Duplicate(1, 4)),
            (at, Data(2)),
            (at + 100, Ack(4)),
        ]);
        triggers(&after_handshake(0, 100, true).add_events(&events).report())[0]
    };
    assert_eq!(trigger(2130), "fast");
    assert_eq!(trigger(2450), "timeout");
}

#[test]
fn duplicates_still_in_flight_are_evidence_that_the_original_arrived() {
    let mut events = vec![(1000, Data(1)), (1100, Ack(1))];
    events.extend((2..=5).map(|n| (2000, Data(n))));
    events.extend([(4500, Data(2)), (8000, Ack(2)), (8000, Data(3)), (8000, Data(4))]);
    // The copies of 3 and 4 are lost. Their originals are acknowledged a round trip after the
    // copies were sent.
    events.extend([(8100, Ack(3)), (8101, Duplicate(4, 2)), (8102, Ack(5)), (9000, Data(6))]);
    events.extend([(9100, Ack(6))]);
    let report = after_handshake(0, 100, false).add_events(&events).report();
    let last = &report.retransmissions[2];
    assert_eq!(last.verdict, Necessity::Unneeded, "{last:#?}");
    let mut kinds = last.evidence.iter().map(|piece| piece.kind);
    assert!(kinds.any(|kind| kind == "duplicates-to-come"), "{last:#?}");
}

#[test]
fn copies_without_a_reported_duplicate_were_needed() {
    let mut events = timed_out()[..3].to_vec();
    events.extend([2300, 2900, 4100].map(|at| (at, Data(2))));
    // Later the receiver reports a duplicate, so it supports D-SACK.
    events.extend([(4200, Ack(2)), (4200, Data(3)), (4500, Data(3)), (4600, Ack(3))]);
    events.extend([(4700, Duplicate(3, 3)), (5000, Data(4)), (5100, Ack(4))]);
    let report = after_handshake(0, 100, false).add_events(&events).report();
    let genuine = report.timeouts.iter().filter(|timeout| timeout.class == TimeoutClass::Genuine);
    assert_eq!(genuine.count(), 3, "{:#?}", report.timeouts);
}

#[test]
fn without_options_the_order_of_duplicate_acks_shows_the_unneeded_copies() {
    let mut events = vec![(1000, Data(1)), (1100, Ack(1))];
    events.extend((2..=12).map(|n| (2000, Data(n))));
    // Segments 2, 5 and 8 are lost.
    events.extend((0..8).map(|n| (2100 + n, Ack(1))));
    events.push((2102, Data(2)));
    events.sort_by_key(|&(at, _)| at);
    events.extend([(2202, Ack(4)), (2202, Data(5)), (2202, Data(6)), (2202, Data(7))]);
    events.extend([(2302, Ack(7)), (2302, Data(8)), (2302, Data(9)), (2302, Data(10))]);
    events.extend([(2303, Ack(7)), (2304, Ack(7)), (2402, Ack(12)), (2402, Data(13))]);
    events.extend([(2403, Ack(12)), (2404, Ack(12)), (2502, Ack(13))]);
    let report = Script::opened((0, 100), false, false).add_events(&events).report();
    let needed = |resent: &rtolab_diagnose::RetransmissionReport| match resent.verdict {
        Necessity::Needed => 'n',
        Necessity::Unneeded => 'u',
        Necessity::Unknown => '?',
    };
    let verdicts: String = report.retransmissions.iter().map(needed).collect();
    assert_eq!(verdicts, "nnuunuu", "{:#?}", report.retransmissions);
}

#[test]
fn an_ack_is_not_too_soon_after_an_outage_discarded_the_queue() {
    // Until the outage every packet waits in a queue for 80 ms. Without it the path takes 20 ms.
    let mut events = vec![(1000, Data(1)), (1100, Ack(1))];
    events.extend((2..=5).map(|n| (2000, Data(n))));
    events.extend([(4500, Data(2)), (4520, Ack(2)), (4520, Data(6)), (4520, Data(7))]);
    events.extend([(4540, Duplicate(2, 6)), (4540, Data(3)), (4560, Ack(3)), (4560, Data(4))]);
    let report = after_handshake(0, 100, false).add_events(&events).report();
    assert_eq!(triggers(&report)[0], "timeout");
    assert_ne!(report.retransmissions[0].verdict, Necessity::Unneeded);
    assert_ne!(report.timeouts[0].class, TimeoutClass::Spurious);
}

#[test]
fn an_ack_is_too_soon_only_if_the_path_is_measured_after_it() {
    let mut events = vec![(1000, Data(1)), (1100, Ack(1)), (2000, Data(2))];
    events.extend([(4500, Data(2)), (4520, Ack(2))]);
    let before = after_handshake(0, 100, false).add_events(&events).report();
    assert_eq!(before.retransmissions[0].verdict, Necessity::Unknown);
    let measured = [(5000, Data(3)), (5100, Ack(3))];
    let kinds = |more: &[(u64, Event)]| {
        let mut script = after_handshake(0, 100, false);
        let report = script.add_events(&events).add_events(more).add_events(&measured).report();
        report.retransmissions[0].evidence.iter().map(|piece| piece.kind).collect::<Vec<_>>()
    };
    // The copy may be lost, unless its duplicate ACK arrives.
    assert_eq!(kinds(&[]), [""; 0]);
    assert!(kinds(&[(4600, Ack(2))]).contains(&"ack-too-soon"));
}

#[test]
fn an_ack_without_a_d_sack_answers_an_original_if_the_receiver_reports_duplicates() {
    let timeline = |reports: bool| {
        let mut script = after_handshake(0, 100, true);
        script.add_events(&[(1000, Data(1)), (1100, Ack(1)), (1300, Data(1))]);
        script.add_events(&[if reports { (1400, Duplicate(1, 1)) } else { (1400, Ack(1)) }]);
        script.add_events(&(2..=9).map(|n| (2000, Data(n))).collect::<Vec<_>>());
        script.echo = 2001;
        // The stall ends when an answer to the copy is due. The first ACKs of the originals are
        // lost, and so is the answer to the copy.
        script.add_events(&[(4500, Data(2)), (4600, Ack(9)), (4600, Data(10)), (4700, Ack(10))]);
        script.report()
    };
    assert_eq!(timeline(true).timeouts.last().map(|one| one.class), Some(TimeoutClass::Spurious));
    assert_eq!(timeline(false).timeouts.last().map(|one| one.class), Some(TimeoutClass::AckLost));
}
