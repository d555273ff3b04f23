//! The range was acknowledged before it was retransmitted.

use super::input::Retransmitting;
use crate::history::{Arrival, Bound, EvidenceKind, Finding, Retransmission, RetransmittedRange};

pub(super) static KIND: EvidenceKind = EvidenceKind::new("already-acknowledged", 1.0);

pub(super) fn on_retransmission(
    range: &RetransmittedRange,
    now: &Retransmitting,
) -> Option<Finding> {
    let last = range.copies.len() - 1;
    now.is_known.then(|| Bound::AtMost(last - 1).shown_by(now.frame))
}

/// The evidence in a capture at the receiver that begins after the first copy.
pub(super) fn at_receiver(
    _: &RetransmittedRange,
    index: usize,
    copy: &Retransmission,
) -> Option<Finding> {
    let acked = copy.arrival == Arrival::Acknowledged;
    acked.then(|| Bound::AtMost(index - 1).shown_by(copy.frame))
}
