//! Small scenarios for tests: a chain of links, and one flow that tests change.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod test_networks;

use std::fmt::Write as _;

use rtolab_record::{ConnectionRow, Recording, SegmentRow};
use rtolab_scenario::{Scenario, Workload};
use rtolab_sim::{Lab, Observe};
use rtolab_time::{Duration, Instant, Rate};

/// The instant `millis` after the start.
pub fn at(millis: u64) -> Instant {
    Instant::START + Duration::from_millis(millis)
}

pub fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub fn rate(kilobits: u64) -> Rate {
    Rate::from_bits_per_second(1000 * kilobits).unwrap()
}

/// A chain of links, each as `name a b; key = value; ...`, such as `near left mid; delay = "10
/// ms"`. One endless flow, `flow`, leads from the first node to the last. Segments carry 1000
/// bytes, and only the links limit them.
pub fn scenario(duration: &str, links: &[&str]) -> Scenario {
    let mut text = format!("title = \"A small network\"\nduration = \"{duration}\"\n");
    let (mut first, mut last) = ("", "");
    for link in links {
        let mut parts = link.split(';');
        let names: Vec<_> = parts.next().unwrap().split_whitespace().collect();
        let [name, from, to] = names[..] else { panic!("{link}") };
        (first, last) = (if first.is_empty() { from } else { first }, to);
        writeln!(text, "[[link]]\nname = \"{name}\"\nbetween = [\"{from}\", \"{to}\"]").unwrap();
        parts.for_each(|part| writeln!(text, "{}", part.trim()).unwrap());
    }
    write!(
        text,
        "[tcp]\nsender = \"sack\"\nmss = \"1000 B\"\nwindow_scale = 8\n\
         [receiver]\nbuffer = \"16 MB\"\nack_every = 1\n\
         [[flow]]\nname = \"flow\"\nfrom = \"{first}\"\nto = \"{last}\"\n"
    )
    .unwrap();
    Scenario::parse(&text, "small.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// The scenario with another workload.
pub fn with(mut scenario: Scenario, workload: Workload) -> Scenario {
    scenario.flows[0].workload = workload;
    scenario
}

pub fn node(scenario: &Scenario, name: &str) -> usize {
    scenario.nodes.iter().position(|node| node == name).unwrap()
}

pub fn traced(scenario: &Scenario) -> Recording {
    run(scenario, 1, Observe { trace: true, windows: true })
}

pub fn untraced(scenario: &Scenario) -> Recording {
    run(scenario, 1, Observe::default())
}

pub fn run(scenario: &Scenario, seed: u64, observe: Observe) -> Recording {
    Lab::new(scenario, None).unwrap().run(0, seed, observe)
}

pub fn connection<'a>(recording: &'a Recording, flow: &str) -> &'a ConnectionRow {
    recording.connections.iter().find(|row| &*row.flow == flow).unwrap()
}

/// The data packets that arrived: when each was sent, and when it arrived.
pub fn journeys(recording: &Recording) -> Vec<(Instant, Instant)> {
    let sent =
        |row: &&SegmentRow| row.event == rtolab_record::PacketEvent::Sent && row.segment.len > 0;
    let rows = recording.segments.iter().filter(sent);
    let arrived = |row: &SegmentRow| row.fate == rtolab_record::Fate::Delivered;
    rows.filter(|row| arrived(row)).map(|row| (row.at, row.fate_at.unwrap())).collect()
}
