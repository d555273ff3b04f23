//! A capture at the receiver contains an earlier copy, but the receiver reported later data and
//! still missed the range: what passed the capture point did not reach its TCP.

use crate::history::{Arrival, Bound, EvidenceKind, Finding, Retransmission, RetransmittedRange};

pub(crate) static KIND: EvidenceKind = EvidenceKind::new(NAME, 0.97);

/// Its name in documents.
pub(crate) const NAME: &str = "still-missing";

pub(super) fn at_receiver(
    range: &RetransmittedRange,
    index: usize,
    copy: &Retransmission,
) -> Option<Finding> {
    let missing = range.still_missing.filter(|_| copy.arrival == Arrival::SeenBefore)?;
    // Each D-SACK reports a copy that arrived after another one.
    let most = (range.copies.len() - 1).saturating_sub(range.duplicates);
    (index <= missing.copies.min(most)).then(|| Bound::AtLeast(index).shown_by(missing.frame))
}
