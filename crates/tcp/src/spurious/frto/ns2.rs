//! ns-2.35: `TcpAgent::recv_frto_helper`, `TcpAgent::newack` and `Sack1TcpAgent::recv`.
//!
//! As RFC 4138, with differences: it gives up where the offered window has no room for a second new
//! segment; a duplicate in step 3 leaves a window of two segments; where SACK is in use a duplicate
//! in step 2 says nothing, and in step 3 it is looked at for what it reports.

use super::advice::{Outcome, Step};
use super::{Advice, CanSend, Entry, Expiry, GoBack, Resumption, Step2Window};
use crate::flight::AckFacts;
use crate::seq::Seq;
use crate::spurious::Verdict;

/// What it remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ns2 {
    /// Behind the highest sequence number sent before the timeout.
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
    /// Not entered in SACK recovery.
    pub(super) const fn enter(&mut self, expiry: &Expiry) -> Entry {
        (self.recover, self.sack) = (expiry.max, expiry.sack);
        if expiry.in_fast_recovery && expiry.sack { Entry::Conventional } else { Entry::OneSegment }
    }

    /// `frto_` is 1.
    pub(super) fn first(&self, ack: &AckFacts, can_send: CanSend) -> Outcome {
        match can_send {
            _ if !ack.is_new() && self.sack => Outcome::wait(Step::AwaitingFirst),
            _ if !ack.is_new() => Outcome::genuine(1),
            CanSend::Nothing | CanSend::OneByWindow => Outcome::nothing_new(),
            CanSend::Freely if ack.ack >= self.recover => Outcome::genuine(2),
            CanSend::Freely => Outcome::send_two_new(Step2Window::Two),
        }
    }

    /// `frto_` is 2.
    pub(super) fn second(&self, ack: &AckFacts) -> Outcome {
        let reports = ack.newly_sacked > 0 && ack.sacked_end <= Some(self.recover);
        if ack.is_new() || (self.sack && reports) {
            return Outcome::spurious(Resumption::TowardsPipe);
        }
        let advice = Advice::GoBackN { cwnd: 2, extent: GoBack::All };
        Outcome { next: Step::Idle, advice, verdict: Verdict::Genuine }
    }
}
