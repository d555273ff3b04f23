//! The timers of a sender. Those of RACK come before the retransmission timer (RFC 8985 section
//! 7.2).

use rtolab_time::Instant;

use super::{Chunk, Sender};
use crate::config::Restarts;
use crate::flight::{AckFacts, Cause};
use crate::recovery::LossRecovery;
use crate::timer::Timer;

impl Sender {
    /// When the next timer expires.
    #[inline]
    pub fn deadline(&self) -> Option<Instant> {
        let timers = [Timer::Retransmission, Timer::Reordering, Timer::LossProbe];
        if self.without_retransmission { None } else { self.timers.first(&timers) }
    }

    #[inline]
    pub(super) fn early_timer(&self) -> Option<Instant> {
        self.timers.first(&[Timer::Reordering, Timer::LossProbe])
    }

    /// A timer has expired: handles those that precede the retransmission timer. Returns whether
    /// that has expired, too.
    pub fn has_timed_out(&mut self, at: Instant) -> bool {
        // After a late wake-up they are handled in order, each as of its time.
        while let Some(due) = self.early_timer() {
            let rto = self.timers.get(Timer::Retransmission);
            if due > at || rto.is_some_and(|rto| rto < due) {
                break;
            }
            self.on_early_timer(due);
        }
        self.timers.has_expired(Timer::Retransmission, at)
    }

    fn on_early_timer(&mut self, due: Instant) {
        self.burst = self.config.window.max_burst.unwrap_or(u32::MAX);
        match self.timers.get(Timer::Reordering) == Some(due) {
            true => self.begin_where_lost(due, |sender| sender.on_reordering_timer(due)),
            false => self.on_probe_timer(due),
        }
        self.open_window();
    }

    /// The retransmission timer begins anew.
    #[inline(always)]
    pub(crate) fn restart_retransmission_timer(&mut self, at: Instant) {
        self.timers.set(Timer::Retransmission, self.expiry(at));
    }

    /// An acknowledgment was taken: the timers follow it. Before, an `early_timer_ran`.
    pub(super) fn restart_timers(&mut self, ack: &AckFacts, early_timer_ran: bool) {
        let counts = ack.is_new() && !self.recovery.is_fast();
        self.track_delayed_acks(|tracker| tracker.begin(counts));
        match ack.is_new() {
            true => self.restart_timer(ack.at),
            false => self.restart_timer_on_duplicate(ack),
        }
        if self.loss_recovery.is_by_time() {
            self.restart_early_timers(ack, early_timer_ran);
        }
    }

    fn restart_early_timers(&mut self, facts: &AckFacts, early_timer_ran: bool) {
        match facts.is_new() {
            true => {
                let latest = self.timers.get(Timer::Retransmission);
                self.arm_probe(self.flight.size(), facts.at, latest);
            }
            false if self.may_probe(self.flight.size()) => {}
            false => self.timers.stop(Timer::LossProbe),
        }
        if early_timer_ran && self.early_timer().is_none() {
            self.restart_timer_from_head(facts.at);
        }
    }

    /// Linux has one timer for all: after another's use the timeout runs from the last transmission
    /// of the oldest segment (`tcp_rearm_rto`).
    pub(crate) fn restart_timer_from_head(&mut self, at: Instant) {
        if let (Restarts::Linux, Some(head)) = (self.config.rto.restarts, self.flight.head()) {
            let since = if self.resends_head() { at } else { head.last_sent };
            self.timers.set(Timer::Retransmission, self.expiry(since).max(at));
        }
    }

    /// Does what leaves at `at`, a retransmission of that `chunk`, restart the timer
    /// (`tcp_xmit_retransmit_queue`)?
    pub(super) fn restarts_with(&self, chunk: &Chunk) -> bool {
        let repairs = !matches!(chunk.cause, Cause::Timeout | Cause::Probe);
        let alone = self.early_timer().is_none();
        let head = chunk.seq == self.flight.una() && chunk.seq < self.flight.max();
        self.config.rto.restarts == Restarts::Linux && repairs && head && alone
    }

    /// Do newly SACKed data restart the timer, because they left before the last transmission of
    /// the oldest segment (`tcp_clean_rtx_queue`)?
    pub(super) fn restarts_by_sack(&self, facts: &AckFacts) -> bool {
        let head = self.flight.head().map(|head| head.last_sent);
        let older = facts.sacked_sent.zip(head).is_some_and(|(sacked, head)| sacked < head);
        self.config.rto.restarts == Restarts::Linux && older && self.early_timer().is_none()
    }

    /// The latest time of a probe after new data that leave at `at`: when the timer of the oldest
    /// segment expires (`tcp_rto_delta_us`), unless that has passed.
    pub(super) fn latest_probe(&self, at: Instant) -> Option<Instant> {
        match (self.config.rto.restarts, self.flight.head()) {
            (Restarts::Linux, Some(head)) => {
                Some(self.expiry(head.last_sent)).filter(|latest| *latest > at)
            }
            _ => self.timers.get(Timer::Retransmission),
        }
    }
}
