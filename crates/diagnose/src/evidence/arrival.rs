//! A capture at the receiver shows which copies arrive.

use crate::history::{Arrival, Bound, Found, Kind, Retransmission};

/// An earlier copy was seen, too.
pub(super) static BOTH_COPIES_SEEN: Kind = Kind::new("both-copies-seen", 0.99);

/// It arrives for the first time, later than what was sent after it.
pub(super) static FILLS_HOLE: Kind = Kind::new("fills-hole", 0.98);

pub(super) fn both_copies_seen(index: usize, copy: &Retransmission) -> Option<Found> {
    let again = copy.arrival == Arrival::Again;
    again.then(|| Bound::AtMost(index - 1).shown_by(copy.frame))
}

pub(super) fn fills_hole(index: usize, copy: &Retransmission) -> Option<Found> {
    let fills = copy.arrival == Arrival::FillsHole;
    fills.then(|| Bound::AtLeast(index).shown_by(copy.frame))
}
