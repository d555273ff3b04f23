//! The range was acknowledged alone when the answer to its last copy was due, and no duplicate ACK
//! followed. If the path had only held the earlier copies, each copy would have caused an ACK.
//!
//! The retransmission timer sent the last copy. Other copies follow an ACK, and so may the next.

use super::input::SettledDirection;
use crate::history::{Bound, DuplicateAck, EvidenceKind, Finding, RetransmittedRange};

pub(super) static KIND: EvidenceKind =
    EvidenceKind { supports_inference: false, ..EvidenceKind::new("answered-once", 0.85) };

pub(super) fn at_end(range: &RetransmittedRange, end: &SettledDirection<'_>) -> Option<Finding> {
    let covering = range.covering_ack?;
    let [earlier @ .., before, last] = &range.copies[..] else { return None };
    let due = end.rtt.answer_times()?;
    let is_timeout = last.retransmission.is_some_and(|copy| copy.trigger.backoff().is_some());
    let is_alone = !covering.jumps && !covering.all && !range.is_syn && !covering.has_dsack;
    let is_only = covering.duplicate == DuplicateAck::Missing && range.duplicates == 0;
    let answers_last = due.contains(&covering.at.since(last.at));
    // The answer of an earlier copy would be late by a multiple of the usual time.
    let is_late = covering.at.since(before.at) > *due.end() * 2;
    let index = earlier.len() + 1;
    (is_timeout && is_alone && is_only && answers_last && is_late)
        .then(|| Bound::AtLeast(index).shown_by(covering.frame))
}
