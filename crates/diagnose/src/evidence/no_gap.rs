//! The first covering ACK also acknowledges later data that was sent only once, and no ACK reported
//! a gap. If the original had been lost, the later data would have caused duplicate ACKs.

use rtolab_time::Instant;

use crate::history::{Ack, Bound, EvidenceKind, Finding, RetransmittedRange};

/// The ACK carries a D-SACK, so it answers a duplicate.
pub(super) static ANSWERED_DUPLICATE: EvidenceKind = EvidenceKind::new("answered-duplicate", 0.9);

/// The ACK carries no D-SACK. It may answer the original or a copy.
pub(crate) static NO_GAP_REPORTED: EvidenceKind =
    EvidenceKind { supports_inference: false, ..EvidenceKind::new("no-gap-reported", 0.8) };

pub(super) fn answered_duplicate(range: &RetransmittedRange, ack: &Ack<'_>) -> Option<Finding> {
    infer_original_arrived(range, ack, true)
}

pub(super) fn no_gap_reported(range: &RetransmittedRange, ack: &Ack<'_>) -> Option<Finding> {
    infer_original_arrived(range, ack, false)
}

fn infer_original_arrived(
    range: &RetransmittedRange,
    ack: &Ack<'_>,
    has_dsack: bool,
) -> Option<Finding> {
    let facts = ack.facts;
    let newest = facts.newest_acked?;
    let first_retransmitted = range.first_retransmitted().unwrap_or(Instant::START);
    let is_covered = range.end <= facts.ack;
    let has_expected_dsack = facts.dsack.is_some() == has_dsack;
    let is_later_data = newest.seq >= range.end && newest.first_sent < first_retransmitted;
    let is_newly_acked_original = !newest.was_retransmitted() && !newest.is_sacked();
    let is_gap_free = ack.gap.is_none_or(|gap| gap < range.copies[0].at);
    let is_evidence =
        is_covered && has_expected_dsack && is_later_data && is_newly_acked_original && is_gap_free;
    is_evidence.then(|| Bound::AtMost(0).shown_by(ack.frame))
}
