//! The transmissions and timeouts of a sender in the hiccup scenario, on the clock of ns-2.

use std::fs;
use std::path::{Path, PathBuf};

use rtolab_record::{PacketEvent, Place, Recording, SegmentRow, TimeoutKind};
use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe};

/// The time at which the first data are sent in the scenario, in seconds. In ns-2 it is zero,
/// because ns-2 has no handshake.
pub const FIRST_DATA_S: f64 = 2.9;

/// A transmission, a timeout or a fast retransmit, with the number of the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenderEvent {
    Send(i64),
    Retransmit(i64),
    Timeout,
    FastRetransmit,
}

/// The events of a sender, with their times in seconds since the first data were sent.
pub type SenderEvents = Vec<(f64, SenderEvent)>;

/// A file relative to the crate.
pub fn crate_path(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The hiccup scenario, with these changes of keys.
pub fn hiccup(set: &[(String, String)]) -> Scenario {
    let text = fs::read_to_string(crate_path("../../scenarios/dualrtt2004-hiccup.toml")).unwrap();
    let scenario = Scenario::parse(&text, "dualrtt2004-hiccup.toml", set);
    scenario.unwrap_or_else(|error| panic!("{error}"))
}

/// A traced run of the scenario with `sender`.
pub fn run(scenario: &Scenario, sender: &str) -> Recording {
    Lab::new(scenario, Some(sender)).unwrap().run(0, 1, Observe { trace: true, windows: false })
}

/// The events of the sender in a run whose first data were sent at `first_data_s`. A timeout or
/// detected loss comes before the retransmission for it.
pub fn sender_events(recording: &Recording, first_data_s: f64) -> SenderEvents {
    let timeouts = recording.timeouts.iter().map(|row| {
        let event = match row.kind {
            TimeoutKind::Timeout => SenderEvent::Timeout,
            TimeoutKind::FastRetransmit => SenderEvent::FastRetransmit,
            TimeoutKind::Probe => unreachable!("these senders do not probe"),
        };
        (row.at.secs_f64() - first_data_s, event)
    });
    let mut highest = -1;
    let payload = recording.segments.iter().map(|row| row.segment.len).max().unwrap();
    let sent_by_sender =
        |row: &&SegmentRow| (row.place, row.event) == (Place::Sender, PacketEvent::Sent);
    let data = recording.segments.iter().filter(sent_by_sender).filter(|row| row.segment.len > 0);
    let sent = data.map(|row| {
        let segment = (row.segment.seq.relative() - 1) / i64::from(payload);
        let is_retransmission = segment <= highest;
        highest = highest.max(segment);
        let event = if is_retransmission {
            SenderEvent::Retransmit(segment)
        } else {
            SenderEvent::Send(segment)
        };
        (row.at.secs_f64() - first_data_s, event)
    });
    let mut events: SenderEvents = timeouts.chain(sent).collect();
    events.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    events
}
