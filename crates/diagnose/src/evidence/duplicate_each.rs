//! A duplicate ACK without new information answered each retransmission, so each of them was
//! unneeded. This needs no D-SACK.

use super::input::Findings;
use crate::history::{Ack, Bound, EvidenceKind, RetransmissionHistory, Transmission};

pub(super) static KIND: EvidenceKind = EvidenceKind::new("duplicate-each", 0.95);

pub(super) fn on_ack(history: &RetransmissionHistory, ack: &Ack<'_>) -> Findings {
    let sent = ack.delivered_original.filter(|_| ack.flight.uses_sack());
    let answered = sent.and_then(|sent| history.unanswered.answered_before(sent));
    let Some((first, last)) = answered else { return Findings::new() };
    let is_answered =
        |copy: &Transmission| copy.retransmission.is_some() && (first..=last).contains(&copy.at);
    let mut found = Findings::new();
    for (index, range) in history.iter().enumerate().filter(|(_, range)| !range.is_syn) {
        if let Some(copy @ 1..) = range.copies.iter().position(is_answered) {
            found.push((index, Bound::AtMost(copy - 1).shown_by(ack.frame)));
        }
    }
    found
}
