//! The sentence about packets that the capture lacks.

use serde_json::json;

use super::sentence::Sentence;
use super::words::{bytes, counted, percent};
use crate::summary::{SkippedPackets, Summary};

/// From this share of missing data or packets on, losses and delays may be missing, too.
const CONSIDERABLE: f64 = 0.01;

/// `None` unless the capture lacks a considerable share of the packets.
pub(super) fn sentence(summary: &Summary, skipped: &SkippedPackets) -> Option<Sentence> {
    let share = |lacking: u64, present: u64| lacking as f64 / (lacking + present).max(1) as f64;
    let missed = summary.totals.missed_bytes;
    let of_data = share(missed, summary.totals.bytes);
    let of_packets = share(skipped.dropped, summary.packets);
    if of_data.max(of_packets) < CONSIDERABLE {
        return None;
    }
    let (most, what) = match of_data >= of_packets {
        true => (of_data, "data"),
        false => (of_packets, "packets"),
    };
    let text = format!(
        "The capture lacks {} of the {what}, so losses and delays may be missing from this answer; \
         a larger buffer (`tcpdump -B`) or a shorter snaplen avoids that.",
        percent(most)
    );
    let basis = format!(
        "{} acknowledged, but not captured; {} dropped by the capture",
        bytes(missed),
        counted(skipped.dropped, "packet")
    );
    let figures = [("missed_bytes", json!(missed)), ("dropped", json!(skipped.dropped))];
    Some(Sentence::new(text, basis, &figures))
}
