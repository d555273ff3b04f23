//! Without SACK, the number of duplicate ACKs between two ACKs of new data shows which copies were
//! unneeded.
//!
//! If the path keeps the order of packets, n duplicate ACKs answer the last n transmissions before
//! the one that the next ACK of new data answers. The ranges of these n transmissions had arrived
//! before.

use super::input::Findings;
use crate::history::{Ack, Bound, EvidenceKind, RetransmissionHistory};

pub(super) static KIND: EvidenceKind = EvidenceKind::new("duplicate-followed", 0.95);

pub(super) fn after_ack(history: &RetransmissionHistory, ack: &Ack<'_>) -> Findings {
    let mut found = Findings::new();
    for (start, at) in history.order.answered_by_duplicates(history.delivered.answered) {
        for (index, range) in history.iter().enumerate() {
            if range.start != start || range.is_syn || !range.is_covered_before(ack.facts.at) {
                continue;
            }
            let mut copies = range.copies.iter();
            let copy = copies.position(|copy| copy.retransmission.is_some() && copy.at == at);
            if let Some(copy @ 1..) = copy {
                found.push((index, Bound::AtMost(copy - 1).shown_by(ack.frame)));
            }
        }
    }
    found
}
