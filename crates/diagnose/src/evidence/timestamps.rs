//! RFC 3522: the timestamp that the first covering ACK echoes. It is certain of the range at
//! SND.UNA alone that its arrival would have changed the echo.

use crate::history::{Ack, Bound, Found, Kind, LONGEST_DELAYED_ACK, RetransmittedRange};

/// It is older than the retransmission's.
pub(super) static OLDER: Kind = Kind::new("older-timestamp", 0.99);

/// It is the retransmission's.
pub(super) static OWN: Kind = Kind::new("own-timestamp", 0.98);

/// It is the retransmission's, but the original may have waited under a delayed ACK: the duplicate
/// then makes the receiver send that ACK, and its timestamp is the one to be echoed (RFC 7323
/// section 4.3), as long as nothing was acknowledged of the range.
pub(super) static OWN_OF_TAIL: Kind =
    Kind { carries: false, ..Kind::new("own-timestamp-of-tail", 0.7) };

pub(super) fn older(range: &RetransmittedRange, ack: &Ack<'_>) -> Option<Found> {
    let echo = ack.facts.echo.filter(|_| range.end <= ack.facts.ack)?;
    let most = match range.start > ack.facts.una_before {
        true => is_original(range, echo).then_some(0)?,
        false => stamps(range).find(|&(_, stamp)| is_before(echo, stamp))?.0 - 1,
    };
    Some(Bound::AtMost(most).shown_by(ack.frame))
}

pub(super) fn own(range: &RetransmittedRange, ack: &Ack<'_>) -> Option<Found> {
    own_timestamp(range, ack).filter(|_| !is_delayed_tail(range, ack))
}

pub(super) fn own_of_tail(range: &RetransmittedRange, ack: &Ack<'_>) -> Option<Found> {
    own_timestamp(range, ack).filter(|_| is_delayed_tail(range, ack))
}

fn own_timestamp(range: &RetransmittedRange, ack: &Ack<'_>) -> Option<Found> {
    let facts = ack.facts;
    let echo = facts.echo.filter(|_| range.end <= facts.ack && range.start <= facts.una_before)?;
    let (index, _) = stamps(range).find(|&(_, stamp)| stamp == echo)?;
    let is_own = range.copies[0].timestamp != Some(echo);
    is_own.then(|| Bound::AtLeast(index).shown_by(ack.frame))
}

fn is_delayed_tail(range: &RetransmittedRange, ack: &Ack<'_>) -> bool {
    ack.may_be_delayed(range) && ack.nothing_followed(range)
}

/// The ACK of a range further on may be that of a packet that came just before, whose timestamp is
/// then echoed (RFC 7323 section 4.3). It is not that of a copy sent long after the echoed one.
fn is_original(range: &RetransmittedRange, echo: u32) -> bool {
    let (original, again) = (range.copies[0], range.copies[1]);
    let before = original.timestamp.is_some_and(|stamp| stamp == echo || is_before(echo, stamp));
    let late = again.at.since(original.at) > LONGEST_DELAYED_ACK;
    before && late && again.timestamp.is_some_and(|stamp| is_before(echo, stamp))
}

/// The retransmissions' timestamps, each with the number of its copy.
fn stamps(range: &RetransmittedRange) -> impl Iterator<Item = (usize, u32)> {
    let copies = range.copies.iter().enumerate().skip(1);
    copies.filter_map(|(index, copy)| Some((index, copy.timestamp?)))
}

const fn is_before(echo: u32, stamp: u32) -> bool {
    (echo.wrapping_sub(stamp) as i32) < 0
}
