//! The sender's part of pacing and of a congestion control that models the path: it passes
//! acknowledgments, losses and departures to the model, and keeps the window that the model sets.

use rtolab_time::{Duration, Instant};

use super::{SendPermission, Sender};
use crate::ca_state::CaState;
use crate::congestion::{
    CongestionControl, ModelContext, ModelState, Modelled, Pacing, PathModel, RateSampler,
};
use crate::flight::{AckFacts, Cause};
use crate::recovery::LossRecovery;
use crate::segment::Segment;

impl Sender {
    fn pacing(&self) -> Option<&Pacing> {
        self.controller.as_ref()?.pacing.as_deref()
    }

    fn pacing_mut(&mut self) -> Option<&mut Pacing> {
        self.controller.as_mut()?.pacing.as_deref_mut()
    }

    fn modelled(&self) -> Option<&Modelled> {
        self.pacing()?.modelled.as_ref()
    }

    fn modelled_mut(&mut self) -> Option<&mut Modelled> {
        self.pacing_mut()?.modelled.as_mut()
    }

    /// Does a model of the path set the window?
    #[inline]
    pub(super) fn has_model(&self) -> bool {
        self.controller.is_some() && self.modelled().is_some()
    }

    /// The pacing rate in bytes per second, if the sender paces.
    pub fn pacing_rate(&self) -> Option<u64> {
        self.pacing()?.pacer.rate()
    }

    /// What congestion control knows of the path, if it models it, as BBR does.
    pub fn path_model(&self) -> Option<ModelState> {
        self.controller.as_ref()?.state.model_state(self.window.smss())
    }

    /// The handshake is complete: pacing begins, and the model of the path if there is one.
    pub(super) fn start_pacing(&mut self, at: Instant) {
        let Some(controller) = &mut self.controller else { return };
        let (smss, cwnd) = (self.window.smss(), self.window.cwnd());
        let rtt = self.rtt.estimate().map(|estimate| estimate.srtt);
        if let (Some(pacing), Some(_)) = (&mut controller.pacing, controller.state.model()) {
            let rate = RateSampler::new(at, smss, rtt);
            pacing.modelled = Some(Modelled::new(rate, cwnd));
        }
        self.with_model(at, |model, cx| model.init(cx));
        self.follow_window();
    }

    /// Passes the model its context, and takes the window that it sets.
    pub(super) fn with_model(
        &mut self,
        at: Instant,
        run: impl FnOnce(&mut dyn PathModel, &mut ModelContext<'_>),
    ) {
        if !self.has_model() {
            return;
        }
        let (pipe, ca_state) = (self.outstanding(), self.model_ca_state());
        let (initial_window, own) = (self.initial_window(), self.window);
        let srtt = self.rtt.estimate().map(|estimate| estimate.srtt);
        let has_selective_acks = self.config.sack && self.flight.uses_sack();
        let Some(controller) = &mut self.controller else { return };
        let (Some(model), Some(pacing)) = (controller.state.model(), &mut controller.pacing) else {
            return;
        };
        let Pacing { pacer, modelled: Some(modelled) } = &mut **pacing else { return };
        self.window.set_cwnd(modelled.cwnd);
        let mut cx = ModelContext {
            at,
            window: &mut self.window,
            pacer,
            rate: &mut modelled.rate,
            srtt,
            pipe,
            initial_window,
            ca_state,
            is_cwnd_limited: modelled.is_cwnd_limited,
            has_selective_acks,
        };
        run(model, &mut cx);
        modelled.cwnd = self.window.cwnd();
        // Loss recovery without a scoreboard inflates the window for what has left the network.
        if self.recovery.is_in_fast_recovery() && self.pipe().is_none() {
            self.window.set_cwnd(own.cwnd());
        }
    }

    /// The window becomes that of the model again, whatever else has changed it.
    pub(super) fn restore_own_cwnd(&mut self) {
        let inflates = self.recovery.is_in_fast_recovery() && self.pipe().is_none();
        if let Some(cwnd) = self.modelled().map(|modelled| modelled.cwnd).filter(|_| !inflates) {
            self.window.set_cwnd(cwnd);
        }
    }

    /// The state of loss recovery that a model sees: an undo ends that after a timeout.
    fn model_ca_state(&self) -> CaState {
        let lost = self.modelled().and_then(|modelled| modelled.loss_until);
        if self.recovery.is_in_fast_recovery() {
            CaState::Recovery
        } else if lost.is_some_and(|until| self.flight.una() < until) {
            CaState::Loss
        } else {
            CaState::Open
        }
    }

    /// A spurious episode ends loss recovery.
    pub(super) fn model_resumes(&mut self) {
        if let Some(modelled) = self.modelled_mut() {
            modelled.loss_until = None;
        }
    }

    /// Loss recovery begins, or a congestion mark arrives. Neither reduces the window of `cwnd`
    /// bytes; returns it.
    pub(super) fn model_congestion(&mut self, cwnd: u64) -> u64 {
        let own = self.modelled().map_or(cwnd, |modelled| modelled.cwnd);
        if let Some(model) = self.controller.as_mut().and_then(|it| it.state.model()) {
            model.on_congestion(own);
        }
        own
    }

    /// The retransmission timer expired: the window is a segment beyond the data in flight.
    pub(super) fn model_timeout(&mut self, at: Instant) {
        if !self.has_model() {
            return;
        }
        self.note_losses(at);
        let in_flight = match self.loss_recovery.is_time_based() {
            true => self.outstanding(),
            false => 0,
        };
        let (max, cwnd) = (self.flight.max(), in_flight + self.window.smss());
        if let Some(modelled) = self.modelled_mut() {
            (modelled.cwnd, modelled.loss_until) = (cwnd, Some(max));
        }
        self.with_model(at, |model, cx| model.on_timeout(cx));
    }

    /// An acknowledgment arrives, and is not processed yet.
    pub(super) fn begin_rate_sample(&mut self) {
        if !self.has_model() {
            return;
        }
        let mut model = self.controller.as_mut().and_then(|it| it.state.model());
        if model.as_mut().is_some_and(|model| model.checks_application_on_ack()) {
            self.check_app_limited();
        }
        let (pipe, room) = (self.outstanding(), self.window.smss());
        if let Some(modelled) = self.modelled_mut() {
            modelled.rate.begin_ack(pipe);
            modelled.is_cwnd_limited = pipe + room > modelled.cwnd;
        }
    }

    /// Reports the segments that are newly marked lost.
    pub(super) fn note_losses(&mut self, at: Instant) {
        if !self.has_model() {
            return;
        }
        let Some(controller) = &mut self.controller else { return };
        let lost = controller.sampler().map(|rate| rate.note_losses(&self.flight));
        for lost in lost.into_iter().flatten() {
            self.with_model(at, |model, cx| model.on_lost(&lost, cx));
        }
    }

    /// Runs the model for an acknowledgment, after loss recovery has processed it.
    pub(super) fn run_model(&mut self, ack: &AckFacts) {
        self.note_losses(ack.at);
        let twice = self.delivered_twice(ack);
        let echoed = ack.echo.map(|echo| self.instant_of(echo, ack.at));
        let Some(modelled) = self.modelled_mut() else { return };
        let sample = modelled.rate.end_ack(ack, twice, echoed);
        // Nothing was outstanding: it is a window update.
        if ack.max > ack.una_before && !ack.acks_syn() {
            self.with_model(ack.at, |model, cx| model.on_ack(&sample, cx));
        }
    }

    /// The application writes: does it limit the sender (`tcp_rate_check_app_limited`)?
    pub(super) fn check_app_limited(&mut self) {
        if !self.has_model() {
            return;
        }
        let waiting = self.write_seq.since(self.flight.max());
        let (pipe, cwnd) = (self.outstanding(), self.window.cwnd());
        let repaired = self.flight.lost() <= self.flight.retrans_out();
        if waiting < self.window.smss() && pipe < cwnd && repaired {
            if let Some(modelled) = self.modelled_mut() {
                modelled.rate.note_app_limited(pipe);
            }
        }
    }

    /// The pacing rate follows the window, unless a model sets it.
    pub(super) fn follow_window(&mut self) {
        let (cwnd, ssthresh) = (self.window.cwnd(), self.window.ssthresh());
        let srtt = self.rtt.estimate().map(|estimate| estimate.srtt);
        let cwnd = cwnd.max(self.flight.size());
        if let Some(Pacing { pacer, modelled: None }) = self.pacing_mut() {
            pacer.follow_window(cwnd, ssthresh, srtt);
        }
    }

    /// Must the next segment wait for its departure time? The retransmission after a timeout and
    /// RFC 9002's probes do not wait (section 6.2.4: the congestion controller never blocks them).
    #[inline]
    pub(super) fn must_pace(&mut self, at: Instant) -> bool {
        self.controller.is_some()
            && self.retransmit_head != Some(Cause::Timeout)
            && !self.loss_recovery.has_probe()
            && self.waits_for_departure(at)
    }

    #[inline(never)]
    fn waits_for_departure(&mut self, at: Instant) -> bool {
        let room = self.window.cwnd() + self.limited_transmit();
        let free = self.retransmit_head.is_some() || self.permission != SendPermission::Windows;
        let may_send = free || self.outstanding() + self.window.smss() <= room;
        self.pacing_mut().is_some_and(|pacing| pacing.pacer.must_wait(at, may_send))
    }

    /// When the pacing timer expires.
    pub(super) fn pacing_deadline(&self) -> Option<Instant> {
        self.pacing()?.pacer.deadline()
    }

    /// The pacing timer may have expired.
    pub(super) fn on_pacing_timer(&mut self, at: Instant) {
        if let Some(pacing) = self.pacing_mut() {
            pacing.pacer.on_timer(at);
        }
    }

    /// `segment` is about to be sent.
    #[inline(never)]
    pub(super) fn note_paced(&mut self, segment: &Segment, at: Instant) {
        if self.pacing().is_none() || segment.len == 0 {
            return;
        }
        let (pipe, idle, smss) = (self.outstanding(), self.flight.size() == 0, self.window.smss());
        if idle || pipe == 0 {
            self.with_model(at, |model, cx| model.on_restart(cx));
        }
        let srtt = self.srtt();
        let Some(Pacing { pacer, modelled }) = self.pacing_mut() else { return };
        let smallest = match modelled {
            Some(modelled) => {
                modelled.rate.on_sent(segment, at, (pipe, idle));
                modelled.rate.min_rtt()
            }
            None => Some(srtt),
        };
        pacer.on_sent(u64::from(segment.len), at, (smss, smallest.unwrap_or(Duration::ZERO)));
    }
}
