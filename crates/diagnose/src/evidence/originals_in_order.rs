//! An original sent before some copies of the range arrived after the range did. These copies were
//! not the first to arrive. F-RTO (RFC 5682) uses the same idea.

use rtolab_time::{Duration, Instant};

use super::input::{Findings, Pair};
use crate::history::{
    Ack, Bound, EvidenceKind, Finding, RetransmissionHistory, RetransmittedRange,
};

pub(super) static KIND: EvidenceKind = EvidenceKind::new("originals-in-order", 0.97);

/// The evidence of an ACK of an original: the data that the range's first covering ACK expected.
pub(super) fn after_ack(history: &RetransmissionHistory, ack: &Ack<'_>) -> Findings {
    let facts = ack.facts;
    let mut found = Findings::new();
    let Some(oldest) = facts.oldest_acked.filter(|sent| !sent.was_retransmitted()) else {
        return found;
    };
    for (index, range) in history.iter().enumerate().filter(|(_, range)| range.awaits_next) {
        if range.expected_next.is_some_and(|next| next < facts.ack && oldest.seq <= next) {
            let shown = order(range, oldest.first_sent, ack.frame);
            found.extend(shown.map(|shown| (index, shown)));
        }
    }
    found
}

/// The evidence of the second pass: the expected data was retransmitted, but its original arrived,
/// or a copy that was sent before some copies of the range.
pub(super) fn of_first(pair: &Pair<'_>) -> Option<Finding> {
    let (covering, next) = pair.covering_acks()?;
    let arrived = pair.next.arrived_copy()?;
    // Copies that are sent in a burst may arrive in another order.
    let margin = if arrived == 0 { Duration::ZERO } else { pair.rtt.reordering_window() };
    let sent = pair.next.copies[arrived].at + margin;
    order(pair.range, sent, next.frame).filter(|_| next.at > covering.at)
}

fn order(range: &RetransmittedRange, sent: Instant, frame: u64) -> Option<Finding> {
    match range.copies.iter().position(|copy| copy.at > sent)? {
        0 => None,
        copy => Some(Bound::AtMost(copy - 1).shown_by(frame)),
    }
}
