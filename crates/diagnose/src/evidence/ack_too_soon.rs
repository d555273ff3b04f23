//! The first covering ACK came sooner after the retransmission than the path allows (Allman and
//! Paxson, "On Estimating End-to-End Network Path Properties", 1999).

use rtolab_time::Instant;

use super::input::End;
use crate::history::{Bound, Found, Kind, RetransmittedRange};
use crate::rtt::{RoundTrips, TOO_SOON};

pub(super) static KIND: Kind = Kind::new("ack-too-soon", 0.97);

pub(super) fn at_end(range: &RetransmittedRange, end: &End<'_>) -> Option<Found> {
    let frame = range.covering_ack.map_or(0, |ack| ack.frame);
    soonest(range, end.trips).map(|most| Bound::AtMost(most).shown_by(frame))
}

/// The last copy before the first one that was sent too shortly before the ACK to cause it: it or
/// an earlier one arrived.
pub(super) fn soonest(range: &RetransmittedRange, trips: &RoundTrips) -> Option<usize> {
    let (covering, least) = (range.covering_ack?, trips.least?);
    let too_soon = |at: Instant| covering.at.since(at) * 100 < least * TOO_SOON;
    range.copies.iter().skip(1).position(|copy| copy.at <= covering.at && too_soon(copy.at))
}
