//! The sender's part of congestion control: it passes ACKs, losses and round trips to the
//! algorithm.

use rtolab_time::{Duration, Instant};

use super::Sender;
use super::outcome::DetectionOutcome;
use crate::config::SlowStart;
use crate::congestion::{Acked, CongestionControl, Window};
use crate::flight::AckFacts;
use crate::recovery::LossRecovery;

impl Sender {
    /// Without congestion control cwnd stays unlimited, whatever reduced it, and that of a model
    /// stays as the model set it.
    #[inline]
    pub(super) fn keep_own_cwnd(&mut self) {
        if self.controller.is_some() {
            self.restore_own_cwnd();
        }
        if self.controller.as_ref().is_some_and(|controller| !controller.state.is_limiting()) {
            self.window.set_cwnd(Window::UNLIMITED);
        }
    }

    /// Grows the window for an ACK by `credits` bytes.
    #[inline]
    pub(super) fn grow_window(&mut self, facts: &AckFacts, credits: u64) {
        match self.controller {
            None => self.window.grow(credits),
            Some(_) => self.grow_by_controller(facts, credits),
        }
    }

    /// Does the window grow for the acknowledgment that undid a reduction (Linux:
    /// `tcp_cong_control` runs after `tcp_fastretrans_alert`)?
    pub(super) fn grows_after_undo(&self, outcome: DetectionOutcome) -> bool {
        outcome == DetectionOutcome::Restored
            && self.config.window.slow_start == SlowStart::Delivered
    }

    /// Does the window grow for the acknowledgment that ends fast recovery?
    pub(super) fn grows_after_recovery(&self) -> bool {
        let window = &self.config.window;
        window.grows_when_recovered && window.slow_start == SlowStart::Delivered
    }

    /// The acknowledged or delivered bytes for which the window grows. To be called before loss
    /// recovery resets its count of duplicate acknowledgments: without SACK each stands for a
    /// segment that was delivered earlier.
    #[inline]
    pub(super) fn credits(&self, facts: &AckFacts) -> u64 {
        match self.config.window.slow_start {
            SlowStart::Delivered if self.loss_recovery.delivered_segments().is_some() => {
                let segments = self.loss_recovery.delivered_segments().map_or(0, u64::from);
                segments * self.window.smss() + self.delivered_twice(facts)
            }
            SlowStart::Delivered => {
                let unsacked = facts.max.since(facts.una_before) - facts.sacked_before;
                let delivered = unsacked - (self.flight.size() - self.flight.sacked());
                let before = match self.config.sack {
                    true => 0,
                    false => u64::from(self.recovery.dupacks) * self.window.smss(),
                };
                let once = delivered.saturating_sub(before).max(delivered.min(self.window.smss()));
                once + self.delivered_twice(facts)
            }
            _ => facts.advanced,
        }
    }

    /// The bytes that a D-SACK reports as received twice, if they count as delivered.
    pub(super) fn delivered_twice(&self, facts: &AckFacts) -> u64 {
        let counts = self.config.window.counts_dsacked && self.loss_recovery.is_time_based();
        let range = facts.dsack.filter(|_| counts && !facts.dsack_ignored);
        range.map_or(0, |range| range.end.since(range.start).next_multiple_of(self.window.smss()))
    }

    #[inline(never)]
    fn grow_by_controller(&mut self, facts: &AckFacts, bytes: u64) {
        let acked = self.acked(facts.at, bytes);
        // An acknowledgment that only SACKs leaves the oldest segment outstanding.
        let oldest = facts.oldest_acked.as_ref().or_else(|| self.flight.head());
        let acked = Acked { oldest_sent: oldest.map(|sent| sent.first_sent), ..acked };
        let idle_since = self.last_activity.sent.filter(|_| self.flight.size() == 0);
        if let Some(controller) = &mut self.controller {
            controller.on_ack(&mut self.window, &acked, idle_since);
        }
    }

    /// SRTT, zero before the first sample.
    pub(super) fn srtt(&self) -> Duration {
        self.rtt.estimate().map_or(Duration::ZERO, |estimate| estimate.srtt)
    }

    fn acked(&self, at: Instant, bytes: u64) -> Acked {
        let srtt = self.srtt();
        let (una, max) = (self.flight.una(), self.flight.max());
        Acked { at, bytes, srtt, una, max, oldest_sent: None }
    }

    /// Passes a round-trip sample to congestion control.
    #[inline]
    pub(super) fn note_round_trip(&mut self, rtt: Duration, facts: &AckFacts) {
        self.loss_recovery.on_round_trip(rtt, facts.at, &self.config.recovery);
        if let Some(controller) = &mut self.controller {
            controller.on_rtt(rtt, facts.at, facts.acks_syn());
        }
    }

    /// Passes the arrival of an acknowledgment to HyStart, which may end slow start before the
    /// window grows.
    #[inline]
    pub(super) fn update_hystart(&mut self, at: Instant) {
        if self.controller.is_some() {
            let acked = self.acked(at, 0);
            if let Some(controller) = &mut self.controller {
                controller.on_any_ack(&mut self.window, &acked);
            }
        }
    }

    /// Reduces `ssthresh` for a loss or an ECE flag to the part of `bytes` that congestion control
    /// keeps; returns this part in bytes, not rounded.
    pub(crate) fn on_loss(&mut self, bytes: u64) -> u64 {
        if let Some(ecn) = &mut self.ecn {
            ecn.on_reduction();
        }
        let cwnd = self.deflated_cwnd();
        if self.has_model() {
            return self.model_congestion(cwnd);
        }
        let remainder = match &mut self.controller {
            None => bytes / 2,
            Some(controller) => controller.on_loss(bytes, cwnd, &self.window),
        };
        self.window.reduce_ssthresh(remainder);
        remainder
    }

    /// Saves the state of congestion control before a reduction that may prove spurious.
    pub(crate) fn save_control(&mut self) {
        if let Some(controller) = &mut self.controller {
            controller.state.save();
        }
    }

    /// Restores the state of congestion control after a spurious reduction.
    pub(crate) fn undo_reduction(&mut self, at: Instant) {
        self.with_model(at, |model, cx| model.undo(cx));
        if let Some(controller) = &mut self.controller {
            controller.state.undo();
        }
        if let Some(ecn) = &mut self.ecn {
            ecn.on_undo();
        }
    }

    /// Does congestion control keep the current window although its reduction from `before` bytes
    /// was spurious?
    pub(crate) fn keeps_window(&self, before: u64) -> bool {
        let cwnd = self.recovery.deflated(self.window.cwnd());
        self.controller.as_ref().is_some_and(|control| control.state.keeps_window(before, cwnd))
    }
}
