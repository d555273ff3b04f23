//! Eifel detection by the RXT flag (draft-ludwig-tsvwg-tcp-rxt-flag-03), or by two reserved bits
//! (Ludwig and Katz 2000).
//!
//! The sender sets RXT in retransmissions, and the receiver echoes it when it acknowledges one. An
//! acknowledgment without the echo answers an original. In the draft the receiver answers each
//! segment with RXT at once by a pure acknowledgment. In Ludwig and Katz the next regular
//! acknowledgment has the echo; it may be delayed, carry data, and cover originals as well. This
//! delays the detection of a genuine timeout, but cannot make a genuine one look spurious.

use super::{Detector, Episode, Reason, Verdict};
use crate::flight::{AckFacts, Cause, Sent};

/// The state of the detector.
#[derive(Clone, Copy, Debug, Default)]
pub enum EifelRxt {
    /// No undecided timeout or fast retransmit.
    #[default]
    Idle,
    /// The segment was retransmitted with RXT.
    Marked,
    /// The segment was retransmitted without RXT.
    Unmarked,
}

impl Detector for EifelRxt {
    fn on_retransmission(&mut self, sent: &Sent, _: &Episode) {
        if matches!(sent.cause, Cause::Timeout | Cause::FastRetransmit) {
            *self = if sent.marked { Self::Marked } else { Self::Unmarked };
        }
    }

    fn on_ack(&mut self, ack: &AckFacts, _: &Episode) -> Verdict {
        if !ack.is_new() {
            return Verdict::Open;
        }
        match core::mem::take(self) {
            Self::Idle => Verdict::Open,
            Self::Unmarked => Verdict::Inconclusive(Reason::NotMarked),
            Self::Marked if ack.answers_retransmission => Verdict::Genuine,
            Self::Marked => Verdict::Spurious,
        }
    }
}
