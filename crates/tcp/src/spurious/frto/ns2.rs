//! ns-2.35: `TcpAgent::recv_frto_helper`, `TcpAgent::newack` and `Sack1TcpAgent::recv`.
//!
//! As RFC 4138, with these differences. F-RTO ends if the advertised window has no room for a
//! second new segment. After a duplicate in step 3 cwnd is two segments. With SACK, a duplicate in
//! step 2 is ignored, and in step 3 its SACK blocks decide.

use super::advice::{FrtoState, Outcome};
use super::{Advice, CanSend, Entry, Expiry, GoBack, Resumption, Step2Window};
use crate::flight::AckFacts;
use crate::seq::Seq;
use crate::spurious::Verdict;

/// The state of F-RTO in ns-2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ns2 {
    /// The sequence number after the highest one sent before the timeout.
    recover: Seq,
    /// Is SACK in use?
    sack: bool,
}

impl Default for Ns2 {
    fn default() -> Self {
        Self { recover: Seq::FIRST, sack: false }
    }
}

impl Ns2 {
    /// Step 1. F-RTO is not entered in SACK recovery.
    pub(super) const fn enter(&mut self, expiry: &Expiry) -> Entry {
        (self.recover, self.sack) = (expiry.max, expiry.sack);
        if expiry.in_fast_recovery && expiry.sack { Entry::Conventional } else { Entry::OneSegment }
    }

    /// Step 2: `frto_` is 1.
    pub(super) fn first(&self, ack: &AckFacts, can_send: CanSend) -> Outcome {
        match can_send {
            _ if !ack.is_new() && self.sack => Outcome::wait(FrtoState::AwaitingFirst),
            _ if !ack.is_new() => Outcome::genuine(1),
            CanSend::Nothing | CanSend::OneByWindow => Outcome::nothing_new(),
            CanSend::Freely if ack.ack >= self.recover => Outcome::genuine(2),
            CanSend::Freely => Outcome::send_two_new(Step2Window::Two),
        }
    }

    /// Step 3: `frto_` is 2.
    pub(super) fn second(&self, ack: &AckFacts) -> Outcome {
        let reports = ack.newly_sacked > 0 && ack.sacked_end <= Some(self.recover);
        if ack.is_new() || (self.sack && reports) {
            return Outcome::spurious(Resumption::TowardsPipe);
        }
        let advice = Advice::GoBackN { cwnd: 2, extent: GoBack::All };
        Outcome { next: FrtoState::Idle, advice, verdict: Verdict::Genuine }
    }
}
