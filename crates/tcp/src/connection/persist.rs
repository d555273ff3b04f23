//! The persist timer: a window that stays too small is asked for again (RFC 9293 section 3.8.6.1),
//! for the segment that opens it may be lost.

use rtolab_time::{Duration, Instant};

/// Runs while nothing is outstanding and the window holds back what waits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Persist {
    deadline: Option<Instant>,
    /// The time from the last probe to the next.
    wait: Duration,
    probe: bool,
    /// How many probes were asked for since anything was heard, and when the last one.
    unanswered: u32,
    asked: Option<Instant>,
}

impl Persist {
    /// All that could leave at `at` has left, and something is blocked: the timer starts or goes
    /// on. The first probe leaves after a retransmission timeout.
    pub(super) fn watch(&mut self, at: Instant, rto: Duration) {
        if self.deadline.is_none() {
            (self.deadline, self.wait) = (Some(at + rto), rto);
        }
    }

    /// Nothing is blocked.
    #[inline]
    pub(super) fn stop(&mut self) {
        if self.deadline.is_some() {
            *self = Self::default();
        }
    }

    /// When the next probe is due.
    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The timer may have expired: each wait is twice the one before, up to `longest`. Something
    /// was `heard` of the peer then.
    pub(super) fn on_timer(&mut self, at: Instant, longest: Duration, heard: Option<Instant>) {
        if self.deadline.is_some_and(|deadline| deadline <= at) {
            self.probe = true;
            self.unanswered = if heard >= self.asked { 1 } else { self.unanswered + 1 };
            self.asked = Some(at);
            self.wait = (self.wait * 2).min(longest);
            self.deadline = Some(at + self.wait);
        }
    }

    /// Is something blocked?
    #[inline]
    pub(super) const fn is_running(&self) -> bool {
        self.deadline.is_some()
    }

    /// Is a probe to leave?
    #[inline]
    pub(super) const fn has_probe(&self) -> bool {
        self.probe
    }

    /// How many probes had no answer, that which is to leave among them.
    pub(super) const fn unanswered(&self) -> u32 {
        self.unanswered
    }

    /// A probe is to leave, whether or not anything is blocked.
    pub(super) const fn ask(&mut self) {
        self.probe = true;
    }

    /// Does a probe leave now?
    pub(super) fn take_probe(&mut self) -> bool {
        core::mem::take(&mut self.probe)
    }
}
