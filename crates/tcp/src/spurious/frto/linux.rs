//! Linux 6.1: `tcp_enter_loss` and `tcp_process_loss` of `net/ipv4/tcp_input.c`.
//!
//! Linux keeps the mark of a retransmitted segment. So the first ACK or SACK of a segment that was
//! sent before the timeout and never retransmitted proves the timeout spurious, even before any new
//! segment was sent. The response undoes the timeout.

use super::advice::{FrtoState, Outcome};
use super::{Advice, CanSend, Entry, Expiry, Resumption, Step2Window};
use crate::flight::AckFacts;
use crate::seq::Seq;
use crate::spurious::{Reason, Verdict};

/// The state of F-RTO in Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Linux {
    /// `high_seq`: SND.MAX at the last timeout.
    high_seq: Seq,
    /// SND.UNA at the last timeout. Another timeout there is a repeated one.
    timed_out_at: Option<Seq>,
    /// Is SACK in use? Without it, an ACK of both an original and a retransmission proves nothing.
    sack: bool,
}

impl Default for Linux {
    fn default() -> Self {
        Self { high_seq: Seq::FIRST, timed_out_at: None, sack: false }
    }
}

impl Linux {
    /// Enters F-RTO if no recovery is under way or the timeout is a repeated one
    /// (`tcp_enter_loss`).
    pub(super) fn enter(&mut self, expiry: &Expiry) -> Entry {
        let repeated = self.timed_out_at.replace(expiry.una) == Some(expiry.una);
        let recovering = expiry.in_fast_recovery || self.high_seq > expiry.una;
        (self.high_seq, self.sack) = (expiry.max, expiry.sack);
        if recovering && !repeated { Entry::Conventional } else { Entry::OneSegment }
    }

    /// Step 2, before new segments were sent.
    pub(super) fn first(&mut self, ack: &AckFacts, can_send: CanSend) -> Outcome {
        if self.original_arrived(ack) {
            return self.undone(ack);
        }
        if !ack.is_new() {
            return Outcome::wait(FrtoState::AwaitingFirst);
        }
        if ack.ack >= self.high_seq {
            return Self::given_up(Verdict::Genuine);
        }
        match can_send {
            CanSend::Nothing => Self::given_up(Verdict::Inconclusive(Reason::NothingNewToSend)),
            // Step 2 b: cwnd has grown to two segments.
            CanSend::OneByWindow | CanSend::Freely => Outcome::send_two_new(Step2Window::Two),
        }
    }

    /// Step 3, after new segments were sent.
    pub(super) fn second(&mut self, ack: &AckFacts) -> Outcome {
        if self.original_arrived(ack) {
            return self.undone(ack);
        }
        // Step 3 a: the new segments arrived, those before them did not. A D-SACK is not a
        // duplicate ACK (`FLAG_DSACKING_ACK`).
        let duplicate = ack.duplicate && ack.dsack.is_none();
        if duplicate || ack.newly_sacked > 0 || ack.ack >= self.high_seq {
            return Self::given_up(Verdict::Genuine);
        }
        // The retransmission was acknowledged in part: an original may still be acknowledged.
        Outcome {
            next: FrtoState::AwaitingOriginal,
            advice: Advice::Continue,
            verdict: Verdict::Open,
        }
    }

    /// Is an original acknowledged (`FLAG_ORIG_SACK_ACKED`)?
    fn original_arrived(&self, ack: &AckFacts) -> bool {
        ack.original.is_some_and(|end| end <= self.high_seq)
            && (self.sack || !ack.acks_retransmission)
    }

    /// The recovery is over. The next timeout is not a repeated one (`tcp_try_undo_loss` clears
    /// `icsk_retransmits`).
    pub(super) const fn on_undo(&mut self, una: Seq) {
        (self.high_seq, self.timed_out_at) = (una, None);
    }

    const fn undone(&mut self, ack: &AckFacts) -> Outcome {
        self.on_undo(ack.ack);
        Outcome::spurious(Resumption::Undone)
    }

    /// Conventional recovery continues with the current window.
    const fn given_up(verdict: Verdict) -> Outcome {
        Outcome { next: FrtoState::Idle, advice: Advice::Continue, verdict }
    }
}
