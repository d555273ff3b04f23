//! Eifel (RFC 3522): the timestamp that the first covering ACK echoes shows which copy arrived.
//! That holds only for the range at SND.UNA, because only its arrival is sure to change the echo.

use crate::history::{Ack, Bound, EvidenceKind, Finding, LONGEST_DELAYED_ACK, RetransmittedRange};

/// The echoed timestamp is older than that of the retransmission.
pub(super) static OLDER: EvidenceKind = EvidenceKind::new("older-timestamp", 0.99);

/// The echoed timestamp is that of the retransmission.
pub(super) static OWN: EvidenceKind = EvidenceKind::new("own-timestamp", 0.98);

/// The echoed timestamp is that of the retransmission, but the receiver may have delayed the ACK of
/// the original. The copy then makes the receiver send that ACK, which echoes the timestamp of the
/// copy (RFC 7323 section 4.3).
pub(super) static OWN_OF_TAIL: EvidenceKind =
    EvidenceKind { supports_inference: false, ..EvidenceKind::new("own-timestamp-of-tail", 0.7) };

pub(super) fn older(range: &RetransmittedRange, ack: &Ack<'_>) -> Option<Finding> {
    let echo = ack.facts.echo.filter(|_| range.end <= ack.facts.ack)?;
    let upper = match range.start > ack.facts.una_before {
        true => is_original(range, echo).then_some(0)?,
        false => retransmitted_timestamps(range).find(|&(_, stamp)| is_before(echo, stamp))?.0 - 1,
    };
    Some(Bound::AtMost(upper).shown_by(ack.frame))
}

pub(super) fn own(range: &RetransmittedRange, ack: &Ack<'_>) -> Option<Finding> {
    own_timestamp(range, ack).filter(|_| !is_delayed_tail(range, ack))
}

pub(super) fn own_of_tail(range: &RetransmittedRange, ack: &Ack<'_>) -> Option<Finding> {
    own_timestamp(range, ack).filter(|_| is_delayed_tail(range, ack))
}

fn own_timestamp(range: &RetransmittedRange, ack: &Ack<'_>) -> Option<Finding> {
    let facts = ack.facts;
    let echo = facts.echo.filter(|_| range.end <= facts.ack && range.start <= facts.una_before)?;
    let (index, _) = retransmitted_timestamps(range).find(|&(_, stamp)| stamp == echo)?;
    let is_own = range.copies[0].timestamp != Some(echo);
    is_own.then(|| Bound::AtLeast(index).shown_by(ack.frame))
}

fn is_delayed_tail(range: &RetransmittedRange, ack: &Ack<'_>) -> bool {
    ack.may_be_delayed(range) && ack.nothing_followed(range)
}

/// Does the echo show that the original of a range above SND.UNA arrived? A delayed ACK echoes the
/// timestamp of an earlier packet (RFC 7323 section 4.3), so the ACK of a copy may echo a timestamp
/// from before that copy. It cannot if the copy left later after the echoed packet than a receiver
/// delays an ACK.
fn is_original(range: &RetransmittedRange, echo: u32) -> bool {
    let (original, copy) = (range.copies[0], range.copies[1]);
    let is_not_newer =
        original.timestamp.is_some_and(|stamp| stamp == echo || is_before(echo, stamp));
    let exceeds_ack_delay = copy.at.since(original.at) > LONGEST_DELAYED_ACK;
    is_not_newer && exceeds_ack_delay && copy.timestamp.is_some_and(|stamp| is_before(echo, stamp))
}

/// The timestamps of the retransmissions, each with the index of its copy.
fn retransmitted_timestamps(range: &RetransmittedRange) -> impl Iterator<Item = (usize, u32)> {
    let copies = range.copies.iter().enumerate().skip(1);
    copies.filter_map(|(index, copy)| Some((index, copy.timestamp?)))
}

const fn is_before(echo: u32, stamp: u32) -> bool {
    (echo.wrapping_sub(stamp) as i32) < 0
}
