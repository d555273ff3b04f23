//! A capture at the receiver shows which copies arrived.

use super::still_missing;
use crate::history::{Arrival, Bound, EvidenceKind, Finding, Retransmission, RetransmittedRange};

/// The capture contains an earlier copy, too.
pub(super) static BOTH_COPIES_SEEN: EvidenceKind = EvidenceKind::new("both-copies-seen", 0.99);

/// The copy is the first one to arrive, and it arrives after data that was sent later.
pub(super) static FILLS_HOLE: EvidenceKind = EvidenceKind::new("fills-hole", 0.98);

/// The same, but an earlier copy arrived, and the receiver discarded it for its old timestamp.
pub(crate) static ORIGINAL_DISCARDED: EvidenceKind = EvidenceKind::new("original-discarded", 0.98);

pub(super) fn both_copies_seen(
    range: &RetransmittedRange,
    index: usize,
    copy: &Retransmission,
) -> Option<Finding> {
    let is_discarded = still_missing::at_receiver(range, index, copy).is_some();
    let is_seen_again = copy.arrival == Arrival::SeenBefore && !is_discarded;
    is_seen_again.then(|| Bound::AtMost(index - 1).shown_by(copy.frame))
}

pub(super) fn fills_hole(
    _: &RetransmittedRange,
    index: usize,
    copy: &Retransmission,
) -> Option<Finding> {
    let fills = copy.arrival == Arrival::FillsHole;
    fills.then(|| Bound::AtLeast(index).shown_by(copy.frame))
}

pub(super) fn original_discarded(
    _: &RetransmittedRange,
    index: usize,
    copy: &Retransmission,
) -> Option<Finding> {
    let replaces = copy.arrival == Arrival::ReplacesDiscarded;
    replaces.then(|| Bound::AtLeast(index).shown_by(copy.frame))
}
