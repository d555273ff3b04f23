//! The class of a timeout.

#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::evidence::{Assessment, NO_GAP_REPORTED, Necessity, OF_EITHER_ACK};
use crate::history::{CoveringAck, DuplicateAck, RetransmittedRange, Transmission};
use crate::rtt::RttStatistics;

/// The class of a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeoutClass {
    /// The timed-out segment was lost.
    Genuine,
    /// The segment arrived, but all its ACKs were lost.
    AckLost,
    /// The segment or its ACK was late.
    Spurious,
    /// The capture does not show which of these is true.
    Unknown,
}

impl TimeoutClass {
    /// The name in reports and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Genuine => "genuine",
            Self::AckLost => "ack-lost",
            Self::Spurious => "spurious",
            Self::Unknown => "unknown",
        }
    }
}

/// The maximum confidence in the class of a timeout if the covering ACK answers a duplicate: it may
/// also be the delayed ACK of an original.
const MAX_CONFIDENCE_IF_DUPLICATE: f64 = 0.9;

/// The maximum confidence in the class of a timeout if the segment arrived. Whether the ACK was
/// lost or late is less certain than the arrival: on randomly drawn paths, this share of the
/// classes is right where the arrival is certain (docs/diagnose.md).
const MAX_CONFIDENCE_IF_ARRIVED: f64 = 0.97;

/// The confidence in the class of a timeout.
pub(crate) fn confidence(
    class: TimeoutClass,
    range: &RetransmittedRange,
    assessment: &Assessment,
) -> f64 {
    let reports_duplicate = range.covering_ack.is_some_and(|ack| ack.reports_duplicate);
    match class {
        TimeoutClass::Unknown => 0.0,
        TimeoutClass::AckLost | TimeoutClass::Spurious if reports_duplicate => {
            assessment.confidence.min(MAX_CONFIDENCE_IF_DUPLICATE)
        }
        TimeoutClass::AckLost | TimeoutClass::Spurious => {
            assessment.confidence.min(MAX_CONFIDENCE_IF_ARRIVED)
        }
        TimeoutClass::Genuine => assessment.confidence,
    }
}

/// The class of a timeout: would an ACK have come without the retransmission? `dsack_seen`: has the
/// receiver ever reported a duplicate?
pub(crate) fn class(
    range: &RetransmittedRange,
    assessment: &Assessment,
    (rtt, dsack_seen): (&RttStatistics, bool),
) -> TimeoutClass {
    match assessment.verdict {
        Necessity::Needed => TimeoutClass::Genuine,
        Necessity::Unknown => TimeoutClass::Unknown,
        Necessity::Unneeded => match range.covering_ack {
            // The path held the copies and released them at once.
            Some(covering) if covering.reports_duplicate && came_at_once(range) => {
                TimeoutClass::Spurious
            }
            // Nothing made the receiver acknowledge the original before the copy arrived.
            Some(covering) if covering.reports_duplicate && covering.may_be_delayed => {
                match range.duplicates + 1 < range.copies.len() {
                    // The path lost a copy, so it may also have lost the delayed ACK.
                    true => TimeoutClass::Unknown,
                    false => TimeoutClass::Spurious,
                }
            }
            // The first ACK answers a duplicate: the ACKs before it were lost.
            Some(covering) if covering.reports_duplicate => TimeoutClass::AckLost,
            // A receiver that reports duplicates would have reported the copy: this ACK answers an
            // original, even if it jumps because the ACKs before it were lost.
            Some(covering) if dsack_seen && !covering.has_dsack && !range.is_syn => {
                TimeoutClass::Spurious
            }
            // It may answer a duplicate that the receiver does not report (RFC 3522 section 3.3).
            Some(covering) if may_answer_copy(assessment) && range.duplicates == 0 => {
                class_of_either_ack((range, covering), assessment, rtt)
            }
            Some(_) => TimeoutClass::Spurious,
            None => TimeoutClass::Unknown,
        },
    }
}

/// The class if the first covering ACK may answer the original or a copy: the time decides.
fn class_of_either_ack(
    (range, covering): (&RetransmittedRange, CoveringAck),
    assessment: &Assessment,
    rtt: &RttStatistics,
) -> TimeoutClass {
    let is_weak = assessment.evidence.iter().all(|piece| piece.kind == &NO_GAP_REPORTED);
    match answered_copy(range, &covering, rtt) {
        None => TimeoutClass::Spurious,
        Some(_) if covering.jumps => TimeoutClass::AckLost,
        // Before a later copy arrived, the delayed ACK would have been sent anyway.
        Some(1) if covering.may_be_delayed => TimeoutClass::Spurious,
        _ if covering.duplicate == DuplicateAck::Missing => TimeoutClass::AckLost,
        // A second SYN-ACK answered the copy.
        _ if range.is_syn && covering.duplicate == DuplicateAck::Came => TimeoutClass::Spurious,
        _ if covering.all || is_weak => TimeoutClass::Unknown,
        _ => TimeoutClass::Spurious,
    }
}

/// Did D-SACKs of copies that were sent one after the other come together? The path then held these
/// copies, and the original may have waited under a delayed ACK.
fn came_at_once(range: &RetransmittedRange) -> bool {
    let (Some(covering), Some(last)) = (range.covering_ack, range.last_duplicate) else {
        return false;
    };
    let [_, first, .., newest] = &range.copies[..] else { return false };
    range.duplicates > 1 && last.since(covering.at) * 4 < newest.at.since(first.at)
}

/// Is there no evidence that the ACK is an original's own?
fn may_answer_copy(assessment: &Assessment) -> bool {
    assessment.evidence.iter().all(|piece| OF_EITHER_ACK.contains(&piece.kind))
}

/// The index of the copy whose answer was due when the first covering ACK came, if any. Without a
/// round-trip time it may be the first one.
fn answered_copy(
    range: &RetransmittedRange,
    covering: &CoveringAck,
    rtt: &RttStatistics,
) -> Option<usize> {
    let Some((soonest, usual)) = rtt.answer_times() else { return Some(1) };
    // Only lost ACKs or a queue explain an ACK that jumps, and a queue delays answers, too.
    let longest = rtt.timeout().filter(|_| covering.jumps);
    let latest = longest.map_or(usual, |longest| longest.max(usual));
    let is_due = |copy: &Transmission| (soonest..=latest).contains(&covering.at.since(copy.at));
    range.copies.iter().skip(1).position(is_due).map(|index| index + 1)
}
