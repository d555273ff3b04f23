//! Packets that are duplicated and corrupted between links.

use rtolab_link::Frame as _;
use rtolab_record::{Recording, Run};
use rtolab_scenario::Scenario;

use super::*;
use crate::{Lab, Observe};

const TEXT: &str = r#"
title = "Two links and a transfer"
duration = "60 s"
[[link]]
name = "near"
between = ["left", "mid"]
rate = "1 Mbit/s"
delay = "10 ms"
[[link]]
name = "far"
between = ["mid", "right"]
rate = "1 Mbit/s"
delay = "10 ms"
[[flow]]
name = "flow"
from = "left"
to = "right"
bytes = "200 kB"
"#;

/// The impairment of a packet that leaves a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Impairment {
    None,
    Duplicate,
    Corrupt,
}

/// The recording of a whole run in which the n-th packet that leaves a link has the impairment
/// `impairment(n)`, and the number of packets left in the network.
fn run(impairment: fn(u64) -> Impairment) -> (Recording, u32) {
    let lab = Lab::new(&Scenario::parse(TEXT, "x.toml", &[]).unwrap(), None).unwrap();
    let lab = lab.without_pipes();
    let mut sim = lab.start(1, Observe { trace: true, windows: false });
    sim.scoring = None;
    let mut nth = 0;
    loop {
        let (at, entity) = sim.queue.first();
        if at > lab.end() {
            break;
        }
        let Entity::Channel(channel, direction) = sim.entity(entity) else {
            sim.step(lab.end());
            continue;
        };
        sim.now = at;
        let poll = |link: &mut SimLink| link.channel().unwrap().poll_direction(direction, at);
        while let Some(mut outcome) = poll(&mut sim.links[channel]) {
            nth += 1;
            match (impairment(nth), &mut outcome) {
                (Impairment::Corrupt, Outcome::Delivered { frame, .. }) => frame.corrupt(),
                (Impairment::Duplicate, Outcome::Delivered { frame, held, .. }) => {
                    let (frame, held, duplicate) = (*frame, *held, true);
                    sim.on_link_outcome(&Outcome::Delivered { direction, frame, held, duplicate });
                }
                _ => {}
            }
            sim.on_link_outcome(&outcome);
        }
        sim.schedule_channel(channel, direction);
    }
    let left = sim.flows[0].in_network;
    (lab.record(sim, Run::default()), left)
}

fn received(recording: &Recording) -> usize {
    let received =
        |row: &&rtolab_record::SegmentRow| row.event == rtolab_record::PacketEvent::Received;
    recording.segments.iter().filter(received).count()
}

#[test]
fn a_transfer_completes_if_every_link_duplicates_every_packet() {
    let (plain, _) = run(|_| Impairment::None);
    let (recording, left) = run(|_| Impairment::Duplicate);
    let row = &recording.connections[0];
    assert_eq!((row.bytes, left), (200_000, 0));
    assert!(row.end.is_some());
    let sent = recording.segments.len() - received(&recording);
    assert_eq!(received(&recording), 4 * sent);
    assert!(recording.segments.iter().all(|row| row.fate == Fate::Delivered));
    assert!(recording.segments.iter().all(|row| {
        row.fate_at.is_some_and(|at| at <= row.at || row.event == rtolab_record::PacketEvent::Sent)
    }));
    assert_eq!(row.delay.packets, 4 * row.segments);
    // The duplicates cause duplicate ACKs.
    assert_eq!(plain.connections[0].dupacks, 0);
    assert!(row.dupacks > 0, "{row:?}");
}

#[test]
fn corrupted_packets_are_discarded_at_their_destination() {
    let (recording, left) = run(|nth| match nth % 20 {
        0 => Impairment::Corrupt,
        _ => Impairment::None,
    });
    let row = &recording.connections[0];
    assert_eq!((row.bytes, left), (200_000, 0));
    assert!(row.end.is_some() && row.retransmissions > 0);
    let corrupt = recording.segments.iter().filter(|row| row.fate == Fate::Corrupt);
    assert!(corrupt.clone().all(|row| row.event == rtolab_record::PacketEvent::Sent));
    assert!(row.lost.corrupt > 5);
    assert_eq!((row.lost.corrupt, row.lost.total()), (corrupt.count() as u64, row.lost.corrupt));
}

#[test]
fn one_of_two_duplicates_may_be_corrupted() {
    let (recording, left) = run(|nth| match nth % 30 {
        0..=9 => Impairment::Duplicate,
        12 | 17 => Impairment::Corrupt,
        _ => Impairment::None,
    });
    let row = &recording.connections[0];
    assert_eq!((row.bytes, left), (200_000, 0));
    assert!(row.end.is_some() && row.lost.corrupt > 0);
    assert!(recording.segments.iter().all(|row| row.fate != Fate::Underway));
    // A copy counts as delivered if one of its duplicates arrived.
    let corrupt = recording.segments.iter().filter(|row| row.fate == Fate::Corrupt).count();
    assert!((1..row.lost.corrupt).contains(&(corrupt as u64)), "{corrupt} of {row:?}");
}

#[test]
fn a_scored_run_knows_which_segments_are_in_the_network() {
    let lossy = [("link.far.loss".into(), "0.1".into())];
    let lab = Lab::new(&Scenario::parse(TEXT, "x.toml", &lossy).unwrap(), None).unwrap();
    let mut sim = lab.start(1, Observe { trace: true, windows: false });
    let mut most = 0;
    while sim.step(lab.end()) {
        let copies = sim.scoring.as_ref().unwrap().in_network.copies();
        assert!(copies <= sim.flows[0].in_network, "at {:?}", sim.now());
        most = most.max(copies);
    }
    let recording = lab.record(sim.clone(), Run::default());
    assert!(recording.connections[0].retransmissions > 0);
    assert!(most > 10, "{most} segments at most");
    assert_eq!(sim.scoring.unwrap().in_network.copies(), 0);
}
