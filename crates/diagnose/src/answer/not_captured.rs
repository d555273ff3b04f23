//! The sentence about packets that the capture lacks.

use serde_json::json;

use super::sentence::Sentence;
use super::words::{bytes, counted, percent};
use crate::summary::{SkippedPackets, Summary};

/// From this share of missing data or packets on, losses and delays may be missing, too.
const CONSIDERABLE: f64 = 0.01;

/// The sentences about what the capture lacks.
pub(super) fn sentences(
    summary: &Summary,
    skipped: &SkippedPackets,
) -> impl Iterator<Item = Sentence> + use<> {
    [cut_options(summary), sentence(summary, skipped)].into_iter().flatten()
}

/// The capture cut off TCP options, and so perhaps SACK blocks.
fn cut_options(summary: &Summary) -> Option<Sentence> {
    let (count, length) = (summary.totals.cut_duplicates, summary.totals.cut_at);
    if count == 0 {
        return None;
    }
    let text = format!(
        "The capture cuts packets at {}, before the end of their TCP options, so SACK is missing: \
         it shows neither reordering nor why the sender retransmitted. Capture with a snaplen of \
         128 or more (`tcpdump -s 128`).",
        bytes(length.into())
    );
    let basis = format!("{} cut", counted(count, "duplicate acknowledgment"));
    let figures = [("cut", json!(count)), ("snaplen", json!(length))];
    Some(Sentence::new(text, basis, &figures))
}

/// `None` unless the capture lacks a considerable share of the packets.
fn sentence(summary: &Summary, skipped: &SkippedPackets) -> Option<Sentence> {
    if summary.packets == 0 {
        return None;
    }
    let share = |lacking: u64, present: u64| {
        let lacking = lacking as f64;
        lacking / (lacking + present as f64).max(1.0)
    };
    let missed = summary.totals.missed_bytes;
    let of_data = share(missed, summary.totals.bytes);
    // The capture drops packets of any protocol.
    let SkippedPackets { other, fragments, overlapping, malformed, untimed, unknown_link, .. } =
        skipped;
    let not_tcp = other + fragments + overlapping + malformed + untimed + unknown_link;
    let of_packets = share(skipped.dropped, summary.packets + not_tcp);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn said(packets: u64, other: u64, dropped: u64) -> Option<String> {
        let summary = Summary { packets, ..Summary::default() };
        let skipped = SkippedPackets { other, dropped, ..SkippedPackets::default() };
        sentence(&summary, &skipped).map(|sentence| sentence.text)
    }

    #[test]
    fn any_number_of_dropped_packets_is_a_share() {
        let text = said(1, 0, u64::MAX).expect("a sentence");
        assert!(text.starts_with("The capture lacks 100 % of the packets"), "{text}");
    }

    /// Of data 1,000 bytes are missing, and of packets one in four.
    #[test]
    fn the_larger_share_is_said() {
        let mut summary = Summary { packets: 300, ..Summary::default() };
        let skipped = SkippedPackets { dropped: 100, ..SkippedPackets::default() };
        (summary.totals.missed_bytes, summary.totals.bytes) = (1000, 9000);
        let text = sentence(&summary, &skipped).expect("a sentence").text;
        assert!(text.starts_with("The capture lacks 25 % of the packets"), "{text}");
        summary.totals.bytes = 1000;
        let text = sentence(&summary, &skipped).expect("a sentence").text;
        assert!(text.starts_with("The capture lacks 50 % of the data"), "{text}");
    }

    #[test]
    fn dropped_packets_are_compared_with_packets_of_any_protocol() {
        assert!(said(100, 0, 2).is_some());
        assert_eq!(said(100, 9_900, 2), None);
        assert_eq!(said(0, 0, 2), None);
    }
}
