//! Sentences about small segments that wait for delayed ACKs, and about SACK blocks that a device
//! on the path does not translate.

use serde_json::json;

use super::sentence::Sentence;
use super::words::{counted, seconds};
use crate::totals::CaptureTotals;

/// Senders that held small segments back until a delayed ACK.
pub(super) fn sentences(totals: &CaptureTotals) -> impl Iterator<Item = Sentence> {
    let ends = [("client", "server"), ("server", "client")].into_iter().zip(totals.held_back);
    let with_waits = ends.filter(|(_, waits)| waits.count > 0);
    with_waits.map(|((from, to), waits)| {
        let text = format!(
            "For {} the {from} held small segments back until the {to} acknowledged the small one \
             before (Nagle's algorithm), and the {to} delayed these acknowledgments. Set \
             `TCP_NODELAY` on the {from}'s socket, or write each message with a single call.",
            seconds(waits.seconds)
        );
        let basis = format!(
            "{}, each up to {}",
            counted(waits.count, "delayed acknowledgment"),
            seconds(waits.longest)
        );
        let figures = [
            ("count", json!(waits.count)),
            ("seconds", json!(waits.seconds)),
            ("longest", json!(waits.longest)),
        ];
        Sentence::new(text, basis, &figures)
    })
}

/// SACK blocks that report sequence numbers that were never sent.
pub(super) fn foreign_sacks(totals: &CaptureTotals) -> Option<Sentence> {
    let count = totals.foreign_sacks;
    let text = "SACK blocks report sequence numbers that were never sent: a device on the path, such \
                as a firewall, changes the sequence numbers of the data and not those of the \
                blocks. The sender ignores such blocks, so it repairs losses later, often only by \
                a timeout. Let the device leave sequence numbers alone, or disable SACK on one end \
                (`sysctl net.ipv4.tcp_sack=0`).";
    let basis = counted(count, "such acknowledgment");
    (count > 0).then(|| Sentence::new(text, basis, &[("acknowledgments", json!(count))]))
}
