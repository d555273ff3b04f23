//! The sentence about data that was sent and never reached the capture point.

use serde_json::json;

use super::sentence::Sentence;
use super::words::{bytes, counted};
use crate::totals::CaptureTotals;

pub(super) fn sentence(totals: &CaptureTotals) -> Option<Sentence> {
    let found = totals.never_arrived;
    let (first, number) = found.first?;
    let (from, lost) = (first.from, bytes(found.bytes));
    let sent = |place: &str, lost: &str| {
        format!(
            "In {place} an end sent data that never arrived here and that nothing acknowledged: it \
             was lost before this capture, {lost}. A capture at the sender shows how."
        )
    };
    let text = match found.connections {
        _ if totals.is_single() => format!(
            "The {from} sent {lost} that never arrived here, and nothing acknowledged that data: it \
             was lost before this capture. A capture at the {from} shows how."
        ),
        1 => sent(&format!("connection {number}"), &lost),
        count => sent(
            &format!("{}, such as number {number},", counted(count, "connection")),
            &format!("{lost} in all"),
        ),
    };
    let text = match first.is_all {
        true => format!(
            "{text} None of its data arrived: the path may discard large packets, so try `ping -M \
             do -s SIZE` from there."
        ),
        false => text,
    };
    let basis = "sequence numbers of its later packets";
    let figures =
        [("connections", json!(found.connections)), ("never_arrived_bytes", json!(found.bytes))];
    Some(Sentence::new(text, basis, &figures))
}
