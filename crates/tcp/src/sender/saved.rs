//! The state that the sender saves for the response to an episode.

use crate::estimate::Estimate;
use crate::flight::AckFacts;
use crate::recovery::{AnyRecovery, Recovery};
use crate::reduction::WindowReduction;
use crate::response::{ResponseState, SenderState};
use crate::seq::Seq;

/// The state before a timeout or fast retransmit, and the state of the response.
#[derive(Clone, Debug)]
pub(super) struct Saved {
    pub state: SenderState,
    /// The larger of `cwnd` and `ssthresh` at the last timeout, repeated or not.
    pub pipe_prev: u64,
    pub recovery: Recovery,
    /// The loss recovery, if an undo restores it.
    pub loss_recovery: Option<AnyRecovery>,
    pub reduction: WindowReduction,
    /// SND.MAX.
    pub max: Seq,
    /// Has an ECE flag arrived since?
    pub congestion_echoed: bool,
    pub response: ResponseState,
}

/// The pending step 11 of RFC 4015 section 3.2: the first round trip of data sent after a spurious
/// timeout must not lower the estimate below that before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RtoAdaptation {
    pub before: Estimate,
    /// SND.MAX at the timeout: data from here on was first sent after it.
    pub from: Seq,
}

/// The expected duplicate acknowledgments that answer spurious retransmissions.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpuriousDupacks {
    /// The number still expected.
    pub pending: u32,
    /// Once more than this is acknowledged, none is expected any more.
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

    /// Returns whether the acknowledgment is one of them, and then expects one fewer. An ACK that
    /// SACKs new data answers another segment and is none.
    pub fn consume(&mut self, facts: &AckFacts) -> bool {
        if facts.ack > self.until {
            self.pending = 0;
        }
        let consumed = self.pending > 0 && facts.duplicate && facts.newly_sacked == 0;
        self.pending -= u32::from(consumed);
        consumed
    }
}
