//! The persist timer: a window that stays too small is asked for again (RFC 9293 section 3.8.6.1),
//! for the segment that opens it may be lost.

use rtolab_time::{Duration, Instant};

use crate::timer::{Timer, TimerTable};

/// What the persist timer has done since nothing is outstanding and the window holds data back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Persist {
    /// The time from the last probe to the next.
    wait: Duration,
    probe: bool,
    /// Probes since anything was heard, and when the last one was due.
    unanswered: u32,
    asked: Option<Instant>,
}

impl Persist {
    /// All that could leave at `at` has left, and something is blocked: the timer starts or goes
    /// on. The first probe leaves after a retransmission timeout.
    pub(super) fn watch(&mut self, timers: &mut TimerTable, at: Instant, rto: Duration) {
        if !timers.is_running(Timer::Persist) {
            self.wait = rto;
            timers.set(Timer::Persist, at + rto);
        }
    }

    /// Nothing is blocked.
    #[inline]
    pub(super) fn stop(&mut self, timers: &mut TimerTable) {
        if timers.is_running(Timer::Persist) {
            timers.stop(Timer::Persist);
            *self = Self::default();
        }
    }

    /// The timer expired: each wait is twice the one before, up to `longest`. The peer was last
    /// `heard` then.
    pub(super) fn on_timer(
        &mut self,
        timers: &mut TimerTable,
        at: Instant,
        (longest, heard): (Duration, Option<Instant>),
    ) {
        self.probe = true;
        self.unanswered = if heard >= self.asked { 1 } else { self.unanswered + 1 };
        self.asked = Some(at);
        self.wait = (self.wait * 2).min(longest);
        timers.set(Timer::Persist, at + self.wait);
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
