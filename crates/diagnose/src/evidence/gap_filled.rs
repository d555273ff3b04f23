//! Three duplicate ACKs reported a gap at this range, and the first covering ACK acknowledges data
//! after the gap, too.

use rtolab_time::Instant;

use crate::history::{Ack, Bound, EvidenceKind, Finding, RetransmittedRange};
use crate::trigger::DUPLICATE_THRESHOLD;

pub(super) static KIND: EvidenceKind = EvidenceKind::new("gap-filled", 0.9);

pub(super) fn on_first_ack(range: &RetransmittedRange, ack: &Ack<'_>) -> Option<Finding> {
    let facts = ack.facts;
    let newest = facts.newest_acked?;
    let reports_duplicate = range.covering_ack.is_some_and(|ack| ack.reports_duplicate);
    let at_gap = range.end <= facts.ack && range.start <= facts.una_before && !reports_duplicate;
    let after = newest.seq >= range.end && !newest.was_retransmitted();
    let retransmitted = range.first_retransmitted().unwrap_or(Instant::START);
    let fills = newest.first_sent < retransmitted
        && ack.duplicates >= DUPLICATE_THRESHOLD
        && facts.advanced > u64::from(newest.len) * 2;
    (at_gap && after && fills).then(|| Bound::AtLeast(1).shown_by(ack.frame))
}
