//! The kinds of evidence that an ACK of the original and an ACK of a copy can both give.

use super::{arrived_before, no_gap, timestamps};
use crate::history::EvidenceKind;

/// These kinds of evidence.
pub(crate) static OF_EITHER_ACK: [&EvidenceKind; 3] =
    [&timestamps::OLDER, &no_gap::NO_GAP_REPORTED, &arrived_before::KIND];
