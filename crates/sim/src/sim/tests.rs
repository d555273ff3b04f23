//! Links that double and damage packets, whatever the links themselves can do.

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

/// What a link does to a packet besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mischief {
    None,
    Double,
    Damage,
}

/// A whole run in which every packet that comes out of a link, the n-th, suffers what `mischief`
/// says; with the packets that are left under way.
fn run(mischief: fn(u64) -> Mischief) -> (Recording, u32) {
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
            match (mischief(nth), &mut outcome) {
                (Mischief::Damage, Outcome::Delivered { frame, .. }) => frame.corrupt(),
                (Mischief::Double, Outcome::Delivered { frame, held, .. }) => {
                    let (frame, held, duplicate) = (*frame, *held, true);
                    sim.on_link_outcome(&Outcome::Delivered { direction, frame, held, duplicate });
                }
                _ => {}
            }
            sim.on_link_outcome(&outcome);
        }
        sim.schedule_channel(channel, direction);
    }
    let left = sim.flows[0].under_way;
    (lab.record(sim, Run::default()), left)
}

fn received(recording: &Recording) -> usize {
    let received =
        |row: &&rtolab_record::SegmentRow| row.event == rtolab_record::PacketEvent::Received;
    recording.segments.iter().filter(received).count()
}

#[test]
fn a_transfer_survives_that_every_packet_is_doubled_on_every_link() {
    let (plain, _) = run(|_| Mischief::None);
    let (recording, left) = run(|_| Mischief::Double);
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
    // Duplicate acknowledgments are what the sender gets of it.
    assert_eq!(plain.connections[0].dupacks, 0);
    assert!(row.dupacks > 0, "{row:?}");
}

#[test]
fn damaged_packets_are_discarded_where_they_arrive() {
    let (recording, left) = run(|nth| match nth % 20 {
        0 => Mischief::Damage,
        _ => Mischief::None,
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
fn of_a_doubled_packet_one_may_be_damaged() {
    let (recording, left) = run(|nth| match nth % 30 {
        0..=9 => Mischief::Double,
        12 | 17 => Mischief::Damage,
        _ => Mischief::None,
    });
    let row = &recording.connections[0];
    assert_eq!((row.bytes, left), (200_000, 0));
    assert!(row.end.is_some() && row.lost.corrupt > 0);
    assert!(recording.segments.iter().all(|row| row.fate != Fate::Underway));
    // A copy of which one half arrived has arrived.
    let corrupt = recording.segments.iter().filter(|row| row.fate == Fate::Corrupt).count();
    assert!((1..row.lost.corrupt).contains(&(corrupt as u64)), "{corrupt} of {row:?}");
}
