//! The retransmission timer (RFC 6298 section 5).

use rtolab_time::{Duration, Instant};

use super::{SendPermission, Sender};
use crate::config::{
    LossWindow, Parity, RepeatedTimeout, RestartFrom, RestartOnDuplicate, RtoFloor, TimerClock,
};
use crate::event::Event;
use crate::flight::{AckFacts, Cause, Sent};
use crate::recovery::LossRecovery;
use crate::reduction::WindowReduction;
use crate::rtt::DelayedAckTracker;
use crate::segment::Flags;
use crate::spurious::{Entry, Expiry};
use crate::timer::Timer;

impl Sender {
    /// Restarts or stops the timer after an ACK of new data (RFC 6298 sections 5.2 and 5.3).
    #[inline(always)]
    pub(super) fn restart_timer(&mut self, at: Instant) {
        if self.flight.size() == 0 {
            self.timers.stop(Timer::Retransmission);
        } else if self.ack_restarts_timer() {
            self.timers.schedule(Timer::Retransmission, self.expiry_from_oldest(at), at);
        }
    }

    /// Does a new acknowledgment restart the retransmission timer?
    #[inline(always)]
    fn ack_restarts_timer(&self) -> bool {
        !self.recovery.is_in_fast_recovery()
            || self.loss_recovery.restarts_timer(&self.config.recovery)
    }

    /// The expiry of the timer if an acknowledgment at `at` restarts it.
    #[inline(always)]
    fn expiry_from_oldest(&self, at: Instant) -> Instant {
        let since = match (self.config.rto.restart_from, self.flight.head()) {
            (RestartFrom::Ack, _) | (_, None) => return self.expiry(at),
            (RestartFrom::OldestSegment, Some(head)) => head.last_sent,
        };
        let expiry = self.expiry(since);
        if expiry > at && !self.will_retransmit_head() { expiry } else { self.expiry(at) }
    }

    /// Is the oldest segment about to be retransmitted, so that its age does not count?
    pub(super) fn will_retransmit_head(&self) -> bool {
        let is_due = |head: &Sent| {
            head.seq >= self.nxt || (head.is_lost() && !head.is_retrans_out() && !head.is_sacked())
        };
        self.retransmit_head.is_some() || self.flight.head().is_some_and(is_due)
    }

    /// When a retransmission timer that runs from `since` is due.
    #[inline(always)]
    pub(super) fn expiry(&self, since: Instant) -> Instant {
        let (rto, tick) = (self.rto(), self.config.rto.granularity.nanos());
        match self.config.rto.timer {
            TimerClock::Ticks if tick > 0 => {
                let start = Instant::from_nanos(since.nanos() / tick * tick);
                start + Duration::from_nanos(rto.nanos().div_ceil(tick).saturating_mul(tick))
            }
            _ => since + rto,
        }
    }

    /// Restarts the timer after a duplicate acknowledgment, if so configured.
    pub(super) fn restart_timer_on_duplicate(&mut self, facts: &AckFacts) {
        let restarts = match self.config.rto.restart_on_duplicate {
            RestartOnDuplicate::Never => false,
            RestartOnDuplicate::InRecovery => self.recovery.is_in_fast_recovery(),
            RestartOnDuplicate::Always => true,
        };
        let restarts = restarts && (facts.duplicate || facts.newly_sacked > 0);
        if restarts || self.sack_restarts_timer(facts) {
            self.restart_retransmission_timer(facts.at);
        }
    }

    /// Ends a train of segments. The timer may now run for its last segment.
    #[inline]
    pub(super) fn end_train(&mut self, at: Instant) {
        if let RtoFloor::DelayedAck(_) = self.config.rto.floor {
            self.end_counted_train(self.config.rto.delayed_ack_parity, at);
        }
    }

    fn end_counted_train(&mut self, parity: Parity, at: Instant) {
        let (una, smss) = (self.flight.una(), self.window.smss());
        let ended =
            self.delayed_acks.as_mut().is_some_and(|tracker| tracker.end_train(parity, una, smss));
        let running = self.timers.get(Timer::Retransmission);
        if let Some(expiry) = running.filter(|_| ended && self.head_may_wait()) {
            let due = self.expiry(at);
            if due > expiry {
                self.timers.schedule(Timer::Retransmission, due, at);
            }
        }
    }

    /// Updates the delayed-ACK tracker, if there is one.
    #[inline]
    pub(super) fn track_delayed_acks(&mut self, update: impl FnOnce(&mut DelayedAckTracker)) {
        if let Some(tracker) = &mut self.delayed_acks {
            update(tracker);
        }
    }

    /// The retransmission timer expired (RFC 6298 section 5.4 to 5.6, RFC 5681 section 3.1).
    pub fn on_timeout(&mut self, at: Instant) {
        let Some(head) = self.flight.head().copied() else {
            self.timers.stop(Timer::Retransmission);
            return;
        };
        self.on_fast_path = false;
        if self.has_probe_timeout() {
            return self.on_probe_timeout(at);
        }
        self.push_event(Event::Timeout(self.retransmission(head.seq, at)));
        self.back_off(&head);
        self.track_delayed_acks(|tracker| {
            tracker.reset_parity();
            tracker.mark_delayed(head.end());
        });
        self.restart_retransmission_timer(at);
        self.clamp_to_user_timeout(head.first_sent);
        self.timed = None;
        self.retransmit_head = Some(Cause::Timeout);
        self.burst = u32::MAX;
        self.go_back_from(head.end());
        let repeated = self.timed_out_at.replace(head.seq) == Some(head.seq);
        if head.flags.has(Flags::SYN) {
            self.syn_timeouts += 1;
            return;
        }
        let before = self.state_to_save();
        let repeated = repeated || self.is_second_reduction_in_window();
        if let (true, Some(saved)) = (repeated, &mut self.saved) {
            saved.pipe_prev = before.pipe_prev;
        } else {
            self.save(before);
            self.save_control();
        }
        let halves = !repeated || self.config.window.repeated_timeout == RepeatedTimeout::Halves;
        if halves && !self.has_ece_reduction() {
            self.reduce_ssthresh(self.flight.size());
        }
        if let Some(ecn) = &mut self.ecn {
            ecn.on_reduction();
        }
        if let Some(controller) = &mut self.controller {
            controller.on_timeout(at, self.flight.max());
        }
        let expiry = Expiry {
            una: head.seq,
            end: head.end(),
            max: self.flight.max(),
            in_fast_recovery: self.recovery.is_in_fast_recovery()
                || self.loss_recovery.is_in_loss(),
            sack: self.config.sack && self.flight.uses_sack(),
            timestamp: self.timestamp(at),
            probed: self.outstanding_probe().map(|sent| sent.seq),
        };
        self.recover_from_timeout(at);
        self.reduction = WindowReduction::AtOnce;
        self.validate_timeout();
        self.permission = SendPermission::Windows;
        self.begin_timeout(&head, at);
        self.enter_frto(&expiry);
        self.model_timeout(at);
        self.keep_own_cwnd();
    }

    /// Has fast recovery reduced the window already, where one reduction per window is configured?
    fn is_second_reduction_in_window(&self) -> bool {
        let once = self.config.window.repeated_timeout == RepeatedTimeout::OncePerWindow;
        let is_unfinished = self.flight.una() < self.recovery.recover;
        once && self.recovery.is_in_fast_recovery() && is_unfinished
    }

    /// Enters F-RTO, if configured, and sets cwnd to the loss window.
    fn enter_frto(&mut self, expiry: &Expiry) {
        let entry = self.frto.as_mut().map_or(Entry::Conventional, |frto| frto.on_timeout(expiry));
        if entry != Entry::KeepsWindow {
            self.window.set_segments(1);
            let beyond_pipe = self.config.window.loss_window == LossWindow::BeyondPipe;
            if self.loss_recovery.is_time_based() && beyond_pipe {
                self.window.increase_cwnd(self.outstanding());
            }
        }
        if entry != Entry::Conventional {
            self.permission = SendPermission::New(0);
        }
    }

    /// Suppresses retransmission: until SND.UNA advances, the timer does not expire and duplicate
    /// acknowledgments start no recovery. A pending retransmission is dropped. See
    /// [`crate::Connection::suppress_retransmission`].
    pub fn suppress_retransmission(&mut self) {
        self.on_fast_path = false;
        self.without_retransmission = true;
        self.retransmit_head = None;
        self.nxt = self.flight.max();
        self.recovery.leave();
        self.loss_recovery.forget_losses(&mut self.timers, &mut self.flight);
        if self.loss_recovery.is_time_based() {
            self.flight.clear_losses();
        }
    }
}
