//! RACK (RFC 8985): copies that have not arrived are lost if a packet sent later has.
//!
//! RACK decides whether to retransmit; this evidence bounds which copy arrived.

use rtolab_time::{Duration, Instant};

use super::input::{ArrivedCopy, Findings, Retransmitting};
use crate::history::{
    Ack, Bound, EvidenceKind, Finding, RetransmissionHistory, RetransmittedRange,
};

pub(super) static KIND: EvidenceKind = EvidenceKind::new("overtaken-copies", 0.95);

/// The evidence of a retransmission about the earlier copies.
pub(super) fn on_retransmission(
    range: &RetransmittedRange,
    now: &Retransmitting,
) -> Option<Finding> {
    let (sent, frame) = now.newest.filter(|_| !now.is_known && !range.is_syn)?;
    lost(range, sent, now.reordering_window, is_seen(range)).map(|lost| lost.shown_by(frame))
}

pub(super) fn after_ack(history: &RetransmissionHistory, ack: &Ack<'_>) -> Findings {
    let (delivered, sack) = (history.delivered, ack.flight.uses_sack());
    let reordering_window = ack.rtt.reordering_window();
    let mut found = Findings::new();
    for (index, range) in history.iter().enumerate() {
        let sent = match range.is_covered_at(ack.facts.at) {
            false if range.covering_ack.is_some() => None,
            // SACK would have reported an earlier arrival. Without it, data after the first gap has
            // an unknown state.
            false if sack || range.start <= ack.facts.ack => delivered.any,
            true if sack => delivered.copy,
            _ => None,
        };
        if let Some(bound) = sent.and_then(|sent| lost(range, sent, reordering_window, true)) {
            let known =
                range.evidence.iter().any(|piece| piece.kind == &KIND && piece.bound == bound);
            if !known {
                found.push((index, bound.shown_by(ack.frame)));
            }
        }
    }
    found
}

/// The evidence of the second pass, by copies whose arrival became known later.
pub(super) fn by_arrived_copy(range: &RetransmittedRange, other: &ArrivedCopy) -> Option<Finding> {
    let lost = lost(range, other.sent, other.reordering_window, is_seen(range))?;
    Some(lost.shown_by(other.frame))
}

fn is_seen(range: &RetransmittedRange) -> bool {
    range.copies[0].at > Instant::START
}

/// The bound if copies sent well before `sent` are lost. The last copy never counts as lost,
/// because one copy arrived.
fn lost(
    range: &RetransmittedRange,
    sent: Instant,
    reordering_window: Duration,
    seen: bool,
) -> Option<Bound> {
    let lost = range.copies.iter().take_while(|copy| copy.at + reordering_window < sent).count();
    let lost = lost.min(range.copies.len() - 1);
    (lost > 0 && seen).then_some(Bound::AtLeast(lost))
}
