//! A test of the column `unneeded` on a path where copies are late and PAWS drops some of them.

use std::collections::BTreeMap;
use std::path::Path;

use rtolab_record::{PacketEvent, Place, Recording, SegmentRow};
use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe};
use rtolab_time::Instant;

/// A run between Linux hosts in which one frame in ten is 600 ms late and out of order.
fn run(seed: u64) -> Recording {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/kernel-stall.toml");
    let set = [
        ("link.radio.stalls", "{}"),
        ("link.radio.loss", "0.1"),
        ("link.radio.arq", r#"[{ retries = 3, timeout = "600 ms", order = "free" }]"#),
        ("receiver.profile", "linux"),
        // The window grows with each segment, which is therefore acknowledged at once.
        ("receiver.memory", "100 MB"),
    ];
    let set: Vec<_> = set.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    let scenario = Scenario::load(&file, &set).unwrap();
    Lab::new(&scenario, Some("linux")).unwrap().run(
        0,
        seed,
        Observe { trace: true, windows: false },
    )
}

/// Does the ACK cover all of the segment?
fn covers(ack: &SegmentRow, data: &SegmentRow) -> bool {
    let (from, to) = (data.segment.seq, data.segment.end());
    let mut sacked = ack.segment.sack_blocks();
    ack.segment.ack >= to || sacked.any(|block| block.start <= from && to <= block.end)
}

/// Whether the receiver acknowledged the data of each arrived copy, by the number of the copy. The
/// receiver acknowledges accepted data immediately.
fn acknowledged(recording: &Recording) -> BTreeMap<u64, bool> {
    let at_receiver = recording.segments.iter().filter(|row| row.place == Place::Receiver);
    let (acks, arrived): (Vec<_>, Vec<_>) =
        at_receiver.partition(|row| row.event == PacketEvent::Sent);
    let mut answers: BTreeMap<Instant, Vec<&SegmentRow>> = BTreeMap::new();
    for ack in acks {
        answers.entry(ack.at).or_default().push(ack);
    }
    let data = arrived.into_iter().filter(|row| row.segment.len > 0);
    let is_acknowledged = |row: &SegmentRow| {
        answers.get(&row.at).is_some_and(|acks| acks.iter().any(|ack| covers(ack, row)))
    };
    data.map(|row| (row.copy, is_acknowledged(row))).collect()
}

#[test]
fn a_copy_that_paws_drops_delivers_nothing() {
    let (mut dropped_before, mut dropped_after) = (0, 0);
    for seed in 1..=10 {
        let recording = run(seed);
        let acknowledged = acknowledged(&recording);
        let mut copies: BTreeMap<_, Vec<&SegmentRow>> = BTreeMap::new();
        let sent_by_sender =
            |row: &&SegmentRow| row.place == Place::Sender && row.event == PacketEvent::Sent;
        for row in
            recording.segments.iter().filter(sent_by_sender).filter(|row| row.segment.len > 0)
        {
            let earlier = copies.entry(row.segment.seq).or_default();
            let accepted = earlier.iter().any(|copy| acknowledged.get(&copy.copy) == Some(&true));
            assert_eq!(row.unneeded, accepted, "seed {seed}, copy {}", row.copy);
            for copy in earlier.iter().filter(|_| !accepted) {
                match copy.fate_at {
                    Some(at) if acknowledged.get(&copy.copy) == Some(&false) && at < row.at => {
                        dropped_before += 1;
                    }
                    _ if acknowledged.get(&copy.copy) == Some(&false) => dropped_after += 1,
                    _ => {}
                }
            }
            earlier.push(row);
        }
    }
    assert!(dropped_before > 0 && dropped_after > 0, "{dropped_before} {dropped_after}");
}
