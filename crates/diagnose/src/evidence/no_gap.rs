//! The first covering ACK also acknowledges later data that was sent only once, and no ACK reported
//! a gap. If the original had been lost, the later data would have caused duplicate ACKs.

use rtolab_time::Instant;

use crate::history::{Ack, Bound, Finding, Kind, RetransmittedRange};

/// The ACK has a D-SACK, so it answers a duplicate.
pub(super) static ANSWERED_DUPLICATE: Kind = Kind::new("answered-duplicate", 0.9);

/// The ACK has no D-SACK.
pub(crate) static NO_GAP_REPORTED: Kind =
    Kind { carries: false, ..Kind::new("no-gap-reported", 0.8) };

pub(super) fn answered_duplicate(range: &RetransmittedRange, ack: &Ack<'_>) -> Option<Finding> {
    shows_original(range, ack, true)
}

pub(super) fn no_gap_reported(range: &RetransmittedRange, ack: &Ack<'_>) -> Option<Finding> {
    shows_original(range, ack, false)
}

fn shows_original(range: &RetransmittedRange, ack: &Ack<'_>, dsack: bool) -> Option<Finding> {
    let facts = ack.facts;
    let newest = facts.newest_acked?;
    let retransmitted = range.first_retransmitted().unwrap_or(Instant::START);
    let after = newest.seq >= range.end && !newest.was_retransmitted();
    let no_gap = ack.gap.is_none_or(|gap| gap < range.copies[0].at);
    let shows = range.end <= facts.ack && facts.dsack.is_some() == dsack;
    let original = after && newest.first_sent < retransmitted && no_gap && !newest.is_sacked();
    (shows && original).then(|| Bound::AtMost(0).shown_by(ack.frame))
}
