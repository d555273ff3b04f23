//! The first covering ACK acknowledges data after the original, too, that was sent once, and no gap
//! was reported. Had the original been lost, there would have been duplicate ACKs.

use rtolab_time::Instant;

use crate::history::{Ack, Bound, Found, Kind, RetransmittedRange};

/// The ACK answers a duplicate, as its D-SACK says.
pub(super) static ANSWERED_DUPLICATE: Kind = Kind::new("answered-duplicate", 0.9);

/// The receiver does not report duplicates.
pub(crate) static NO_GAP_REPORTED: Kind =
    Kind { carries: false, ..Kind::new("no-gap-reported", 0.8) };

pub(super) fn answered_duplicate(range: &RetransmittedRange, ack: &Ack<'_>) -> Option<Found> {
    shows_original(range, ack, true)
}

pub(super) fn no_gap_reported(range: &RetransmittedRange, ack: &Ack<'_>) -> Option<Found> {
    shows_original(range, ack, false)
}

fn shows_original(range: &RetransmittedRange, ack: &Ack<'_>, dsack: bool) -> Option<Found> {
    let facts = ack.facts;
    let newest = facts.newest_acked?;
    let again = range.first_retransmitted().unwrap_or(Instant::START);
    let after = newest.seq >= range.end && !newest.was_retransmitted();
    let silent = ack.gap.is_none_or(|gap| gap < range.copies[0].at);
    let shows = range.end <= facts.ack && facts.dsack.is_some() == dsack;
    let original = after && newest.first_sent < again && silent && !newest.is_sacked();
    (shows && original).then(|| Bound::AtMost(0).shown_by(ack.frame))
}
