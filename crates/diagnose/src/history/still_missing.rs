//! Copies of a range that passed the capture point, but that the receiver still reports missing.
//!
//! A capture at the receiver shows a packet before the receiver's TCP gets it. The host may discard
//! it in between, and so may the rest of the path if the capture point is not on that host.

use rtolab_tcp::{Flight, Seq};
use rtolab_time::{Duration, Instant};

use crate::trigger::DUPLICATE_THRESHOLD;

/// The time in which a receiver answers what passes the capture point. Without SACK, a duplicate
/// ACK does not name the data that caused it.
const ANSWER: Duration = Duration::from_millis(1);

/// When the newest data passed that the receiver has reported beyond the gap at `SND.UNA`. `gap` is
/// the time of the last ACK that reported a gap, `duplicates` the number of duplicate ACKs.
pub(crate) fn reported_beyond_gap(
    flight: &Flight,
    (duplicates, gap): (u32, Option<Instant>),
) -> Option<Instant> {
    if flight.uses_sack() {
        let highest = flight.segment_at(flight.sacked_end() - 1).filter(|_| flight.sacked() > 0)?;
        return (highest.is_sacked() && !highest.was_retransmitted()).then_some(highest.first_sent);
    }
    let before = |at: Instant| Instant::START + at.since(Instant::START).saturating_sub(ANSWER);
    gap.filter(|_| duplicates >= DUPLICATE_THRESHOLD).map(before)
}

/// When the segment at `end` passed, if the receiver has reported it, and not the range before it:
/// with SACK, one block would contain both.
pub(crate) fn reported_after(flight: &Flight, end: Seq) -> Option<Instant> {
    let next = flight.segment_at(end).filter(|next| next.seq == end && next.is_sacked())?;
    (!next.was_retransmitted()).then_some(next.first_sent)
}
