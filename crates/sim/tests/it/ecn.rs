//! Tests of ECN: marks in the queue, their echo by the receiver, and the response of the sender.

use std::sync::Arc;

use crate::common::{run, scenario};
use rtolab_record::{PacketEvent, Place, Recording};
use rtolab_scenario::Scenario;
use rtolab_sim::Observe;
use rtolab_tcp::{Codepoint, Flags};

fn shipped(set: &[(&str, &str)]) -> Recording {
    let set: Vec<_> = set.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/ecn.toml");
    let scenario = Scenario::load(path.as_ref(), &set).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, 1, Observe::default())
}

/// Packets marked, dropped early, and retransmitted.
fn counts(recording: &Recording) -> [u64; 3] {
    let marked = recording.links.iter().map(|row| row.stats.marked).sum();
    let early = recording.links.iter().map(|row| row.stats.drops.early).sum();
    let retransmitted = recording.connections.iter().map(|row| row.retransmissions).sum();
    [marked, early, retransmitted]
}

#[test]
fn the_ecn_scenario_marks_instead_of_dropping() {
    let [marked, early, retransmitted] = counts(&shipped(&[]));
    assert!(marked > 50 && early == 0, "{marked} marked, {early} dropped");
    for key in ["tcp.ecn", "receiver.ecn", "link.bottleneck.red.ecn"] {
        let [marked, early, retransmitted_without] = counts(&shipped(&[(key, "false")]));
        assert!(marked == 0 && early > 50, "{key}: {marked} marked, {early} dropped");
        assert!(
            retransmitted_without > retransmitted,
            "{key}: {retransmitted_without} retransmitted, with it {retransmitted}"
        );
    }
}

#[test]
fn codel_marks_and_each_mark_is_echoed_and_answered() {
    let link = "link left right; rate = \"4 Mbit/s\"; delay = \"20 ms\"; codel = { ecn = true }";
    let mut scenario = scenario("20 s", &[link]);
    Arc::make_mut(&mut scenario.flows[0].tcp).ecn = true;
    let recording = run(&scenario, 1, Observe { trace: true, windows: false });
    let rows = |place, event| {
        let rows = recording.segments.iter();
        rows.filter(move |row| row.place == place && row.event == event).map(|row| row.segment)
    };
    let received: Vec<_> = rows(Place::Receiver, PacketEvent::Received).collect();
    let marked = received.iter().filter(|segment| segment.codepoint() == Codepoint::Ce).count();
    assert_eq!(marked as u64, recording.links[0].stats.marked);
    let echoed = rows(Place::Sender, PacketEvent::Received);
    let echoed = echoed.filter(|segment| segment.flags.has(Flags::ECE)).count();
    let answered = received.iter().filter(|segment| segment.flags.has(Flags::CWR)).count();
    // The SYN requests ECN with the same flags.
    assert!(marked > 3 && echoed > marked && answered > 3, "{marked} {echoed} {answered}");
    assert!(answered <= marked + 1, "{answered} answers to {marked} marks");
    assert_eq!(recording.connections[0].retransmissions, 0);
    // Packets without data are never ECN-capable.
    assert!(received.iter().all(|s| (s.len > 0) == (s.codepoint() != Codepoint::NotEct)));
}
