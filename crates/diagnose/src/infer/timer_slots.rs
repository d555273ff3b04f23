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

#[cfg(test)]
mod tests {
    use super::*;

    /// Times that are this multiple of a millisecond.
    fn name(expired: &[(u32, f64)]) -> Option<&'static str> {
        let expired: Vec<(f64, f64)> =
            expired.iter().map(|&(millis, ran)| (f64::from(millis) / 1000.0, ran)).collect();
        find_timer_slots(&expired).map(|slots| slots.timer)
    }

    /// Linux's `timer.c` lists the granularity of each level.
    #[test]
    fn the_slots_are_those_of_the_levels_of_the_timer_wheel() {
        for (ran, tick, expected) in [
            (0.2, 0.004, 0.004),
            (0.251, 0.004, 0.004),
            (0.253, 0.004, 0.032),
            (2.015, 0.004, 0.032),
            (2.017, 0.004, 0.256),
            (16.13, 0.004, 2.048),
            (0.062, 0.001, 0.001),
            (0.064, 0.001, 0.008),
            (0.505, 0.001, 0.064),
        ] {
            assert!((slot(ran, tick) - expected).abs() < 1e-9, "{ran} s, ticks of {tick} s");
        }
    }

    /// A timer of 0.3 s has slots of 32 ms with 250 Hz, and of 8 ms with 1000 Hz.
    #[test]
    fn the_longer_slots_that_match_identify_the_clock() {
        assert_eq!(name(&[(1005, 0.3), (2029, 0.3), (5037, 0.3)]), Some("wheel-250"));
        assert_eq!(name(&[(1005, 0.3), (2029, 0.3), (5045, 0.3)]), Some("wheel-1000"));
        assert_eq!(name(&[(1005, 0.3), (2029, 0.3), (5049, 0.3)]), None);
        assert_eq!(name(&[(1005, 0.3)]), Some("wheel-250"));
        assert_eq!(name(&[]), None);
    }

    /// Expiries are late by 2 ms at most.
    #[test]
    fn expiries_in_one_slot_differ_by_2_ms_at_most() {
        assert_eq!(name(&[(1002, 0.3), (2024, 0.3), (5034, 0.3)]), Some("wheel-250"));
        assert_eq!(name(&[(1002, 0.3), (2021, 0.3), (5034, 0.3)]), None);
    }

    /// A short timer ends in finer slots than a long one.
    #[test]
    fn each_timer_ends_in_slots_of_its_own_length() {
        let slots = find_timer_slots(&[(0.325, 0.3), (10.245, 3.0), (12.805, 3.0)]).unwrap();
        assert_eq!(slots.timer, "wheel-250");
        assert!((slots.shift() - 0.251).abs() < 1e-6, "{}", slots.shift());
        assert_eq!(name(&[(329, 0.3), (10_245, 3.0), (12_805, 3.0)]), None);
    }
}
