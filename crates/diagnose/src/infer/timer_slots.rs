//! The slots in which a sender's timers expire, as in Linux's timer wheel, inferred from timeouts.
//!
//! Longer timers have longer slots: with 250 ticks per second, 32 ms from 252 ms on and 256 ms from
//! 2 s on (`calc_wheel_index`). A timer expires at the end of a slot.

/// The values of `tcp.rto.timer`, with the length of a tick in seconds.
const TICKS: [(&str, f64); 2] = [("wheel-250", 0.004), ("wheel-1000", 0.001)];
/// The ticks of the lowest level, the ratio of slots of neighbouring levels, and the number of
/// levels.
const LOWEST: f64 = 63.0;
const COARSER: f64 = 8.0;
const LEVELS: u32 = 4;
/// The largest difference of expiries in one slot, in seconds.
const LATE: f64 = 0.002;

/// The slots of a timer wheel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimerSlots {
    /// The value of `tcp.rto.timer`.
    pub(crate) timer: &'static str,
    /// The end of a slot since the beginning of the connection, in seconds; less than `slot`.
    offset: f64,
    /// The longest slot seen, in seconds.
    slot: f64,
}

impl TimerSlots {
    /// The time in seconds from a slot's end to a multiple of its length.
    pub(crate) fn shift(&self) -> f64 {
        (-self.offset).rem_euclid(self.slot)
    }
}

/// The slots that match all timeouts to within [`LATE`]; if the slots of both clocks match, the
/// longer ones. `None` if there are no timeouts or if no slots match; a single timeout always
/// matches. `expired` has the time of each timeout and the length of its timer, in seconds.
pub(crate) fn find_timer_slots(expired: &[(f64, f64)]) -> Option<TimerSlots> {
    // `max_by` returns the last of equal slots, so the first clock comes last.
    let found = TICKS.iter().rev().filter_map(|(timer, tick)| fit(timer, *tick, expired));
    found.max_by(|one, other| one.slot.total_cmp(&other.slot))
}

/// The slots of one clock, if they match.
fn fit(timer: &'static str, tick: f64, expired: &[(f64, f64)]) -> Option<TimerSlots> {
    let slots: Vec<(f64, f64)> = expired.iter().map(|&(t, ran)| (slot(ran, tick), t)).collect();
    let longest = slots.iter().max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let &(slot, offset) = longest?;
    let fits = |&(each, t): &(f64, f64)| (t - offset + LATE).rem_euclid(each) <= 2.0 * LATE;
    slots.iter().all(fits).then_some(TimerSlots { timer, offset: offset.rem_euclid(slot), slot })
}

/// The length of the slot of a timer of this length, in seconds.
fn slot(ran: f64, tick: f64) -> f64 {
    let coarser = |level: u32| libm::pow(COARSER, f64::from(level));
    let level = (0..LEVELS).filter(|level| ran >= tick * LOWEST * coarser(*level)).count();
    tick * coarser(level as u32)
}
