//! Explicit congestion notification (RFC 3168 section 6.1): the network marks segments instead of
//! dropping them, the peer echoes the marks, and the window is cut as for a loss.

use alloc::boxed::Box;

use super::Sender;
use crate::config::{PrrBound, Reduction};
use crate::flight::AckFacts;
use crate::segment::{Codepoint, Flags, Segment};
use crate::seq::Seq;

/// The sending half of a connection both ends of which use ECN.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ecn {
    /// SND.MAX when an echo last cut the window: once more than this is acknowledged, the next may.
    answered: Option<Seq>,
    /// The window was cut, and the peer is still to be told.
    owes_cwr: bool,
}

impl Sender {
    /// Both ends use ECN.
    pub(crate) fn use_ecn(&mut self) {
        self.ecn.get_or_insert_with(|| Box::new(Ecn::default()));
    }

    /// A new `segment` is about to leave: its data are ECN-capable, and the first tell of a cut
    /// (sections 6.1.2 and 6.1.5). What is sent again, and what carries no data, is not.
    pub(crate) fn note_ecn(&mut self, segment: &mut Segment) {
        let Some(ecn) = &mut self.ecn else { return };
        if segment.len > 0 {
            segment.set_codepoint(Codepoint::Ect0);
            if core::mem::take(&mut ecn.owes_cwr) {
                segment.flags |= Flags::CWR;
            }
        }
    }

    /// The window was cut, for whatever reason: the peer need not echo any longer.
    pub(super) fn owe_cwr(&mut self) {
        if let Some(ecn) = &mut self.ecn {
            ecn.owes_cwr = true;
        }
    }

    /// The cut is undone.
    pub(crate) fn withdraw_cwr(&mut self) {
        if let Some(ecn) = &mut self.ecn {
            ecn.owes_cwr = false;
        }
    }

    /// Does the peer echo a mark? In its SYN the flag means something else.
    #[inline]
    pub(super) fn takes_echo(&self, segment: &Segment) -> bool {
        let flags = segment.flags;
        flags.has(Flags::ECE) && !flags.has(Flags::SYN) && self.ecn.is_some()
    }

    /// Has an echo cut the window, and what was outstanding then is not all acknowledged, nor
    /// anything beyond it? Then it is not cut again, and no cut is undone.
    pub(crate) fn is_answering_echo(&self) -> bool {
        let answered = self.ecn.as_ref().and_then(|ecn| ecn.answered);
        answered.is_some_and(|answered| self.flight.una() <= answered)
    }

    /// The peer echoes a mark. Once a window, and where no loss has done so, the window is cut
    /// (section 6.1.2).
    pub(super) fn answer_echo(&mut self, facts: &AckFacts) {
        let recovering = self.recovery.is_fast() || facts.ack <= self.recovery.recover;
        if self.is_answering_echo() || recovering {
            return;
        }
        let before = facts.max.since(facts.una_before);
        let cwnd = self.window.cwnd;
        let part = self.halve(before);
        if let Some(ecn) = &mut self.ecn {
            ecn.answered = Some(self.flight.max());
        }
        match self.config.recovery.reduction {
            Reduction::RateHalving => self.begin_window_reduction(before),
            Reduction::Prr(PrrBound::Linux) if self.rack.is_some() => {
                self.begin_prr_for_echo(facts, cwnd);
            }
            Reduction::AtOnce | Reduction::Prr(_) => {
                let least = part.max(self.window.smss).min(self.window.ssthresh);
                self.window.cwnd = self.window.cwnd.min(least);
            }
        }
    }
}
