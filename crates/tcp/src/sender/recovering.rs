//! The sender's part of loss recovery: fast retransmits, the windows of fast recovery, and the next
//! segment.

use rtolab_time::Instant;

use super::outcome::DetectionOutcome;
use super::{Chunk, Sender};
use crate::config::{FullAck, RackRules, RecoveryConfig};
use crate::event::Event;
use crate::flight::{AckFacts, Cause, Sent};
use crate::recovery::{
    AfterTimeout, AnyRecovery, Context, Entry, LossRecovery, NextSeg, Recovery, RecoveryAction,
    Retransmit,
};
use crate::reduction::WindowReduction;
use crate::seq::Seq;
use crate::timer::Timer;

/// Fast recovery before and after an acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Outside,
    Entered,
    Stayed,
    Left,
}

impl Sender {
    /// The loss recovery, its shared state, and its view of the sender.
    pub(super) fn recovery_context(
        &mut self,
        now: Instant,
    ) -> (&mut AnyRecovery, &mut Recovery, Context<'_>) {
        let can_send_new = self.can_send_new();
        let cx = Context {
            flight: &mut self.flight,
            timers: &mut self.timers,
            config: &self.config,
            window: self.window,
            srtt: self.rtt.estimate().map(|estimate| estimate.srtt),
            suppressed: self.without_retransmission,
            timed_out: self.timed_out_at.is_some(),
            can_send_new,
            now,
        };
        (&mut self.loss_recovery, &mut self.recovery, cx)
    }

    /// Passes an acknowledgment to loss recovery, and returns the phase of fast recovery.
    pub(super) fn recover_on_ack(&mut self, ack: &AckFacts, outcome: DetectionOutcome) -> Phase {
        let before = self.recovery.is_in_fast_recovery();
        self.undo_by_loss_recovery(ack.at);
        self.recover_with_episode(ack, outcome);
        self.undo_by_loss_recovery(ack.at);
        match (before, self.recovery.is_in_fast_recovery()) {
            (false, false) => Phase::Outside,
            (false, true) => Phase::Entered,
            (true, true) => Phase::Stayed,
            (true, false) => Phase::Left,
        }
    }

    /// Runs the loss recovery for an acknowledgment, and follows its step.
    #[inline]
    pub(super) fn recover(&mut self, ack: &AckFacts, outcome: DetectionOutcome) {
        if ack.is_new() {
            self.recovery.on_new_ack(ack);
        }
        // After an undo RACK detects losses from scratch, so that it finds the real ones.
        match outcome {
            DetectionOutcome::Restored if self.loss_recovery.is_time_based() => {
                self.loss_recovery.on_undo();
            }
            _ if outcome.freezes_cwnd() => return,
            _ => {}
        }
        self.end_probe(ack);
        let (recovering, losses) = (self.recovery.is_in_fast_recovery(), self.losses());
        let (algorithm, recovery, mut cx) = self.recovery_context(ack.at);
        let step = algorithm.on_ack(recovery, ack, &mut cx);
        if recovering && matches!(step, RecoveryAction::Enter(_)) {
            self.end_prr();
        }
        self.follow_recovery(step, ack.at);
        self.reduce(ack, recovering, losses);
    }

    /// The reordering timer expired.
    pub(super) fn on_reordering_timer(&mut self, at: Instant) {
        let recovering = self.recovery.is_in_fast_recovery();
        let (algorithm, recovery, mut cx) = self.recovery_context(at);
        let step = algorithm.on_reordering_timer(recovery, &mut cx);
        self.follow_recovery(step, at);
        if !recovering {
            self.reduce_at_timer();
        }
        if self.has_probe_timeout() {
            return self.set_loss_detection_timer(at, self.flight.size() > 0);
        }
        self.restart_timer_from_head(at);
    }

    /// Processes an acknowledgment of a tail loss probe. If the probe repaired a loss, the window
    /// is reduced as by fast recovery (RFC 8985 section 7.4.2).
    fn end_probe(&mut self, ack: &AckFacts) {
        let repaired_loss = self.loss_recovery.probe().is_some_and(|probe| probe.on_ack(ack));
        if repaired_loss && !self.recovery.is_in_fast_recovery() {
            self.halve_at_loss(ack.max.since(ack.una_before), ack.at);
            self.window.limit_cwnd(self.window.ssthresh());
        }
    }

    fn follow_recovery(&mut self, step: RecoveryAction, at: Instant) {
        match step {
            RecoveryAction::None | RecoveryAction::Leave { cwnd: None } => {}
            RecoveryAction::Leave { cwnd: Some(cwnd) } => self.window.set_cwnd(cwnd),
            RecoveryAction::Stay { cwnd, retransmit } => {
                self.window.set_cwnd(cwnd);
                self.retransmit(retransmit, Cause::Recovery);
            }
            RecoveryAction::Enter(entry) => self.enter_recovery(&entry, at),
            RecoveryAction::SlowStart => self.retransmit_in_slow_start(at),
            RecoveryAction::Collapse => self.collapse_window(at),
        }
    }

    fn retransmit(&mut self, retransmit: Retransmit, cause: Cause) {
        if retransmit != Retransmit::Nothing {
            self.retransmit_head = Some(cause);
        }
        if retransmit == Retransmit::HeadAlone {
            self.burst = 1;
        }
    }

    /// Begins fast recovery: halves `ssthresh` and cwnd, retransmits the head (RFC 5681 section
    /// 3.2), and ends go-back-N. cwnd stays, and slow start ends, if the wireless link lost the
    /// segment (ELN).
    fn enter_recovery(&mut self, entry: &Entry, at: Instant) {
        if entry.ends_timeout {
            self.timed_out_at = None;
            self.stop_frto();
        }
        let una = self.flight.una();
        let first = self.retransmission(self.first_retransmission(), at);
        self.push_event(Event::FastRetransmit(first));
        let flight_size = self.flight.size() - self.recovery.limited;
        let before = self.window.cwnd();
        if self.link_lost {
            self.window.set_ssthresh(before);
        } else {
            self.halve_for_recovery(flight_size, at);
        }
        self.recovery.enter(self.window.cwnd(), before, self.flight.max());
        self.go_back_from(match self.config.recovery.go_back_n_on_duplicates {
            true if !self.loss_recovery.is_time_based() => {
                self.nxt.max(self.flight.head().map_or(una, Sent::end))
            }
            _ => self.flight.max(),
        });
        if !self.link_lost {
            self.begin_reduction(flight_size);
        }
        self.window.increase_cwnd(entry.inflation);
        self.retransmit(entry.retransmit, Cause::FastRetransmit);
        if entry.persistent {
            self.collapse_window(at);
        }
    }

    /// Halves `ssthresh`, and cwnd with it, as fast recovery begins.
    fn halve_for_recovery(&mut self, flight_size: u64, at: Instant) {
        let before = self.window;
        // A running window reduction has halved it already.
        let half = match self.reduction.cwr_end() {
            None => self.halve_at_loss(flight_size, at),
            Some(_) => self.window.ssthresh(),
        };
        match self.config.window.full_ack {
            _ if self.has_model() => {}
            FullAck::Halved => self.window.set_cwnd_to_half(half, &before),
            FullAck::FlightSize | FullAck::Ssthresh => self.window.set_cwnd(self.window.ssthresh()),
        }
    }

    /// Tahoe's fast retransmit: go-back-N in slow start.
    fn retransmit_in_slow_start(&mut self, at: Instant) {
        let una = self.flight.una();
        self.push_event(Event::FastRetransmit(self.retransmission(una, at)));
        self.reduce_ssthresh(self.flight.size() - self.recovery.limited);
        self.window.set_segments(1);
        self.reduction = WindowReduction::AtOnce;
        self.recovery.on_slow_start(self.flight.max());
        self.go_back_from(self.flight.head().map_or(una, Sent::end));
        self.retransmit_head = Some(Cause::FastRetransmit);
    }

    /// Passes a timeout to loss recovery, which updates the scoreboard.
    pub(super) fn recover_from_timeout(&mut self, at: Instant) {
        let (algorithm, recovery, mut cx) = self.recovery_context(at);
        if algorithm.on_timeout(recovery, &mut cx) == AfterTimeout::Losses {
            self.nxt = self.flight.max();
        }
        self.recovery.on_timeout(self.flight.max());
    }

    /// Changes the loss recovery. If RACK replaces another algorithm, the data that go-back-N has
    /// not retransmitted is marked lost; in the opposite case go-back-N retransmits the lost data.
    pub(super) fn reconfigure_recovery(&mut self, config: &RecoveryConfig) {
        let first_lost = self.loss_recovery.first_lost(&self.flight);
        let was_time_based = self.loss_recovery.is_time_based();
        let had_probe_timeout = self.loss_recovery.pto_count().is_some();
        self.loss_recovery.reconfigure(config);
        self.flight.keep_retrans_out(config.rack.rules == RackRules::Linux);
        let has_probe_timeout = self.loss_recovery.pto_count().is_some();
        match (was_time_based, self.loss_recovery.is_time_based()) {
            (false, false) => {}
            (true, true) if had_probe_timeout == has_probe_timeout => {}
            (true, true) => self.adopt_flight(),
            (false, true) => {
                let sampled = self.rtt.estimate().is_some();
                if let Some(probe) = self.loss_recovery.probe().filter(|_| sampled) {
                    probe.on_rtt_sample();
                }
                self.flight.clear_losses();
                self.flight.mark_lost_from(self.nxt);
                self.nxt = self.flight.max();
                self.adopt_flight();
            }
            (true, false) => {
                self.go_back_from(first_lost.unwrap_or(self.flight.max()));
                self.timers.stop(Timer::Reordering);
                self.timers.stop(Timer::LossProbe);
                self.flight.clear_losses();
            }
        }
        self.reduction.end_prr();
    }

    /// The segment that a fast retransmit or timeout retransmits: the first one that RACK marked
    /// lost, or the head.
    pub(super) fn first_retransmission(&self) -> Seq {
        self.loss_recovery.first_lost(&self.flight).unwrap_or(self.flight.una())
    }

    /// The pipe in bytes, if loss recovery has one.
    #[inline]
    pub(super) fn pipe(&self) -> Option<u64> {
        self.loss_recovery.pipe(&self.recovery, &self.flight, &self.config.recovery)
    }

    /// The next chunk that loss recovery chooses, if cwnd has room for a full segment.
    pub(super) fn choose_next_seg(&mut self, now: Instant) -> Option<Chunk> {
        if self.outstanding() + self.window.smss() > self.window.cwnd() {
            return None;
        }
        let (algorithm, recovery, mut cx) = self.recovery_context(now);
        match algorithm.next_seg(recovery, &mut cx)? {
            NextSeg::New => self.new_chunk(),
            NextSeg::NewAsUsual => self.choose_new(),
            NextSeg::Retransmission(seq) => {
                let fast = self.recovery.is_in_fast_recovery();
                self.chunk_at(seq, if fast { Cause::Recovery } else { Cause::GoBackN })
            }
        }
    }

    /// The `chunk` is sent: reports a retransmission to loss recovery, or arms the probe timer for
    /// new data. A probe does not arm it, because only one probe may be in flight.
    pub(super) fn note_chunk(&mut self, chunk: &Chunk, at: Instant) {
        let max = self.flight.max();
        if self.loss_recovery.pto_count().is_some() {
            self.note_transmission(chunk, at);
        }
        if chunk.seq < max {
            let timestamp = self.timestamp(at);
            self.loss_recovery.on_retransmission(chunk.seq, timestamp, &mut self.flight);
        } else if self.loss_recovery.probe().is_some_and(|probe| !probe.ends_at(chunk.end())) {
            let outstanding = chunk.end().max(max).since(self.flight.una());
            self.arm_probe_for_new_data(outstanding, at);
        }
    }

    /// Does loss recovery detect losses by time, as RACK does?
    pub fn detects_losses_by_time(&self) -> bool {
        self.loss_recovery.is_time_based()
    }

    /// The bytes that limited transmit allows beyond cwnd (RFC 3042).
    pub(super) fn limited_transmit(&self) -> u64 {
        self.recovery.limited_transmit(&self.config.recovery, self.window.smss())
    }

    /// Does cwnd also grow for data that arrives out of order?
    pub(super) fn grows_out_of_order(&self, ack: &AckFacts) -> bool {
        let dupthresh = self.config.recovery.dupthresh;
        ack.newly_sacked > 0 && self.loss_recovery.has_reordered_beyond(dupthresh)
    }
}
