//! Tests of the departures of senders from the standards, on captures that are specified packet by
//! packet. The round trip is 100 ms, and the server always advertises 60,000 bytes.

use crate::script::Event::{self, Ack, Data, Duplicate};
use crate::script::Script;
use rtolab_diagnose::ConformanceFinding;

fn findings(sack: bool, events: &[(u64, Event)]) -> Vec<ConformanceFinding> {
    let findings = Script::opened((0, 100), false, sack).add_events(events).report().findings;
    assert!(findings.iter().all(|finding| finding.from == "client"), "{findings:?}");
    findings
}

fn kinds(sack: bool, events: &[(u64, Event)]) -> Vec<&'static str> {
    findings(sack, events).iter().map(|finding| finding.kind).collect()
}

/// Segments `first` to `last` at `at`, all acknowledged a round trip later.
fn acknowledged(at: u64, first: u32, last: u32) -> Vec<(u64, Event)> {
    let data = (first..=last).map(|number| (at, Data(number)));
    data.chain([(at + 100, Ack(last))]).collect()
}

/// RFC 6928 section 2: ten segments before the first acknowledgment of data.
#[test]
fn an_initial_window_above_ten_segments_is_found() {
    assert_eq!(kinds(true, &acknowledged(1000, 1, 10)), [""; 0]);
    let found = findings(true, &acknowledged(1000, 1, 12));
    let [finding] = &found[..] else { panic!("{found:?}") };
    assert_eq!(finding.kind, "large-initial-window");
    assert!(finding.about.starts_with("sends 12000 bytes, 12 segments, before"), "{finding:?}");
    // The first ten of these frames; three packets of the handshake come before.
    assert_eq!(finding.frames, (4..=13).collect::<Vec<_>>());
    // Data after the first acknowledgment does not count, nor does a retransmission.
    let later = [acknowledged(1000, 1, 10), acknowledged(1100, 11, 30)].concat();
    assert_eq!(kinds(true, &later), [""; 0]);
    let mut again = acknowledged(1000, 1, 10);
    again.splice(10..10, (1..=10).map(|number| (2000 + u64::from(number), Data(number))));
    again[20].0 = 2200;
    assert!(!kinds(true, &again).contains(&"large-initial-window"));
}

/// RFC 9293 section 3.8.6: no data beyond the right edge of the window.
#[test]
fn data_beyond_the_advertised_window_is_found() {
    let opened = acknowledged(1000, 1, 10);
    // 60 segments fit into the window of 60,000 bytes after segment 10.
    assert_eq!(kinds(true, &[opened.clone(), acknowledged(1100, 11, 70)].concat()), [""; 0]);
    let found = findings(true, &[opened, acknowledged(1100, 11, 72)].concat());
    let [finding] = &found[..] else { panic!("{found:?}") };
    assert_eq!(finding.kind, "window-overrun");
    assert_eq!(finding.about, "sends beyond the advertised window 2 times");
    // Three packets of the handshake, ten segments and an ACK, and 60 segments come before.
    assert_eq!(finding.frames, [75, 76]);
}

#[test]
fn what_happened_once_is_not_called_several_times() {
    let events = [acknowledged(1000, 1, 10), acknowledged(1100, 11, 71)].concat();
    assert_eq!(findings(true, &events)[0].about, "sends beyond the advertised window once");
}

/// RFC 6298: the RTO is longer than SRTT, which is 100 ms.
#[test]
fn a_timeout_within_a_smoothed_round_trip_is_found() {
    let after = |wait: u64| {
        let mut events = acknowledged(1000, 1, 1);
        events.extend([(2000, Data(2)), (2000, Data(3))]);
        events.extend([(2000 + wait, Data(2)), (2100 + wait, Ack(3))]);
        findings(false, &events)
    };
    let early = after(99);
    let [finding] = &early[..] else { panic!("{early:?}") };
    assert_eq!(finding.kind, "early-timeout");
    assert_eq!(finding.about, "times out within a smoothed round trip once");
    assert_eq!(finding.frames, [8]);
    assert!(after(100).is_empty(), "{:?}", after(100));
}

/// RFC 5681 section 3.2: the third duplicate acknowledgment shows a loss. With SACK, the reported
/// data counts instead.
#[test]
fn a_fast_retransmit_before_the_third_duplicate_is_found() {
    let after = |duplicates: u64| {
        let mut events = vec![(1000, Data(1)), (1100, Ack(1))];
        events.extend((2..=6).map(|number| (2000, Data(number))));
        events.extend((0..duplicates).map(|index| (2100 + index, Ack(1))));
        let at = 2100 + duplicates;
        events.extend([(at, Data(2)), (at + 100, Ack(6))]);
        events
    };
    assert_eq!(kinds(false, &after(2)), ["early-fast-retransmit"]);
    assert_eq!(findings(false, &after(2))[0].frames, [13]);
    assert_eq!(kinds(false, &after(3)), [""; 0]);
    let mut sacked = vec![(1000, Data(1)), (1100, Ack(1))];
    sacked.extend((2..=6).map(|number| (2000, Data(number))));
    sacked.extend([(2100, Duplicate(1, 5)), (2101, Duplicate(1, 6))]);
    sacked.extend([(2102, Data(2)), (2202, Ack(4)), (2202, Ack(6))]);
    assert_eq!(kinds(true, &sacked), [""; 0]);
}
