//! A receiver that reports duplicates (RFC 2883) has reported none of the range, though it was
//! heard for long enough: all copies but one were lost, and the last came when its answer was due.

use super::input::End;
use crate::history::{Bound, Found, Kind, RetransmittedRange};

pub(super) static KIND: Kind = Kind { carries: false, ..Kind::new("no-duplicate-reported", 0.75) };

pub(super) fn at_end(range: &RetransmittedRange, end: &End<'_>) -> Option<Found> {
    let last_heard = end.last_heard?;
    let (covering, least) = (range.covering_ack?, end.trips.least?);
    let last = range.copies.len() - 1;
    let answered = covering.at.since(range.copies[last].at) >= least;
    let heard = last_heard.since(covering.at) >= end.trips.smoothed.unwrap_or(least) * 2;
    let silent = range.duplicates == 0 && !range.is_syn;
    let lost = last > 0 && answered && heard && silent;
    lost.then(|| Bound::AtLeast(last).shown_by(covering.frame))
}
