//! The state machine that all variants of F-RTO share: the timeout and the two acknowledgments
//! after it. A sender uses it and follows its advice; [`PassiveFrto`](super::PassiveFrto) only
//! observes.

use super::advice::{Advice, CanSend, Entry, Expiry, Fallback, FrtoState, FrtoVariant, Outcome};
use super::eifel::EifelForward;
use super::linux::Linux;
use super::ns2::Ns2;
use super::report::Report;
use super::rfc5682::Basic;
use super::sack::SackEnhanced;
use crate::flight::AckFacts;
use crate::seq::Seq;
use crate::spurious::{Reason, Verdict};

/// The F-RTO state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frto {
    pub(super) step: FrtoState,
    variant: VariantState,
    /// The segment sent in step 2 b in place of new ones, if any.
    fallback_sent: Option<Fallback>,
    /// The segment that a tail loss probe retransmitted before the timeout.
    probed: Option<Seq>,
}

/// The variant, with its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VariantState {
    Report(Report),
    Basic(Basic),
    SackEnhanced(SackEnhanced),
    Linux(Linux),
    Ns2(Ns2),
    Eifel(EifelForward),
}

impl Frto {
    /// F-RTO before the first timeout.
    pub fn new(variant: FrtoVariant) -> Self {
        let variant = match variant {
            FrtoVariant::Report => VariantState::Report(Report),
            FrtoVariant::Rfc4138 => VariantState::Basic(Basic::rfc4138()),
            FrtoVariant::Rfc5682 => VariantState::Basic(Basic::rfc5682()),
            FrtoVariant::Rfc5682Sack => VariantState::SackEnhanced(SackEnhanced::default()),
            FrtoVariant::Linux => VariantState::Linux(Linux::default()),
            FrtoVariant::Ns2 => VariantState::Ns2(Ns2::default()),
            FrtoVariant::Eifel => VariantState::Eifel(EifelForward::default()),
        };
        Self { step: FrtoState::Idle, variant, fallback_sent: None, probed: None }
    }

    /// Is there no undecided timeout?
    pub fn is_idle(&self) -> bool {
        self.step == FrtoState::Idle
    }

    /// Is the first acknowledgment after a timeout awaited?
    pub(crate) fn is_awaiting_first_ack(&self) -> bool {
        self.step == FrtoState::AwaitingFirst
    }

    /// Stops F-RTO, because the sender has responded to another detector.
    pub(crate) const fn stop(&mut self) {
        self.step = FrtoState::Idle;
    }

    /// The last timeout is undone, with SND.UNA at `una`: no recovery is under way.
    pub(crate) const fn on_undo(&mut self, una: Seq) {
        if let VariantState::Linux(linux) = &mut self.variant {
            linux.on_undo(una);
        }
    }

    /// Step 1: the timer expired, and the first segment is retransmitted. A timeout during step 2
    /// or 3 restarts F-RTO.
    pub fn on_timeout(&mut self, expiry: &Expiry) -> Entry {
        let entry = match &mut self.variant {
            VariantState::Report(_) => Report::enter(),
            VariantState::Basic(basic) => basic.enter(expiry),
            VariantState::SackEnhanced(sack) => sack.enter(expiry),
            VariantState::Linux(linux) => linux.enter(expiry),
            VariantState::Ns2(ns2) => ns2.enter(expiry),
            VariantState::Eifel(eifel) => eifel.enter(expiry),
        };
        (self.fallback_sent, self.probed) = (None, expiry.probed);
        self.step = match entry {
            Entry::KeepsWindow | Entry::OneSegment => FrtoState::AwaitingFirst,
            Entry::Conventional => FrtoState::NotEntered,
        };
        entry
    }

    /// Steps 2 and 3. If no new data can be sent in step 2 b, the `fallback` is sent.
    pub fn on_ack(
        &mut self,
        ack: &AckFacts,
        can_send: CanSend,
        fallback: Option<Fallback>,
    ) -> (Advice, Verdict) {
        let outcome = match self.step {
            FrtoState::Idle => return (Advice::Continue, Verdict::Open),
            FrtoState::NotEntered => {
                let verdict = Verdict::Inconclusive(Reason::AlreadyRecovering);
                Outcome { next: FrtoState::Idle, advice: Advice::Continue, verdict }
            }
            // The ACK is neither new nor a duplicate, such as a window update.
            FrtoState::AwaitingFirst | FrtoState::AwaitingSecond if !self.reports_arrival(ack) => {
                return (Advice::Hold, Verdict::Open);
            }
            FrtoState::AwaitingFirst => match (can_send, fallback) {
                (CanSend::Nothing, Some(fallback)) => self.on_first_with_fallback(ack, fallback),
                _ => self.on_first(ack, can_send),
            },
            FrtoState::AwaitingSecond if self.may_cover_retransmission(ack) => {
                Outcome::fallback_inconclusive()
            }
            FrtoState::AwaitingSecond | FrtoState::AwaitingOriginal => self.on_second(ack),
        };
        self.step = outcome.next;
        (outcome.advice, outcome.verdict)
    }

    /// Abandons F-RTO, because the observed sender recovers without it.
    pub(super) fn abandon(&mut self, ack: &AckFacts) {
        self.step = FrtoState::Idle;
        match &mut self.variant {
            VariantState::Basic(basic) => basic.abandon(ack),
            VariantState::SackEnhanced(sack) => sack.abandon(ack),
            VariantState::Report(_)
            | VariantState::Linux(_)
            | VariantState::Ns2(_)
            | VariantState::Eifel(_) => {}
        }
    }

    /// Does the acknowledgment report the arrival of a segment?
    pub(super) fn reports_arrival(&self, ack: &AckFacts) -> bool {
        let reads_sack = !matches!(self.variant, VariantState::Report(_) | VariantState::Basic(_));
        ack.is_new() || ack.duplicate || (reads_sack && ack.newly_sacked > 0)
    }

    /// Step 2 with a fallback in place of new segments.
    fn on_first_with_fallback(&mut self, ack: &AckFacts, fallback: Fallback) -> Outcome {
        let outcome = self.on_first(ack, CanSend::Freely);
        let Advice::SendTwoNew(window) = outcome.advice else { return outcome };
        self.fallback_sent = Some(fallback);
        Outcome { advice: Advice::SendFallback(fallback, window), ..outcome }
    }

    /// May the acknowledgment answer a segment that step 2 b or a tail loss probe retransmitted?
    /// Then it is no evidence of an original. Linux does not need this test, because it knows which
    /// segments were sent once.
    fn may_cover_retransmission(&self, ack: &AckFacts) -> bool {
        let reaches = |tail| ack.ack > tail || ack.sacked_end.is_some_and(|end| end > tail);
        match (self.fallback_sent, self.variant) {
            (_, VariantState::Linux(_)) => false,
            (Some(Fallback::Tail(tail)), _) => reaches(tail),
            _ => ack.original.is_none() && self.probed.is_some_and(reaches),
        }
    }

    fn on_first(&mut self, ack: &AckFacts, can_send: CanSend) -> Outcome {
        match &mut self.variant {
            VariantState::Report(_) => Report::first(ack, can_send),
            VariantState::Basic(basic) => basic.first(ack, can_send),
            VariantState::SackEnhanced(sack) => sack.first(ack, can_send),
            VariantState::Linux(linux) => linux.first(ack, can_send),
            VariantState::Ns2(ns2) => ns2.first(ack, can_send),
            VariantState::Eifel(eifel) => eifel.first(ack, can_send),
        }
    }

    fn on_second(&mut self, ack: &AckFacts) -> Outcome {
        match &mut self.variant {
            VariantState::Report(_) => Report::second(ack),
            VariantState::Basic(basic) => basic.second(ack),
            VariantState::SackEnhanced(sack) => sack.second(ack),
            VariantState::Linux(linux) => linux.second(ack),
            VariantState::Ns2(ns2) => ns2.second(ack),
            VariantState::Eifel(_) => EifelForward::second(ack),
        }
    }
}
