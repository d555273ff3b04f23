//! The timers of a sender. The reordering timer and the probe timer of RACK-TLP take precedence
//! over the retransmission timer (RFC 8985 section 7.2).

use rtolab_time::{Duration, Instant};

use super::{Chunk, Sender};
use crate::config::Restarts;
use crate::flight::{AckFacts, Cause};
use crate::recovery::LossRecovery;
use crate::timer::Timer;

/// The shortest time for which the retransmission timer is set (`tcp_rearm_rto`).
const SHORTEST_RTO: Duration = Duration::from_micros(1);

impl Sender {
    /// When the next timer expires.
    #[inline]
    pub fn deadline(&self) -> Option<Instant> {
        let timers = [Timer::Retransmission, Timer::Reordering, Timer::LossProbe];
        let first = if self.without_retransmission { None } else { self.timers.first(&timers) };
        match self.controller {
            None => first,
            Some(_) => self.pacing_deadline().into_iter().chain(first).min(),
        }
    }

    /// When the next timer of RACK-TLP expires.
    #[inline]
    pub(super) fn rack_timer(&self) -> Option<Instant> {
        self.timers.first(&[Timer::Reordering, Timer::LossProbe])
    }

    /// A timer has expired: runs the timers of RACK-TLP that expire before the retransmission
    /// timer. Returns whether the retransmission timer has expired, too.
    pub fn has_timed_out(&mut self, at: Instant) -> bool {
        self.on_pacing_timer(at);
        if self.without_retransmission {
            return false;
        }
        // After a late wake-up the timers run in order, each at the time at which it was due.
        while let Some(due) = self.rack_timer() {
            let rto = self.timers.get(Timer::Retransmission);
            if due > at || rto.is_some_and(|rto| rto < due) {
                break;
            }
            self.on_rack_timer(due);
        }
        self.timers.has_expired(Timer::Retransmission, at)
    }

    fn on_rack_timer(&mut self, due: Instant) {
        self.burst = self.config.window.max_burst.unwrap_or(u32::MAX);
        match self.timers.get(Timer::Reordering) == Some(due) {
            true => self.with_episode(due, |sender| sender.on_reordering_timer(due)),
            false => self.on_probe_timer(due),
        }
        self.note_losses(due);
        self.keep_own_cwnd();
    }

    /// Restarts the retransmission timer.
    #[inline(always)]
    pub(crate) fn restart_retransmission_timer(&mut self, at: Instant) {
        self.timers.schedule(Timer::Retransmission, self.expiry(at), at);
    }

    /// Restarts the timers after an acknowledgment. `rack_timer_ran`: a timer of RACK-TLP was
    /// running before it.
    pub(super) fn restart_timers(&mut self, ack: &AckFacts, rack_timer_ran: bool) {
        let counts = ack.is_new() && !self.recovery.is_in_fast_recovery();
        self.track_delayed_acks(|tracker| tracker.begin_train(counts));
        if self.has_probe_timeout() {
            return self.set_loss_detection_timer(ack.at, self.flight.size() > 0);
        }
        match ack.is_new() {
            true => self.restart_timer(ack.at),
            false => self.restart_timer_on_duplicate(ack),
        }
        if self.loss_recovery.is_time_based() {
            self.restart_rack_timers(ack, rack_timer_ran);
        }
    }

    fn restart_rack_timers(&mut self, facts: &AckFacts, rack_timer_ran: bool) {
        match facts.is_new() {
            true => {
                let latest = match self.config.rto.restarts {
                    Restarts::Linux => Some(self.expiry(facts.at)),
                    Restarts::NewAcks => self.timers.get(Timer::Retransmission),
                };
                self.arm_probe(self.flight.size(), facts.at, latest);
            }
            false if self.may_probe(self.flight.size()) || self.keeps_probe_timer(facts) => {}
            false => self.timers.stop(Timer::LossProbe),
        }
        if rack_timer_ran && self.rack_timer().is_none() {
            self.restart_timer_from_head(facts.at);
        }
        self.suspend_for_reordering_timer();
    }

    /// Does the probe timer continue after an acknowledgment that does not advance SND.UNA, though
    /// no probe would be scheduled now? In Linux only another use of the one timer ends it.
    fn keeps_probe_timer(&self, facts: &AckFacts) -> bool {
        self.config.rto.restarts == Restarts::Linux
            && !self.timers.is_running(Timer::Reordering)
            && !self.recovery.is_in_fast_recovery()
            && !self.sacks_older_than_head(facts)
    }

    /// In Linux the reordering timer takes the place of the retransmission timer
    /// (`tcp_rack_mark_lost`), which therefore does not expire before it.
    fn suspend_for_reordering_timer(&mut self) {
        let reordering = self.timers.get(Timer::Reordering);
        if let (Restarts::Linux, Some(due)) = (self.config.rto.restarts, reordering) {
            if self.timers.get(Timer::Retransmission).is_some_and(|rto| rto < due) {
                self.timers.set(Timer::Retransmission, due);
            }
        }
    }

    /// Linux has one timer for timeout, probe and reordering. After the other uses the timeout runs
    /// from the last transmission of the oldest segment, and is due in a microsecond if that is
    /// past (`tcp_rearm_rto`).
    pub(crate) fn restart_timer_from_head(&mut self, at: Instant) {
        if let (Restarts::Linux, Some(head)) = (self.config.rto.restarts, self.flight.head()) {
            let since = if self.will_retransmit_head() { at } else { head.last_sent };
            let due = self.expiry(since).max(at + SHORTEST_RTO);
            self.timers.schedule(Timer::Retransmission, due, at);
        }
    }

    /// Does the transmission of `chunk` restart the timer? In Linux the retransmission of the head
    /// in a recovery does (`tcp_xmit_retransmit_queue`).
    pub(super) fn restarts_timer_with(&self, chunk: &Chunk) -> bool {
        let in_recovery = !matches!(chunk.cause, Cause::Timeout | Cause::Probe);
        let alone = self.rack_timer().is_none();
        let head = chunk.seq == self.flight.una() && chunk.seq < self.flight.max();
        self.config.rto.restarts == Restarts::Linux && in_recovery && head && alone
    }

    /// Does newly SACKed data restart the timer, because it was sent before the last transmission
    /// of the oldest segment (Linux: `tcp_clean_rtx_queue`)?
    pub(super) fn sack_restarts_timer(&self, facts: &AckFacts) -> bool {
        let alone = self.rack_timer().is_none();
        self.config.rto.restarts == Restarts::Linux && alone && self.sacks_older_than_head(facts)
    }

    /// Does the acknowledgment SACK data that was sent before the last transmission of the oldest
    /// segment?
    fn sacks_older_than_head(&self, facts: &AckFacts) -> bool {
        let head = self.flight.head().map(|head| head.last_sent);
        facts.sacked_sent.zip(head).is_some_and(|(sacked, head)| sacked < head)
    }

    /// The latest time of a probe after new data that is sent at `at`: the expiry of the
    /// retransmission timer, in Linux that of the oldest segment (`tcp_rto_delta_us`) if it lies
    /// after `at`.
    pub(super) fn latest_probe(&self, at: Instant) -> Option<Instant> {
        match (self.config.rto.restarts, self.flight.head()) {
            (Restarts::Linux, Some(head)) => {
                Some(self.expiry(head.last_sent)).filter(|latest| *latest > at)
            }
            (Restarts::Linux, None) => Some(self.expiry(at)),
            (Restarts::NewAcks, _) => self.timers.get(Timer::Retransmission),
        }
    }
}
