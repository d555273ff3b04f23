//! The first covering ACK arrived sooner after the retransmission than the path allows (Allman and
//! Paxson, "On Estimating End-to-End Network Path Properties", 1999).

use rtolab_time::Instant;

use super::input::SettledDirection;
use crate::history::{Bound, Finding, Kind, RetransmittedRange};
use crate::rtt::{RoundTrips, TOO_SOON};

pub(super) static KIND: Kind = Kind::new("ack-too-soon", 0.97);

pub(super) fn at_end(range: &RetransmittedRange, end: &SettledDirection<'_>) -> Option<Finding> {
    let frame = range.covering_ack.map_or(0, |ack| ack.frame);
    soonest(range, end.trips).map(|most| Bound::AtMost(most).shown_by(frame))
}

/// The index of the last copy that may have caused the first covering ACK. The copies after it were
/// sent too late.
pub(super) fn soonest(range: &RetransmittedRange, trips: &RoundTrips) -> Option<usize> {
    let (covering, least) = (range.covering_ack?, trips.least?);
    let too_soon = |at: Instant| covering.at.since(at) * 100 < least * TOO_SOON;
    range.copies.iter().skip(1).position(|copy| copy.at <= covering.at && too_soon(copy.at))
}
