//! The timers of a connection, in one table.

mod wheel;

use alloc::boxed::Box;

use rtolab_time::Instant;

use crate::config::TimerClock;
use wheel::Wheel;
pub(crate) use wheel::expiry as wheel_expiry;

/// A timer of a connection. The delayed-ACK timer is not among them; the receiver keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Timer {
    /// The retransmission timer (RFC 6298 section 5).
    Retransmission,
    /// The reordering timer (RFC 8985 section 6.2 step 5).
    Reordering,
    /// The probe timer, PTO (RFC 8985 section 7.2).
    LossProbe,
    /// The persist timer: the next zero-window probe (RFC 9293 section 3.8.6.1).
    Persist,
    /// Keep-alive, FIN-WAIT-2 or 2 MSL, depending on the state.
    Idle,
}

/// The expiry of each timer.
#[derive(Clone, Debug)]
pub(crate) struct TimerTable {
    expiries: [Instant; 5],
    /// The wheel on which the timers of the sender run, if they are not exact: one for each,
    /// because in Linux only one of them runs.
    wheels: Option<Box<[Wheel; 3]>>,
}

impl TimerTable {
    /// No timer runs. Those of the sender run on Linux's wheel if `clock` says so.
    pub fn new(clock: TimerClock) -> Self {
        let wheels = match clock {
            TimerClock::Wheel(tick) if !tick.is_zero() => {
                Some(Box::new(core::array::from_fn(|_| Wheel::new(tick))))
            }
            TimerClock::Exact | TimerClock::Ticks | TimerClock::Wheel(_) => None,
        };
        Self { expiries: [Instant::NEVER; 5], wheels }
    }

    /// Sets the timer at `at` to expire at `due`, or when the wheel allows.
    #[inline(always)]
    pub fn schedule(&mut self, timer: Timer, due: Instant, at: Instant) {
        let wheel = self.wheels.as_mut().and_then(|wheels| wheels.get_mut(timer as usize));
        let expiry = match wheel {
            Some(wheel) if due > at => wheel.expiry(at, due),
            _ => due,
        };
        self.set(timer, expiry);
    }

    #[inline(always)]
    pub fn set(&mut self, timer: Timer, at: Instant) {
        self.expiries[timer as usize] = at;
    }

    #[inline(always)]
    pub fn stop(&mut self, timer: Timer) {
        self.set(timer, Instant::NEVER);
    }

    /// Sets the timer to expire at `at`, or stops it.
    #[inline]
    pub fn arm(&mut self, timer: Timer, at: Option<Instant>) {
        self.set(timer, at.unwrap_or(Instant::NEVER));
    }

    /// The expiry of the timer; `None`: it is not running.
    #[inline(always)]
    pub fn get(&self, timer: Timer) -> Option<Instant> {
        Some(self.expiries[timer as usize]).filter(|at| *at < Instant::NEVER)
    }

    #[inline(always)]
    pub fn is_running(&self, timer: Timer) -> bool {
        self.expiries[timer as usize] < Instant::NEVER
    }

    #[inline]
    pub fn has_expired(&self, timer: Timer, now: Instant) -> bool {
        self.get(timer).is_some_and(|at| at <= now)
    }

    /// The earliest expiry of these timers.
    #[inline(always)]
    pub fn first(&self, timers: &[Timer]) -> Option<Instant> {
        let at = |timer: &Timer| self.expiries[*timer as usize];
        timers.iter().map(at).min().filter(|at| *at < Instant::NEVER)
    }
}
