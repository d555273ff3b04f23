//! The expiry of timers on Linux's timer wheel (`calc_wheel_index` of `kernel/time/timer.c`, since
//! Linux 4.8).
//!
//! Longer timers are in coarser slots: of one tick, of eight ticks for timers from 63 ticks, of 64
//! for timers from 504, and so on. A timer never expires early, and at most an eighth of its
//! timeout late. A connection has one timer for retransmission, reordering and probe.

use rtolab_time::{Duration, Instant};

/// The slots of a level are 2^`LEVEL_SHIFT` times as long as those of the level below.
const LEVEL_SHIFT: u32 = 3;

/// The number of ticks that the lowest level covers.
const LOWEST: u64 = 63;

/// The number of the highest level.
const LEVELS: u32 = 8;

/// The timer of a connection on the wheel.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    tick: Duration,
    /// The tick for which it was last set (`expires`).
    requested: u64,
    expiry: Instant,
}

impl Wheel {
    /// `tick` is not zero.
    pub const fn new(tick: Duration) -> Self {
        Self { tick, requested: 0, expiry: Instant::START }
    }

    /// The expiry if the timer is set at `at` to expire at `due`. A timer that runs for the same
    /// tick already stays in its slot, even if a later call would find a finer one (`__mod_timer`).
    pub fn expiry(&mut self, at: Instant, due: Instant) -> Instant {
        let timeout = due.since(at);
        let tick = self.tick.nanos();
        let requested = at.nanos() / tick + timeout.nanos().div_ceil(tick);
        if requested != self.requested || self.expiry <= at {
            (self.requested, self.expiry) = (requested, expiry(at, timeout, self.tick));
        }
        self.expiry
    }
}

/// The expiry of a timer that is set at `at` for `timeout`; `tick` is not zero. When a timer
/// expires, at a tick, the wheel is one tick ahead: a timer that is set then may be in a finer slot
/// (`__run_timers`).
pub(crate) fn expiry(at: Instant, timeout: Duration, tick: Duration) -> Instant {
    let ticks = timeout.nanos().div_ceil(tick.nanos());
    let left = ticks.saturating_sub(u64::from(at.nanos() % tick.nanos() == 0));
    let level = (1..=LEVELS).rev().find(|level| left >= LOWEST << (LEVEL_SHIFT * (level - 1)));
    let shift = LEVEL_SHIFT * level.unwrap_or(0);
    let slot = ((at.nanos() / tick.nanos() + ticks) >> shift) + 1;
    Instant::from_nanos((slot << shift).saturating_mul(tick.nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expires(at: u64, timeout: u64, tick: u64) -> u64 {
        let [timeout, tick] = [timeout, tick].map(Duration::from_millis);
        let at = Instant::START + Duration::from_millis(at) + Duration::from_micros(1);
        expiry(at, timeout, tick).nanos() / 1_000_000
    }

    #[test]
    fn longer_timers_have_coarser_slots() {
        assert_eq!(expires(0, 62, 1), 63);
        assert_eq!(expires(0, 63, 1), 64);
        assert_eq!(expires(0, 64, 1), 72);
        assert_eq!(expires(100, 503, 1), 608);
        assert_eq!(expires(100, 504, 1), 640);
        assert_eq!(expires(0, 4031, 1), 4032);
        assert_eq!(expires(0, 4032, 1), 4096);
        assert_eq!(expires(100, 503, 4), 608);
    }

    /// Linux 6.12: after the timeout at 416 ms, with an RTO of 252 ms, the next one was at 928 ms.
    #[test]
    fn a_timer_that_is_set_when_one_expires_may_be_in_a_finer_slot() {
        let tick = Duration::from_millis(1);
        let at = |micros| Instant::START + Duration::from_micros(micros);
        let timeout = Duration::from_millis(504);
        assert_eq!(expiry(at(416_000), timeout, tick), at(928_000));
        assert_eq!(expiry(at(416_001), timeout, tick), at(960_000));
    }

    /// A timer of 67 ticks from 1406 and one of 55 from 1418 are both requested for 1473.
    #[test]
    fn a_timer_for_the_same_tick_stays_in_its_slot() {
        let at = |millis| Instant::START + Duration::from_millis(millis);
        let mut wheel = Wheel::new(Duration::from_millis(1));
        assert_eq!(wheel.expiry(at(1406), at(1473)), at(1480));
        assert_eq!(wheel.expiry(at(1418), at(1473)), at(1480));
        assert_eq!(wheel.expiry(at(1418), at(1474)), at(1475));
        assert_eq!(wheel.expiry(at(1475), at(1474 + 60)), at(1535));
    }

    /// Linux 6.18 with 250 ticks a second, after the last acknowledgment: the first timeout
    /// occurred after 884.7 ms and the second 1728.0 ms later, where the RFC gives an RTO of
    /// 854.6 ms.
    #[test]
    fn timers_expire_as_late_as_those_of_a_kernel() {
        let offset = 5_078_991 % 32_000;
        let at = |micros: u64| Instant::START + Duration::from_micros(micros - offset);
        let tick = Duration::from_millis(4);
        let first = expiry(at(4_194_314), Duration::from_micros(854_629), tick);
        assert_eq!(first, at(5_078_991));
        let second = expiry(first, Duration::from_micros(1_709_258), tick);
        assert_eq!(second.since(first), Duration::from_millis(1728));
    }
}
