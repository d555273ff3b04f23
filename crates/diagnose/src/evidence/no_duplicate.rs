//! A receiver that reports duplicates (RFC 2883) has reported none of the range, although later
//! ACKs of it arrived. All copies except the last were lost. An ACK reports one duplicate: if the
//! first one of the range reports another range, it has no room for a duplicate of this one.

use super::input::SettledDirection;
use crate::history::{Bound, EvidenceKind, Finding, RetransmittedRange};

pub(super) static KIND: EvidenceKind =
    EvidenceKind { supports_inference: false, ..EvidenceKind::new("no-duplicate-reported", 0.75) };

pub(super) fn at_end(range: &RetransmittedRange, end: &SettledDirection<'_>) -> Option<Finding> {
    let last_ack = end.last_ack?;
    let (covering, min_rtt) = (range.covering_ack?, end.rtt.min?);
    let last = range.copies.len() - 1;
    let answered = covering.at.since(range.copies[last].at) >= min_rtt;
    let is_late = last_ack.since(covering.at) >= end.rtt.srtt.unwrap_or(min_rtt) * 2;
    let no_duplicate = range.duplicates == 0 && !range.is_syn;
    let reports_another = covering.has_dsack && !covering.reports_duplicate;
    let lost = last > 0 && answered && is_late && no_duplicate && !reports_another;
    lost.then(|| Bound::AtLeast(last).shown_by(covering.frame))
}
