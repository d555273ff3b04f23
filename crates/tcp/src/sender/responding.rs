//! The sender's part of a response: what is saved before a reduction, what the response sees, and
//! what its action changes.

use alloc::boxed::Box;

use rtolab_time::Duration;

use super::Sender;
use super::saved::{Adapting, Saved, SpuriousDupacks};
use super::settled::Settled;
use crate::config::RecoverOnUndo;
use crate::flight::AckFacts;
use crate::recovery::LossRecovery;
use crate::reduction::{RateHalving, WindowReduction};
use crate::response::{
    Growth, ReductionOutcome, Response, ResponseAction, ResponseContext, ResponseState, SenderState,
};
use crate::spurious::{DetectorId, Episode, Family, Resumption};

/// A verdict that the sender may respond to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detection {
    pub detector: DetectorId,
    /// The episode that it is about, as it was before the acknowledgment.
    pub episode: Option<Episode>,
    /// What F-RTO advises, where it is the detector.
    pub resumption: Option<Resumption>,
}

impl Detection {
    /// The response of the detector's own publication, or of the stacks that have it.
    fn default_response(&self) -> Response {
        match (self.resumption, self.detector.acting()) {
            // Nothing is restored: see `losses_were_under_way`.
            (Some(Resumption::FromOne), _) | (_, None) => Response::Full,
            (_, Some(acting)) => acting.response,
        }
    }

    /// Is F-RTO asked before the sender responds?
    pub fn waits_for_frto(&self) -> bool {
        self.detector.acting().is_some_and(|acting| acting.family == Family::Dsack)
    }

    /// RFC 5682 section 6: F-RTO says nothing of the losses that the timeout interrupted.
    const fn losses_were_under_way(&self, saved: &Saved) -> bool {
        match self.resumption {
            Some(Resumption::FromOne) => true,
            Some(Resumption::Halved) => saved.recovery.is_fast(),
            Some(Resumption::TowardsPipe | Resumption::Undone | Resumption::Restored) | None => {
                false
            }
        }
    }
}

impl Sender {
    fn response_state(&self) -> SenderState {
        SenderState {
            cwnd: self.window.cwnd(),
            ssthresh: self.window.ssthresh(),
            flight: self.flight.size(),
            estimate: self.rtt.estimate(),
        }
    }

    /// The state now, to be saved before a reduction.
    pub(super) fn state_to_save(&self) -> Saved {
        let state = self.response_state();
        Saved {
            state,
            pipe_prev: state.cwnd.max(state.ssthresh),
            recovery: self.recovery,
            loss_recovery: self.loss_recovery.to_save(),
            reduction: self.reduction,
            max: self.flight.max(),
            congestion_echoed: self.is_answering_echo(),
            response: ResponseState::Pending,
        }
    }

    /// A timeout or fast retransmit begins an episode.
    pub(super) fn save(&mut self, before: Saved) {
        match &mut self.saved {
            Some(saved) => **saved = before,
            None => self.saved = Some(Box::new(before)),
        }
    }

    /// The peer echoes congestion.
    #[cold]
    pub(super) fn note_congestion_echo(&mut self) {
        if let Some(saved) = &mut self.saved {
            saved.congestion_echoed = true;
        }
    }

    /// `None` before the first timeout or fast retransmit.
    fn response_context(&self, detection: &Detection, facts: &AckFacts) -> Option<ResponseContext> {
        let saved = self.saved.as_deref()?;
        Some(ResponseContext {
            at: facts.at,
            detector: detection.detector,
            episode: detection.episode,
            now: self.response_state(),
            before: saved.state,
            pipe_prev: saved.pipe_prev,
            flight_before_ack: facts.max.since(facts.una_before),
            acked: facts.advanced,
            smss: self.window.smss(),
            initial_window: self.initial_window(),
            granularity: self.config.rto.granularity,
            congestion_echoed: saved.congestion_echoed,
            outgrown: self.keeps_window(saved.state.cwnd),
            was_recovering: saved.recovery.is_fast(),
            losses_under_way: detection.losses_were_under_way(saved),
        })
    }

    /// A timeout or fast retransmit was spurious.
    pub(super) fn respond(&mut self, detection: &Detection, facts: &AckFacts) -> Settled {
        let Some(context) = self.response_context(detection, facts) else { return Settled::No };
        let Some(action) = self.ask_response(detection, &context) else { return Settled::No };
        self.resume(detection);
        if context.is_of_fast_retransmit() {
            self.flight.clear_losses();
        }
        self.apply(&action, facts);
        if context.is_of_fast_retransmit() {
            self.recovery.raise_dupthresh(self.config.recovery.dupthresh_increment);
        }
        match action.growth {
            Growth::Withheld => Settled::Restored,
            Growth::Usual => Settled::Resumed,
        }
    }

    /// The action of the response, if it has not acted in this episode. A reduction that stood may
    /// still be reversed by another detector's response.
    fn ask_response(
        &mut self,
        detection: &Detection,
        context: &ResponseContext,
    ) -> Option<ResponseAction> {
        use ResponseState::{Pending, Reduced, Restored};
        let saved = self.saved.as_deref_mut()?;
        if let Some(responder) = &mut self.responder {
            if saved.response != Pending {
                return None;
            }
            let action = responder.on_spurious(context)?;
            saved.response = Restored;
            return Some(action);
        }
        let response = self.config.response.unwrap_or_else(|| detection.default_response());
        let response = response.kind();
        match (saved.response, response.state) {
            (Restored, _) | (Reduced, Reduced) => None,
            (_, state) => {
                saved.response = state;
                (response.respond)(context)
            }
        }
    }

    /// A timeout or fast retransmit was genuine, and the response is user-defined.
    pub(super) fn respond_to_genuine(&mut self, detection: &Detection, facts: &AckFacts) {
        let Some(context) = self.response_context(detection, facts) else { return };
        let Some(responder) = &mut self.responder else { return };
        if let Some(action) = responder.on_genuine(&context) {
            self.apply(&action, facts);
        }
    }

    fn apply(&mut self, action: &ResponseAction, facts: &AckFacts) {
        let smss = self.window.smss();
        if let Some(cwnd) = action.cwnd {
            self.window.set_cwnd(cwnd);
        }
        if let Some(ssthresh) = action.ssthresh {
            self.window.set_ssthresh(ssthresh);
        }
        if action.moderates_cwnd {
            let burst = u64::from(self.config.recovery.dupthresh) * smss;
            self.window.limit_cwnd(self.outstanding() + burst);
        }
        if let Some(estimate) = action.estimate {
            self.rtt.adapt(estimate, Duration::ZERO);
        }
        if let (Some(before), Some(saved)) = (action.adapt_from, &self.saved) {
            self.adapting = Some(Box::new(Adapting { before, from: saved.max }));
        }
        if action.restarts_validation {
            self.restart_validation(facts.at);
        }
        if action.restores_recovery {
            self.restore_recovery(facts);
        }
        match action.reduction {
            ReductionOutcome::Stands => {}
            ReductionOutcome::Undone => self.undo_reduction(),
            ReductionOutcome::RateHalving => {
                let halving = RateHalving::cwr(self.flight.max());
                self.reduction = WindowReduction::RateHalving(halving);
            }
            ReductionOutcome::SlowStart => self.window.set_segments(1),
        }
    }

    fn restore_recovery(&mut self, facts: &AckFacts) {
        let Some(Saved { recovery, loss_recovery, reduction, .. }) = self.saved.as_deref().cloned()
        else {
            return;
        };
        // A recovery that this acknowledgment completes does not go on.
        if facts.ack >= recovery.recover {
            self.recovery.recover = recovery.recover;
            self.window.set_cwnd(recovery.deflated(self.window.cwnd()));
        } else {
            self.recovery = recovery;
            if let Some(loss_recovery) = loss_recovery {
                self.loss_recovery = loss_recovery;
            }
            if recovery.is_fast() {
                self.reduction.resume(reduction);
            }
        }
    }

    /// Go-back-N ends, and duplicate acknowledgments count again. Another timeout of the same
    /// segment does not repeat this one: it reduces the window as any, and may be undone as any
    /// (`tcp_try_undo_loss` of Linux 6.1, which resets `icsk_retransmits` and returns to
    /// `TCP_CA_Open`).
    fn resume(&mut self, detection: &Detection) {
        self.stop_frto();
        self.timed_out_at = None;
        self.nxt = self.flight.max();
        self.recovery.leave();
        self.reduction.end_prr();
        self.loss_recovery.forget_losses(&mut self.timers, &mut self.flight);
        let before = self.flight.una() - 1;
        match self.config.recover_on_undo {
            RecoverOnUndo::Keep => {}
            RecoverOnUndo::Reset => self.recovery.recover = before,
            RecoverOnUndo::Discount => {
                self.recovery.recover = before;
                let pending = detection.episode.map_or(0, |episode| episode.retransmissions);
                self.spurious_dupacks = SpuriousDupacks { pending, until: self.flight.max() };
            }
        }
    }
}
