//! Eifel detection by a flag: draft-ludwig-tsvwg-tcp-rxt-flag-03, and as Ludwig and Katz 2000 have
//! it, with two of the reserved bits.
//!
//! The sender marks retransmissions, and the receiver echoes the mark when it acknowledges one. An
//! acknowledgment without the echo was made for an original. In the draft the receiver answers each
//! marked segment at once with a pure acknowledgment. Ludwig and Katz echo the mark in the
//! acknowledgment that comes anyway, so that it may be delayed, carry data and cover originals
//! besides: the sender may learn later that a timeout was needed, and never sooner that it was not.

use super::{Detector, Episode, Reason, Verdict};
use crate::flight::{AckFacts, Cause, Sent};

/// The timeout or fast retransmit in question.
#[derive(Clone, Copy, Debug, Default)]
pub enum EifelRxt {
    /// None.
    #[default]
    Idle,
    /// It was retransmitted with the mark.
    Marked,
    /// The sender marks nothing.
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
