//! The sender's part of a response: it saves its state before a reduction, passes the response its
//! context, and applies the action.

use alloc::boxed::Box;

use rtolab_time::Duration;

use super::Sender;
use super::outcome::DetectionOutcome;
use super::saved::{RtoAdaptation, Saved, SpuriousDupacks};
use crate::config::{RackRules, RecoverOnUndo};
use crate::flight::AckFacts;
use crate::recovery::LossRecovery;
use crate::reduction::{RateHalving, WindowReduction};
use crate::response::{
    Growth, ReductionOutcome, Response, ResponseAction, ResponseContext, ResponseState, SenderState,
};
use crate::spurious::{DetectorId, Episode, Family, Resumption};

/// A detector's decision that the sender may respond to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detection {
    pub detector: DetectorId,
    /// The episode, as it was before the acknowledgment.
    pub episode: Option<Episode>,
    /// The advice of F-RTO, if F-RTO is the detector.
    pub resumption: Option<Resumption>,
}

impl Detection {
    /// The response of the detector's publication, or of the stacks that implement the detector.
    fn default_response(&self) -> Response {
        match (self.resumption, self.detector.acting()) {
            // `losses_were_under_way` prevents that anything is restored.
            (Some(Resumption::FromOne), _) | (_, None) => Response::Full,
            (_, Some(acting)) => acting.response,
        }
    }

    /// Does the sender run F-RTO before it responds?
    pub fn defers_to_frto(&self) -> bool {
        self.detector.acting().is_some_and(|acting| acting.family == Family::Dsack)
    }

    /// Did the timeout interrupt a loss recovery? F-RTO gives no information about those losses
    /// (RFC 5682 section 6).
    const fn losses_were_under_way(&self, saved: &Saved) -> bool {
        match self.resumption {
            Some(Resumption::FromOne) => true,
            Some(Resumption::Halved) => saved.recovery.is_in_fast_recovery(),
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

    /// The current state, to be saved before a reduction.
    pub(super) fn state_to_save(&self) -> Saved {
        let mut state = self.response_state();
        if self.config.recovery.rack.rules == RackRules::Linux {
            state.ssthresh = state.ssthresh.max(self.ssthresh_by_cwnd());
        }
        Saved {
            state,
            pipe_prev: state.cwnd.max(state.ssthresh),
            recovery: self.recovery,
            loss_recovery: self.loss_recovery.to_save(),
            reduction: self.reduction,
            max: self.flight.max(),
            congestion_echoed: self.has_ece_reduction(),
            response: ResponseState::Pending,
        }
    }

    /// Three quarters of cwnd in whole segments, outside of a recovery: the least ssthresh that
    /// Linux restores (`tcp_current_ssthresh`).
    fn ssthresh_by_cwnd(&self) -> u64 {
        let segments = self.window.cwnd() / self.window.smss();
        match self.recovery.is_in_fast_recovery() {
            true => 0,
            false => (segments / 2 + segments / 4) * self.window.smss(),
        }
    }

    /// Saves the state `before` a timeout or fast retransmit that begins an episode.
    pub(super) fn save(&mut self, before: Saved) {
        match &mut self.saved {
            Some(saved) => **saved = before,
            None => self.saved = Some(Box::new(before)),
        }
    }

    /// Records an ECE flag in the saved state.
    #[cold]
    pub(super) fn note_ece(&mut self) {
        if let Some(saved) = &mut self.saved {
            saved.congestion_echoed = true;
        }
    }

    /// The context of a response; `None` before the first timeout or fast retransmit.
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
            cwnd_has_regrown: self.keeps_window(saved.state.cwnd),
            was_recovering: saved.recovery.is_in_fast_recovery(),
            losses_under_way: detection.losses_were_under_way(saved),
        })
    }

    /// Responds to a spurious timeout or fast retransmit.
    pub(super) fn respond(&mut self, detection: &Detection, facts: &AckFacts) -> DetectionOutcome {
        let Some(context) = self.response_context(detection, facts) else {
            return DetectionOutcome::None;
        };
        let Some(action) = self.choose_action(detection, &context) else {
            return DetectionOutcome::None;
        };
        self.resume(detection);
        if context.is_of_fast_retransmit() && !self.loss_recovery.is_time_based() {
            self.flight.clear_losses();
        }
        self.apply(&action, facts);
        if context.is_of_fast_retransmit() {
            self.recovery.raise_dupthresh(self.config.recovery.dupthresh_increment);
        }
        match action.growth {
            Growth::None => DetectionOutcome::Restored,
            Growth::Normal => DetectionOutcome::Resumed,
        }
    }

    /// The action of the response, unless it has acted in this episode. If a response kept the
    /// reduction, that of another detector may still reverse it.
    fn choose_action(
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

    /// Calls a user-defined response after a genuine timeout or fast retransmit.
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
            self.rto_adaptation = Some(Box::new(RtoAdaptation { before, from: saved.max }));
        }
        if action.restarts_validation {
            self.restart_validation(facts.at);
        }
        if action.restores_recovery {
            self.restore_recovery(facts);
        }
        match action.reduction {
            ReductionOutcome::Stands => {}
            ReductionOutcome::Undone => self.undo_reduction(facts.at),
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
        // A recovery that this acknowledgment completes is not restored.
        if facts.ack >= recovery.recover {
            self.recovery.recover = recovery.recover;
            self.window.set_cwnd(recovery.deflated(self.window.cwnd()));
        } else {
            self.recovery = recovery;
            if let Some(loss_recovery) = loss_recovery {
                self.loss_recovery = loss_recovery;
            }
            if recovery.is_in_fast_recovery() {
                self.reduction.resume(reduction);
            }
        }
    }

    /// Ends go-back-N and loss recovery after a spurious episode. Another timeout of the same
    /// segment is not a repeated one: it reduces the window and can be undone (`tcp_try_undo_loss`
    /// of Linux 6.1, which resets `icsk_retransmits` and returns to `TCP_CA_Open`).
    fn resume(&mut self, detection: &Detection) {
        self.stop_frto();
        self.model_resumes();
        self.timed_out_at = None;
        self.nxt = self.flight.max();
        let by_frto = detection.resumption.is_some();
        let keeps = self.loss_recovery.keeps_state_on_undo(&self.recovery, &self.flight, by_frto);
        if !keeps {
            self.recovery.leave();
            self.reduction.end_prr();
        }
        self.forget_frto(self.flight.una());
        self.loss_recovery.forget_losses(&mut self.timers, &mut self.flight);
        let before = self.flight.una() - 1;
        match self.config.recover_on_undo {
            _ if keeps || self.loss_recovery.is_in_loss() => {}
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
