//! Which copies had arrived, told without SACK by the number of duplicate ACKs between two that
//! acknowledge new data.
//!
//! Where packets keep their order, each duplicate ACK answers a copy that was sent before the one
//! that the next new ACK answers. Of n duplicate ACKs, so did the last n transmissions before it:
//! their ranges had arrived already when these copies did.

use super::input::Findings;
use crate::history::{Ack, Bound, Kind, RetransmissionHistory};

pub(super) static KIND: Kind = Kind::new("duplicate-followed", 0.95);

pub(super) fn after_ack(history: &RetransmissionHistory, ack: &Ack<'_>) -> Findings {
    let mut found = Findings::new();
    for (start, at) in history.order.followed(history.delivered.answered) {
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
