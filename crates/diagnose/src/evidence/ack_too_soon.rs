//! The first covering ACK arrived sooner after the retransmission than the path allows (Allman and
//! Paxson, "On Estimating End-to-End Network Path Properties", 1999).

use rtolab_time::Instant;

use super::input::SettledDirection;
use crate::history::{Bound, DuplicateAck, EvidenceKind, Finding, RetransmittedRange};
use crate::rtt::RttStatistics;

pub(super) static KIND: EvidenceKind = EvidenceKind::new("ack-too-soon", 0.97);

pub(super) fn at_end(range: &RetransmittedRange, end: &SettledDirection<'_>) -> Option<Finding> {
    // An outage may have discarded the queue of all earlier samples.
    let covering = range
        .covering_ack
        .filter(|ack| ack.duplicate == DuplicateAck::Came && end.rtt.is_measured_after(ack.at))?;
    soonest(range, end.rtt).map(|latest| Bound::AtMost(latest).shown_by(covering.frame))
}

/// The index of the last copy that may have caused the first covering ACK. The copies after it were
/// sent too late.
pub(super) fn soonest(range: &RetransmittedRange, rtt: &RttStatistics) -> Option<usize> {
    let acked = range.covering_ack?.at;
    let too_soon = |sent: Instant| sent <= acked && rtt.is_too_soon(sent, acked);
    range.copies.iter().skip(1).position(|copy| too_soon(copy.at))
}
