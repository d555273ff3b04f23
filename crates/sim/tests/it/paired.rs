//! Tests that the link behaves identically for two senders with the same seed: events by time are
//! at the same instants, and events by frame at the same frames.

use std::path::Path;

use rtolab_link::{Direction, DropCause};
use rtolab_record::{Fate, PacketEvent, Place, Recording};
use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe};

const SENDERS: [&str; 4] = ["sack", "newreno+frto", "reno:no-bugfix", "tahoe"];

fn runs(name: &str, set: &[(&str, &str)]) -> Vec<Recording> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
    let set: Vec<_> = set.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    let scenario = Scenario::load(&file, &set).unwrap();
    let observe = Observe { trace: true, windows: false };
    let run = |sender: &&str| Lab::new(&scenario, Some(sender)).unwrap().run(0, 7, observe);
    SENDERS.iter().map(run).collect()
}

#[test]
fn outages_and_stalls_are_at_the_same_instants() {
    let stalls = r#"{ good = { exponential = "9 s" }, bad = { uniform = ["1 s", "3 s"] } }"#;
    let recordings = runs("frto2002-outages.toml", &[("link.wireless.stalls.random", stalls)]);
    let logs: Vec<_> = recordings
        .iter()
        .map(|recording| {
            let rows = recording.disturbances.iter();
            rows.map(|row| (row.kind, row.direction, row.from, row.to)).collect::<Vec<_>>()
        })
        .collect();
    // The lengths of runs differ, and each log ends with its run.
    let shortest = logs.iter().map(Vec::len).min().unwrap();
    assert!(shortest > 20, "{shortest}");
    assert!(logs.iter().any(|log| log.len() > shortest), "the senders differ");
    for log in &logs[1..] {
        assert_eq!(log[..shortest - 2], logs[0][..shortest - 2]);
    }
}

/// The fates of the data packets in the order in which the wireless link transmitted them.
fn fates(recording: &Recording) -> Vec<bool> {
    let sent = recording.segments.iter();
    let sent = sent.filter(|row| row.place == Place::Sender && row.event == PacketEvent::Sent);
    let transmitted = sent.filter(|row| row.fate != Fate::Dropped(DropCause::Queue));
    transmitted.map(|row| row.fate == Fate::Dropped(DropCause::Error)).collect()
}

#[test]
fn the_nth_frame_is_lost_for_every_sender() {
    let recordings = runs("frto2002-loss.toml", &[]);
    let fates: Vec<_> = recordings.iter().map(fates).collect();
    let shortest = fates.iter().map(Vec::len).min().unwrap();
    assert!(shortest > 400 && fates[0].iter().filter(|lost| **lost).count() > 10);
    for other in &fates[1..] {
        // Packets in flight at the end of a run have no fate.
        assert_eq!(other[..shortest - 20], fates[0][..shortest - 20]);
    }
    let timing = |recording: &Recording| recording.connections[0].end;
    assert_ne!(
        timing(&recordings[0]),
        timing(&recordings[1]),
        "the frames leave at different times"
    );
    let back = recordings[0].links.iter().filter(|row| row.direction == Direction::Backward);
    assert!(back.map(|row| row.stats.drops.error).sum::<u64>() > 0);
}
