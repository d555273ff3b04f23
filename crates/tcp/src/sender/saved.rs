//! What the sender keeps of an episode, for the response to it.

use crate::estimate::Estimate;
use crate::flight::AckFacts;
use crate::recovery::{AnyRecovery, Recovery};
use crate::reduction::WindowReduction;
use crate::response::{ResponseState, SenderState};
use crate::seq::Seq;

/// The state before a timeout or fast retransmit changed it, and the response to it so far.
#[derive(Clone, Debug)]
pub(super) struct Saved {
    pub state: SenderState,
    /// The larger of `cwnd` and `ssthresh` at the last timeout, also where that repeats one.
    pub pipe_prev: u64,
    pub recovery: Recovery,
    /// The loss recovery, as far as an undo restores it.
    pub loss_recovery: Option<AnyRecovery>,
    pub reduction: WindowReduction,
    /// SND.MAX.
    pub max: Seq,
    /// Has the peer echoed congestion since?
    pub congestion_echoed: bool,
    pub response: ResponseState,
}

/// The estimate before a spurious timeout, which the first round trip of new data must not lower
/// (RFC 4015 section 3.2 step 11).
#[derive(Clone, Copy, Debug)]
pub(super) struct Adapting {
    pub before: Estimate,
    /// Data from here on were first sent after the timeout.
    pub from: Seq,
}

/// Duplicate acknowledgments still to come that spurious retransmissions cause.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpuriousDupacks {
    pub pending: u32,
    /// Once more than this is acknowledged, all retransmissions have been answered.
    pub until: Seq,
}

impl Default for SpuriousDupacks {
    fn default() -> Self {
        Self { pending: 0, until: Seq::FIRST }
    }
}

impl SpuriousDupacks {
    pub const fn are_pending(&self) -> bool {
        self.pending > 0
    }

    /// Is this one of them, so that it does not count? An acknowledgment that SACKs new data was
    /// caused by another segment.
    pub fn takes(&mut self, facts: &AckFacts) -> bool {
        if facts.ack > self.until {
            self.pending = 0;
        }
        let taken = self.pending > 0 && facts.duplicate && facts.newly_sacked == 0;
        self.pending -= u32::from(taken);
        taken
    }
}
