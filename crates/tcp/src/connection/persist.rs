//! The persist timer, which probes a window that stays too small (RFC 9293 section 3.8.6.1),
//! because the window update may be lost.

use rtolab_time::{Duration, Instant};

use crate::timer::{Timer, TimerTable};

/// The state of the persist timer while nothing is outstanding and the window blocks the sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Persist {
    /// The time from the last probe to the next.
    interval: Duration,
    /// Is a probe pending?
    probe: bool,
    /// The number of unanswered probes.
    unanswered: u32,
    /// When the last probe was due.
    last_probe: Option<Instant>,
}

impl Persist {
    /// The window blocks the sender at `at`: starts the timer unless it runs. The first probe is
    /// sent after a retransmission timeout.
    pub(super) fn start(&mut self, timers: &mut TimerTable, at: Instant, rto: Duration) {
        if !timers.is_running(Timer::Persist) {
            self.interval = rto;
            timers.set(Timer::Persist, at + rto);
        }
    }

    /// The window no longer blocks the sender: stops the timer.
    #[inline]
    pub(super) fn stop(&mut self, timers: &mut TimerTable) {
        if timers.is_running(Timer::Persist) {
            timers.stop(Timer::Persist);
            *self = Self::default();
        }
    }

    /// The timer expired: a probe is pending, and the interval doubles up to `longest`. The peer's
    /// last acknowledgment arrived at `last_received`.
    pub(super) fn on_timer(
        &mut self,
        timers: &mut TimerTable,
        at: Instant,
        (longest, last_received): (Duration, Option<Instant>),
    ) {
        self.probe = true;
        self.unanswered = if last_received >= self.last_probe { 1 } else { self.unanswered + 1 };
        self.last_probe = Some(at);
        self.interval = (self.interval * 2).min(longest);
        timers.set(Timer::Persist, at + self.interval);
    }

    /// Is a probe pending?
    #[inline]
    pub(super) const fn has_probe(&self) -> bool {
        self.probe
    }

    /// The number of unanswered probes, including a pending one.
    pub(super) const fn unanswered(&self) -> u32 {
        self.unanswered
    }

    /// Requests a probe, for keep-alive.
    pub(super) const fn request_probe(&mut self) {
        self.probe = true;
    }

    /// Takes the pending probe: returns whether one is sent now.
    pub(super) fn take_probe(&mut self) -> bool {
        core::mem::take(&mut self.probe)
    }
}
