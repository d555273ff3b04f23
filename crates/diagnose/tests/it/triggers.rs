//! Tests of triggers, on captures at the sender that are specified packet by packet. The round trip
//! is 100 ms, so the retransmission timer takes 300 ms.

use rtolab_capture::{Captured, RUN_START};
use rtolab_diagnose::Diagnosis;
use rtolab_tcp::Flags;
use rtolab_time::Duration;

use crate::packets::{segment, sent};
use crate::script::Event::{self, Ack, Data, Duplicate, Sacked};
use crate::script::Script;

/// The triggers after a first segment, which was acknowledged at 1100 ms.
fn triggers(sack: bool, events: &[(u64, Event)]) -> Vec<&'static str> {
    let mut script = Script::opened((0, 100), false, sack);
    script.add_events(&[(1000, Data(1)), (1100, Ack(1))]);
    let report = script.add_events(events).report();
    report.retransmissions.iter().map(|one| one.trigger.name()).collect()
}

/// An ACK of new data without a gap gives no reason to retransmit.
#[test]
fn an_answer_to_an_ack_that_reports_no_gap_has_an_unknown_trigger() {
    let flight = [2, 3, 4, 5].map(|number| (2000, Data(number)));
    let after = |ack: Event, sack| {
        let events = [(2100, ack), (2101, Data(3)), (2201, Ack(5))];
        triggers(sack, &[&flight[..], &events].concat())
    };
    assert_eq!(after(Ack(2), false), ["unknown"]);
    assert_eq!(after(Ack(2), true), ["unknown"]);
    assert_eq!(after(Sacked(2, 4, 5), true), ["fast"], "this ACK reports a gap");
}

/// NewReno: 2 and 4 were lost. The partial ACK comes early, and its answer after a late duplicate.
#[test]
fn the_answer_to_a_duplicate_in_recovery_is_no_timeout_if_the_segment_was_not_retransmitted() {
    let mut events: Vec<_> = (2..=8).map(|number| (2000, Data(number))).collect();
    events.extend([(2100, Ack(1)); 5]);
    events.extend([(2101, Data(2)), (2201, Ack(3)), (2202, Data(9)), (2203, Data(10))]);
    events.extend([(2600, Ack(3)), (2601, Data(4)), (2701, Ack(10))]);
    assert_eq!(triggers(false, &events), ["fast", "recovery"]);
}

/// The retransmission was lost, too, and duplicates trigger no second one without SACK.
#[test]
fn the_second_retransmission_of_a_segment_in_recovery_is_a_timeout() {
    let mut events: Vec<_> = (2..=8).map(|number| (2000, Data(number))).collect();
    events.extend([(2100, Ack(1)); 5]);
    events.extend([(2101, Data(2)), (2400, Ack(1)), (2402, Data(2)), (2502, Ack(8))]);
    assert_eq!(triggers(false, &events), ["fast", "timeout"]);
}

/// F-RTO finds the timeout spurious, and then three duplicates report the loss of 4.
#[test]
fn duplicates_after_f_rto_trigger_a_fast_retransmit() {
    let after = |duplicates: u32| {
        let mut events: Vec<_> = (2..=6).map(|number| (2000, Data(number))).collect();
        events.extend([(2300, Data(2)), (2400, Ack(2)), (2401, Data(7)), (2401, Data(8))]);
        events.push((2410, Ack(3)));
        events.extend((0..duplicates).map(|one| (2411, Duplicate(3, 5 + one))));
        events.extend([(2412, Data(4)), (2512, Ack(8))]);
        triggers(true, &events)
    };
    assert_eq!(after(3), ["timeout", "fast"]);
    assert_eq!(after(1), ["timeout", "after-timeout"]);
}

/// The first retransmission was lost. No timer has a timeout of less than 100 ms.
#[test]
fn a_second_retransmission_soon_after_an_ack_is_one_of_the_recovery() {
    let at = |second: u64| {
        let mut events: Vec<_> = (2..=8).map(|number| (2000, Data(number))).collect();
        events.extend([4, 5, 6].map(|number| (2100, Duplicate(1, number))));
        events.extend([(2101, Data(2)), (2130, Duplicate(1, 7)), (second, Data(2))]);
        events.push((second + 100, Ack(8)));
        triggers(true, &events)
    };
    assert_eq!(at(2200), ["fast", "recovery"]);
    assert_eq!(at(2229), ["fast", "recovery"]);
    assert_eq!(at(2230), ["fast", "timeout"]);
}

/// The timer is due, but the sender may have had reports of a gap that the capture cut off.
#[test]
fn a_retransmission_soon_after_duplicates_without_their_options_has_an_unknown_trigger() {
    let after = |retransmitted: u64| {
        let mut script = Script::opened((0, 100), false, true);
        script.add_events(&[(1000, Data(1)), (1100, Ack(1))]);
        script.add_events(&[2, 3, 4].map(|number| (2000, Data(number))));
        script.cut = true;
        script.add_events(&[(2250, Ack(1)), (retransmitted, Data(2))]);
        let report = script.add_events(&[(retransmitted + 100, Ack(4))]).report();
        report.retransmissions[0].trigger.name()
    };
    assert_eq!(after(2310), "unknown");
    assert_eq!(after(2550), "timeout", "the receiver was silent for a timeout");
}

/// A server sends the SYN-ACK a second time, a second after the first or as answer to a SYN.
#[test]
fn a_syn_ack_without_a_new_syn_is_retransmitted_by_a_timer() {
    let of_server = |syn_again: bool| {
        let mut diagnosis = Diagnosis::new();
        let mut number = 0;
        let mut add = |millis, of_client, flags, (seq, ack)| {
            number += 1;
            let at = RUN_START + Duration::from_millis(millis);
            let packet = sent(of_client, at, segment(flags, (seq, ack, 0)));
            diagnosis.packet(&Captured { number, packet, ..Captured::empty() });
        };
        add(0, true, Flags::SYN, (10, 0));
        add(1, false, Flags::SYN | Flags::ACK, (20, 11));
        if syn_again {
            add(1000, true, Flags::SYN, (10, 0));
        }
        add(1001, false, Flags::SYN | Flags::ACK, (20, 11));
        add(1100, true, Flags::ACK, (11, 21));
        diagnosis.finish();
        let report = diagnosis.poll().expect("a connection");
        let own = report.retransmissions.iter().filter(|one| one.from == "server");
        own.map(|one| one.trigger.name()).collect::<Vec<_>>()
    };
    assert_eq!(of_server(false), ["syn"]);
    assert_eq!(of_server(true), ["syn-answer"]);
}

/// The capture point is 40 ms away from the sender and back. It may answer an ACK after half as
/// long again, and some milliseconds.
#[test]
fn away_from_the_sender_an_answer_takes_as_long_as_the_way_to_it() {
    let after = |millis: u64| {
        let mut script = Script::opened((40, 60), false, false);
        script.add_events(&[(1000, Data(1)), (1060, Ack(1))]);
        script.add_events(&[2, 3, 4, 5, 6].map(|number| (2000, Data(number))));
        script.add_events(&[(2060, Ack(1)); 3]);
        script.add_events(&[(2060 + millis, Data(2)), (2120 + millis, Ack(6))]);
        script.report().retransmissions[0].trigger.name()
    };
    assert_eq!(after(40), "fast");
    assert_eq!(after(63), "fast");
    assert_eq!(after(64), "timeout");
}
