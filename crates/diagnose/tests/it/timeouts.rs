//! Tests of the classes of timeouts, on captures that are specified packet by packet.

use crate::script::Event::{self, Ack, Data, Duplicate};
use crate::script::Script;
use rtolab_diagnose::TimeoutClass;

fn classes(events: &[(u64, Event)]) -> Vec<TimeoutClass> {
    let report = Script::opened((0, 100), false, true).add_events(events).report();
    report.timeouts.iter().map(|timeout| timeout.class).collect()
}

/// 2 to 8 are in flight, 2 times out twice, and an ACK of all arrives at this time.
fn acknowledged_at_once(at: u64) -> Vec<TimeoutClass> {
    let mut events = vec![(1000, Data(1)), (1100, Ack(1))];
    events.extend((2..=8).map(|number| (2000, Data(number))));
    events.extend([(2300, Data(2)), (2900, Data(2)), (at, Ack(8)), (at, Data(9))]);
    events.push((at + 100, Ack(9)));
    classes(&events)
}

/// Receivers acknowledge what waited in a queue together: a single ACK shows no lost ones.
#[test]
fn an_ack_of_much_data_is_late_unless_it_comes_when_an_answer_is_due() {
    assert_eq!(acknowledged_at_once(4000), [TimeoutClass::Spurious; 2]);
    assert_eq!(acknowledged_at_once(3000), [TimeoutClass::AckLost; 2]);
}

/// The sender's host discards the acknowledgments that its capture shows: each copy by timeout is
/// answered by a D-SACK.
#[test]
fn acknowledgments_that_do_not_reach_the_senders_tcp_are_no_outage_of_the_path() {
    let mut events = vec![(1000, Data(1)), (1100, Ack(1))];
    events.extend((2..=5).map(|number| (2000, Data(number))));
    events.push((2100, Ack(5)));
    for at in [2500, 3100, 4300, 6700] {
        events.extend([(at, Data(2)), (at + 100, Duplicate(5, 2))]);
    }
    events.extend([(6800, Data(6)), (6900, Ack(6))]);
    let report = Script::opened((0, 100), false, true).add_events(&events).report();
    let described = &report.episodes[0].description;
    let why = "because acknowledgments had not reached the sender's TCP.";
    assert!(described.contains(why), "{described}");
}

/// 2 and 3 were lost. Their fast retransmits are late, and both copies of 2 by timeout are lost.
#[test]
fn a_late_fast_retransmit_makes_the_timeouts_after_it_spurious() {
    let duplicated = [(1000, Data(1)), (1400, Data(1)), (1500, Ack(1)), (1501, Duplicate(1, 1))];
    let lost = [(2000, Data(2)), (2000, Data(3))];
    let sacked = [4, 5, 6].map(|number| (2050, Data(number)));
    let reported = [4, 5, 6].map(|number| (2150, Duplicate(1, number)));
    let retransmitted = [(2151, Data(2)), (2151, Data(3)), (2600, Data(2)), (3200, Data(2))];
    let once = vec![(4000, Ack(2)), (4001, Ack(6)), (4002, Data(7)), (4102, Ack(7))];
    // Go-back-N retransmits 3 when the first copy of 2 is acknowledged.
    let mut twice = once.clone();
    twice.insert(1, (4000, Data(3)));
    twice.insert(4, (4100, Duplicate(6, 3)));
    twice.extend([(4600, Data(8)), (4700, Ack(8))]);
    for late in [once, twice] {
        let parts = [&duplicated[..], &lost, &sacked, &reported, &retransmitted, &late];
        let found = classes(&parts.concat());
        assert_eq!(found[found.len() - 2..], [TimeoutClass::Spurious; 2], "{found:?}");
    }
}

/// The receiver delays the ACK of a single segment, for half a second at most.
#[test]
fn an_answer_to_a_copy_that_was_sent_after_the_longest_delay_shows_that_the_ack_was_lost() {
    let answered_after = |copies: &[u64]| {
        let mut events = vec![(1000, Data(1)), (1100, Ack(1)), (2000, Data(2))];
        events.extend(copies.iter().map(|&at| (at, Data(2))));
        let last = copies[copies.len() - 1];
        // The answer echoes the original: the copy brought nothing new.
        events.extend([(last + 100, Ack(2)), (last + 200, Data(3)), (last + 300, Ack(3))]);
        let mut script = Script::opened((0, 100), true, true);
        for event in events {
            script.echo = if event.0 <= last + 100 { 2001 } else { last as u32 + 201 };
            script.add_events(&[event]);
        }
        script.report().timeouts.iter().map(|one| one.class).collect::<Vec<_>>()
    };
    assert_eq!(answered_after(&[2350]), [TimeoutClass::Spurious]);
    assert_eq!(answered_after(&[2350, 2950, 4150]), [TimeoutClass::AckLost; 3]);
}

/// After the first timeout, every fourth segment is lost, and new data is always outstanding. The
/// repairs are no consequences of the timeout, and the last timeout begins an episode of its own.
#[test]
fn losses_of_later_data_do_not_prolong_an_episode() {
    let mut events = vec![(1000, Data(1)), (1100, Ack(1))];
    events.extend((2..=5).map(|number| (2000, Data(number))));
    events.extend([(2400, Data(2)), (4000, Ack(5))]);
    events.extend((6..=9).map(|number| (4001, Data(number))));
    for window in 0..6 {
        let (lost, at) = (6 + 4 * window, 4001 + 200 * u64::from(window));
        events.extend((1..=3).map(|one| (at + 100, Duplicate(lost - 1, lost + one))));
        events.extend((4..=7).map(|one| (at + 100, Data(lost + one))));
        events.extend([(at + 101, Data(lost)), (at + 200, Ack(lost + 3))]);
    }
    events.extend([(6000, Data(30)), (9000, Ack(33)), (9001, Data(34)), (9101, Ack(34))]);
    let report = Script::opened((0, 100), false, true).add_events(&events).report();
    let [first, last] = &report.episodes[..] else { panic!("{:?}", report.episodes) };
    assert_eq!((first.cost.timeouts, last.cost.timeouts), (1, 1));
    assert!(first.description.contains("The retransmission was"), "{}", first.description);
}

/// The path holds 2 to 5 for a second. Duplicates of the copies would not come if they were lost.
#[test]
fn duplicate_acks_after_a_silence_show_that_the_path_held_the_packets() {
    let hold = |duplicates: u64| {
        let mut script = Script::opened((0, 100), false, true);
        script.add_events(&[(1000, Data(1)), (1100, Ack(1))]);
        script.add_events(&[2, 3, 4, 5, 6].map(|number| (2000, Data(number))));
        script.add_events(&[(2300, Data(2))]);
        for at in 0..duplicates {
            script.add_events(&[(3100 + at, Duplicate(1, 3 + at as u32))]);
        }
        let report = script.add_events(&[(3200, Ack(6)), (3300, Data(7)), (3400, Ack(7))]).report();
        report.episodes[0].hold
    };
    assert_eq!(hold(2), None);
    assert_eq!(hold(3), Some(1.1));
}

/// 2 was lost, the receiver reports 3 to 8, and the sender retransmits 2 when its timer is due.
fn retransmitted_after_duplicates(cut: bool) -> rtolab_diagnose::ConnectionReport {
    // The options of the SYN are cut off, too.
    let mut script = Script::opened((0, 100), true, false);
    script.add_events(&[(1000, Data(1)), (1100, Ack(1))]);
    script.add_events(&[2, 3, 4, 5, 6, 7, 8].map(|number| (2000, Data(number))));
    script.cut = cut;
    for duplicate in 1..=5 {
        script.add_events(&[(2100 + 80 * duplicate, Ack(1))]);
    }
    script.add_events(&[(2502, Data(2))]);
    script.echo = 2503;
    script.add_events(&[(2602, Ack(8)), (2700, Data(9))]);
    script.echo = 2701;
    script.add_events(&[(2800, Ack(9))]).report()
}

/// Duplicate ACKs whose options the capture cut off may have reported gaps by SACK.
#[test]
fn without_the_sack_blocks_a_retransmission_after_duplicates_is_no_timeout() {
    assert_eq!(retransmitted_after_duplicates(false).timeouts.len(), 1);
    let cut = retransmitted_after_duplicates(true);
    assert!(cut.timeouts.is_empty(), "{:?}", cut.timeouts);
    assert_eq!(cut.retransmissions[0].trigger.name(), "fast");
}

/// After a silence of the receiver as long as the RTO, the timer expired.
#[test]
fn a_timeout_after_a_silence_is_one_although_sack_blocks_are_cut_off() {
    let mut script = Script::opened((0, 100), true, true);
    script.add_events(&[(1000, Data(1)), (1100, Ack(1)), (2000, Data(2)), (2000, Data(3))]);
    script.cut = true;
    script.add_events(&[(2100, Ack(1)), (2800, Data(2)), (2900, Ack(3))]);
    assert_eq!(script.report().timeouts.len(), 1);
}

/// The receiver may delay the ACK of 4, because no gap was left when it arrived.
#[test]
fn a_gap_that_was_filled_before_does_not_prevent_a_delayed_ack() {
    let after = |earlier: &[(u64, Event)]| {
        let mut script = Script::opened((0, 100), true, true);
        script.add_events(&[(1000, Data(1)), (1100, Ack(1)), (1200, Data(2)), (1200, Data(3))]);
        script.add_events(earlier).add_events(&[(2000, Data(4)), (2350, Data(4))]);
        script.echo = 2001;
        script.add_events(&[(2450, Ack(4)), (2550, Data(5))]);
        script.echo = 2551;
        let report = script.add_events(&[(2650, Ack(5))]).report();
        report.timeouts.iter().map(|one| one.class).collect::<Vec<_>>()
    };
    assert_eq!(after(&[(1300, Ack(3))]), [TimeoutClass::Spurious]);
    assert_eq!(after(&[(1300, Duplicate(1, 3)), (1301, Ack(3))]), [TimeoutClass::Spurious]);
}

/// 32 was lost, and duplicate ACKs without SACK report it. The retransmission timeout is 300 ms on
/// Linux, and may be 200 ms on other systems.
#[test]
fn a_fast_retransmit_that_pacing_delays_is_no_timeout() {
    let triggers = |duplicates: u64, after: u64| {
        let mut script = Script::opened((0, 100), false, false);
        for number in 1..=31 {
            let at = 1000 * u64::from(number);
            script.add_events(&[(at, Data(number)), (at + 100, Ack(number))]);
        }
        (32..=39).for_each(|number| _ = script.add_events(&[(32_000, Data(number))]));
        for one in 0..duplicates {
            script.add_events(&[(32_000 + after - 15 + one, Ack(31))]);
        }
        let at = 32_000 + after;
        let report = script.add_events(&[(at, Data(32)), (at + 100, Ack(39))]).report();
        let trigger = report.retransmissions[0].trigger.name();
        (trigger, report.timeouts.len(), report.findings.len())
    };
    assert_eq!(triggers(6, 112), ("fast", 0, 0));
    assert_eq!(triggers(3, 179), ("fast", 0, 0));
    assert_eq!(triggers(3, 181).0, "timeout");
    assert_eq!(triggers(2, 112).0, "timeout");
}
