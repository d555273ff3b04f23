//! The range arrived before a copy of another range did. Copies of the range that were sent well
//! after that copy were not the first to arrive.

use super::input::ArrivedCopy;
use crate::history::{Bound, EvidenceKind, Finding, RetransmittedRange};

pub(crate) static KIND: EvidenceKind = EvidenceKind::new("arrived-before", 0.97);

pub(super) fn by_arrived_copy(range: &RetransmittedRange, other: &ArrivedCopy) -> Option<Finding> {
    let sent = other.sent + other.reordering_window;
    match range.copies.iter().position(|copy| copy.at > sent).filter(|_| !range.is_syn)? {
        0 => None,
        copy => Some(Bound::AtMost(copy - 1).shown_by(other.frame)),
    }
}
