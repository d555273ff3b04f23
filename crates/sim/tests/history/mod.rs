//! The acts of a sender in the hiccup scenario, on the clock of ns-2.

use std::fs;
use std::path::{Path, PathBuf};

use rtolab_record::{PacketEvent, Place, Recording, SegmentRow, TimeoutKind};
use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe};

/// When the first segment leaves in the scenario, in seconds. In ns-2 that is zero, because it has
/// no handshake.
pub const BEGINS: f64 = 2.9;

/// An act of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Send(i64),
    Retransmit(i64),
    Timeout,
    FastRetransmit,
}

/// The acts with their times, in seconds since the first segment left.
pub type History = Vec<(f64, Act)>;

/// A file relative to the crate.
pub fn near(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The hiccup scenario, with `set` on top of it.
pub fn hiccup(set: &[(String, String)]) -> Scenario {
    let text = fs::read_to_string(near("../../scenarios/dualrtt2004-hiccup.toml")).unwrap();
    let scenario = Scenario::parse(&text, "dualrtt2004-hiccup.toml", set);
    scenario.unwrap_or_else(|error| panic!("{error}"))
}

/// A traced run of the scenario with `sender`.
pub fn run(scenario: &Scenario, sender: &str) -> Recording {
    Lab::new(scenario, Some(sender)).unwrap().run(0, 1, Observe { trace: true, windows: false })
}

/// The acts of a run whose first data left at `begins`. A timeout or detected loss comes before the
/// retransmission for it.
pub fn history(recording: &Recording, begins: f64) -> History {
    let timeouts = recording.timeouts.iter().map(|row| {
        let act = match row.kind {
            TimeoutKind::Timeout => Act::Timeout,
            TimeoutKind::FastRetransmit => Act::FastRetransmit,
            TimeoutKind::Probe => unreachable!("these senders do not probe"),
        };
        (row.at.secs_f64() - begins, act)
    });
    let mut highest = -1;
    let payload = recording.segments.iter().map(|row| row.segment.len).max().unwrap();
    let left = |row: &&SegmentRow| (row.place, row.event) == (Place::Sender, PacketEvent::Sent);
    let data = recording.segments.iter().filter(left).filter(|row| row.segment.len > 0);
    let sent = data.map(|row| {
        let segment = (row.segment.seq.relative() - 1) / i64::from(payload);
        let again = segment <= highest;
        highest = highest.max(segment);
        let act = if again { Act::Retransmit(segment) } else { Act::Send(segment) };
        (row.at.secs_f64() - begins, act)
    });
    let mut acts: History = timeouts.chain(sent).collect();
    acts.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    acts
}
