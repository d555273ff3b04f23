//! What the captures of both ends show of a retransmission.

use std::collections::HashMap;

use crate::class::TimeoutClass;
use crate::evidence::{Assessment, Necessity, OF_STILL_MISSING};
use crate::history::{Bound, EvidenceKind};

/// What is known of a retransmission from both captures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairedVerdict {
    /// Unknown if an earlier copy passed the second capture, and that is not at the receiver.
    pub verdict: Necessity,
    /// The class of the timeout, if it was one.
    pub class: TimeoutClass,
    /// Did an earlier copy pass the receiver's capture, but not reach the receiver's TCP?
    pub is_after_capture: bool,
}

impl PairedVerdict {
    /// An earlier copy passed the second capture in the middle of the path. Only the receiver's
    /// acknowledgments show whether it arrived.
    pub const PASSED: Self =
        Self { verdict: Necessity::Unknown, class: TimeoutClass::Unknown, is_after_capture: false };

    /// Do the captures alone determine the verdict?
    pub fn is_certain(self) -> bool {
        self.verdict != Necessity::Unknown
    }

    /// The verdict, which is certain.
    pub fn assessment(self, frame: u64) -> Assessment {
        let bound = Bound::AtMost(0);
        let kind = if self.is_after_capture { &OF_STILL_MISSING } else { &BOTH_CAPTURES };
        let evidence = vec![bound.shown_by(frame).of(kind)];
        Assessment { verdict: self.verdict, confidence: 1.0, evidence, against: Vec::new() }
    }
}

/// The captures of both ends show which copies arrived.
static BOTH_CAPTURES: EvidenceKind = EvidenceKind::new("both-captures", 1.0);

/// What both captures say of the retransmissions of the first one, by frame.
pub(crate) type PairedVerdicts = HashMap<u64, PairedVerdict>;
