//! The SACK-enhanced algorithm of RFC 5682 section 3.1.
//!
//! A duplicate before the first new acknowledgment does not end it, for SACK tells which segment
//! the duplicate is for; and in step 3 a block for a segment of before the timeout is as good as an
//! acknowledgment.

use super::advice::{Outcome, Step};
use super::{CanSend, Entry, Expiry, Resumption, Step2Window};
use crate::flight::AckFacts;
use crate::seq::Seq;

/// Its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SackEnhanced {
    /// RecoveryPoint: SND.MAX at the first new acknowledgment. A repeated timeout before that is
    /// not one in recovery.
    recovery_point: Seq,
}

impl Default for SackEnhanced {
    fn default() -> Self {
        Self { recovery_point: Seq::FIRST }
    }
}

impl SackEnhanced {
    /// Step 1. The RecoveryPoint of a fast recovery is beyond SND.UNA as long as that lasts.
    pub(super) fn enter(&mut self, expiry: &Expiry) -> Entry {
        if expiry.in_fast_recovery || self.recovery_point > expiry.una {
            self.recovery_point = expiry.max;
            return Entry::Conventional;
        }
        Entry::OneSegment
    }

    /// Step 2.
    pub(super) fn first(&mut self, ack: &AckFacts, can_send: CanSend) -> Outcome {
        if !ack.is_new() {
            return Outcome::wait(Step::AwaitingFirst);
        }
        self.recovery_point = ack.max;
        // 2 a: the ACK covers RecoveryPoint
        if ack.ack >= self.recovery_point {
            return Outcome::genuine(2);
        }
        match can_send {
            CanSend::Nothing => Outcome::nothing_new(),
            // 2 b: two new segments
            CanSend::OneByWindow | CanSend::Freely => Outcome::send_two_new(Step2Window::Two),
        }
    }

    /// Conventional recovery goes on in place of step 2 or 3.
    pub(super) const fn abandon(&mut self, ack: &AckFacts) {
        self.recovery_point = ack.max;
    }

    /// Step 3.
    pub(super) fn second(&mut self, ack: &AckFacts) -> Outcome {
        let highest = ack.sacked_end.map_or(ack.ack, |end| end.max(ack.ack));
        let says_something_new = ack.is_new() || ack.newly_sacked > 0;
        // 3 a: data above RecoveryPoint is acknowledged or SACKed, or nothing new is
        if highest > self.recovery_point || !says_something_new {
            return Outcome::genuine(3);
        }
        // 3 b: the timeout was spurious
        self.recovery_point = ack.ack;
        Outcome::spurious(Resumption::Halved)
    }
}
