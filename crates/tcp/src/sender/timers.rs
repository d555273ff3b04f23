//! The timers of a sender, of which one runs at a time: RACK's, which come first, or that of
//! retransmission (RFC 8985 section 7.2).

use rtolab_time::Instant;

use super::{Chunk, Sender};
use crate::flight::AckFacts;

impl Sender {
    /// When the next timer expires.
    #[inline]
    pub fn deadline(&self) -> Option<Instant> {
        match (&self.rack, self.early_timer()) {
            _ if self.forbears => None,
            (Some(_), Some(early)) => Some(self.deadline.map_or(early, |rto| rto.min(early))),
            _ => self.deadline,
        }
    }

    #[inline]
    fn early_timer(&self) -> Option<Instant> {
        self.rack.as_ref().and_then(|rack| rack.next_timer())
    }

    /// A timer has expired: lets those expire that come before the one of retransmission, and says
    /// whether that has expired, too.
    pub fn has_timed_out(&mut self, at: Instant) -> bool {
        // Who is woken late takes them in their order, and each as of its time.
        while let Some(due) = self.early_timer() {
            if due > at || self.deadline.is_some_and(|rto| rto < due) {
                break;
            }
            self.on_early_timer(due);
        }
        self.deadline.is_some_and(|rto| rto <= at)
    }

    fn on_early_timer(&mut self, due: Instant) {
        self.burst = self.config.window.max_burst.unwrap_or(u32::MAX);
        match self.rack.as_ref().is_some_and(|rack| rack.is_waiting_for_order(due)) {
            true => self.begin_where_lost(due, |sender| sender.on_reordering_timer(due)),
            false => self.on_probe_timer(due),
        }
        self.open_window();
    }

    /// When the retransmission timer expires, whatever expires before.
    pub(crate) const fn retransmission_deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The retransmission timer begins anew.
    pub(crate) fn restart_retransmission_timer(&mut self, at: Instant) {
        self.deadline = Some(self.expiry(at));
    }

    /// An acknowledgment was taken: RACK's timers follow it.
    pub(super) fn restart_early_timers(&mut self, facts: &AckFacts) {
        match facts.is_new() {
            true => self.arm_probe(self.flight.size(), facts.at),
            false => self.disarm_probe(),
        }
    }

    /// The `chunk` leaves, and RACK takes note of it.
    pub(super) fn rack_sends(&mut self, chunk: &Chunk, at: Instant) {
        let max = self.flight.max();
        if chunk.seq < max {
            self.rack_repairs(chunk.seq);
        } else if !self.is_probe(chunk) {
            self.arm_probe(chunk.end().max(max).since(self.flight.una()), at);
        }
    }
}
