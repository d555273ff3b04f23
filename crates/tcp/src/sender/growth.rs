//! Asks congestion control how the window grows and what a loss leaves of it, and sets the window.

use rtolab_time::{Duration, Instant};

use super::Sender;
use super::settled::Settled;
use crate::config::SlowStart;
use crate::congestion::{Acked, CongestionControl, Window};
use crate::flight::AckFacts;
use crate::recovery::LossRecovery;

impl Sender {
    /// Without congestion control the window never limits, whatever reduced it.
    #[inline]
    pub(super) fn open_window(&mut self) {
        if self.controller.as_ref().is_some_and(|controller| !controller.state.is_limiting()) {
            self.window.set_cwnd(Window::UNLIMITED);
        }
    }

    /// New data are acknowledged, and nothing forbids that the window grows.
    #[inline]
    pub(super) fn grow_window(&mut self, facts: &AckFacts, credits: u64) {
        match self.controller {
            None => self.window.grow(credits),
            Some(_) => self.grow_by_controller(facts, credits),
        }
    }

    /// Does the window grow for the acknowledgment that restored it (Linux, `tcp_cong_control`,
    /// which follows `tcp_fastretrans_alert`)?
    pub(super) fn grows_where_restored(&self, settled: Settled) -> bool {
        settled == Settled::Restored && self.config.window.slow_start == SlowStart::Delivered
    }

    /// Does the window grow for the acknowledgment that ends fast recovery?
    pub(super) fn grows_where_recovered(&self) -> bool {
        let window = &self.config.window;
        window.grows_when_recovered && window.slow_start == SlowStart::Delivered
    }

    /// For how many bytes the window grows; asked before loss recovery forgets what it counted.
    /// Where there is no SACK each duplicate acknowledgment stands for a segment that was delivered
    /// before.
    #[inline]
    pub(super) fn credits(&self, facts: &AckFacts) -> u64 {
        match self.config.window.slow_start {
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

    /// What D-SACK reports as received twice, where that counts as delivered.
    pub(super) fn delivered_twice(&self, facts: &AckFacts) -> u64 {
        let counts = self.config.window.counts_dsacked && self.loss_recovery.is_by_time();
        let range = facts.dsack.filter(|_| counts && !facts.doubted);
        range.map_or(0, |range| range.end.since(range.start).next_multiple_of(self.window.smss()))
    }

    #[inline(never)]
    fn grow_by_controller(&mut self, facts: &AckFacts, bytes: u64) {
        let acked = self.acked(facts.at, bytes);
        let acked = Acked { oldest_sent: facts.oldest_acked.map(|sent| sent.first_sent), ..acked };
        let idle_since = self.last_activity.sent.filter(|_| self.flight.size() == 0);
        if let Some(controller) = &mut self.controller {
            controller.on_ack(&mut self.window, &acked, idle_since);
        }
    }

    /// The smoothed round trip, zero before there is one.
    pub(super) fn srtt(&self) -> Duration {
        self.rtt.estimate().map_or(Duration::ZERO, |estimate| estimate.srtt)
    }

    fn acked(&self, at: Instant, bytes: u64) -> Acked {
        let srtt = self.srtt();
        let (una, max) = (self.flight.una(), self.flight.max());
        Acked { at, bytes, srtt, una, max, oldest_sent: None }
    }

    /// A round trip was measured.
    #[inline]
    pub(super) fn note_round_trip(&mut self, rtt: Duration, facts: &AckFacts) {
        if let Some(controller) = &mut self.controller {
            controller.on_rtt(rtt, facts.at, facts.acks_syn());
        }
    }

    /// An acknowledgment arrived at `at`: HyStart may end slow start before it is processed.
    #[inline]
    pub(super) fn watch_slow_start(&mut self, at: Instant) {
        if self.controller.is_some() {
            let acked = self.acked(at, 0);
            if let Some(controller) = &mut self.controller {
                controller.on_arrival(&mut self.window, &acked);
            }
        }
    }

    /// A loss or a congestion mark: sets `ssthresh` to what remains of `bytes`; returns that, not
    /// rounded.
    pub(crate) fn on_loss(&mut self, bytes: u64) -> u64 {
        if let Some(ecn) = &mut self.ecn {
            ecn.on_reduction();
        }
        let cwnd = self.recovery.deflated(self.window.cwnd());
        let remainder = match &mut self.controller {
            None => bytes / 2,
            Some(controller) => controller.on_loss(bytes, cwnd, &self.window),
        };
        self.window.reduce_ssthresh(remainder);
        remainder
    }

    /// A reduction that may prove spurious is about to begin.
    pub(crate) fn save_control(&mut self) {
        if let Some(controller) = &mut self.controller {
            controller.state.save();
        }
    }

    /// A reduction was spurious, and the windows are as before it.
    pub(crate) fn undo_reduction(&mut self) {
        if let Some(controller) = &mut self.controller {
            controller.state.undo();
        }
        if let Some(ecn) = &mut self.ecn {
            ecn.on_undo();
        }
    }

    /// Does the window stay, though its reduction from `before` bytes was spurious?
    pub(crate) fn keeps_window(&self, before: u64) -> bool {
        let cwnd = self.recovery.deflated(self.window.cwnd());
        self.controller.as_ref().is_some_and(|control| control.state.keeps_window(before, cwnd))
    }
}
