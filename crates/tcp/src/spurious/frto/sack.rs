//! The SACK-enhanced algorithm of RFC 5682 section 3.1.
//!
//! A duplicate ACK before the first new one does not end F-RTO, because SACK shows which segment
//! caused it. In step 3, a SACK block for a segment sent before the timeout counts like an
//! acknowledgment.

use super::advice::{FrtoState, Outcome};
use super::{CanSend, Entry, Expiry, Resumption, Step2Window};
use crate::flight::AckFacts;
use crate::seq::Seq;

/// The state of the SACK-enhanced algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SackEnhanced {
    /// RecoveryPoint: SND.MAX at the first new acknowledgment. A repeated timeout before that does
    /// not count as one in recovery.
    recovery_point: Seq,
}

impl Default for SackEnhanced {
    fn default() -> Self {
        Self { recovery_point: Seq::FIRST }
    }
}

impl SackEnhanced {
    /// Step 1. F-RTO is not entered in fast recovery, whose RecoveryPoint is above SND.UNA, nor in
    /// the recovery from an earlier timeout.
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
            return Outcome::wait(FrtoState::AwaitingFirst);
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

    /// The sender continues with conventional recovery in place of step 2 or 3.
    pub(super) const fn abandon(&mut self, ack: &AckFacts) {
        self.recovery_point = ack.max;
    }

    /// Step 3.
    pub(super) fn second(&mut self, ack: &AckFacts) -> Outcome {
        let highest = ack.sacked_end.map_or(ack.ack, |end| end.max(ack.ack));
        let reports_new_data = ack.is_new() || ack.newly_sacked > 0;
        // 3 a: data above RecoveryPoint is acknowledged or SACKed, or no new data is
        if highest > self.recovery_point || !reports_new_data {
            return Outcome::genuine(3);
        }
        // 3 b: the timeout was spurious
        self.recovery_point = ack.ack;
        Outcome::spurious(Resumption::Halved)
    }
}
