//! Evidence that an ACK of the original and an ACK of a copy give alike.

use super::{arrived_before, no_gap, timestamps};
use crate::history::EvidenceKind;

/// Its kinds.
pub(crate) static OF_EITHER_ACK: [&EvidenceKind; 3] =
    [&timestamps::OLDER, &no_gap::NO_GAP_REPORTED, &arrived_before::KIND];
