//! The slots in which a sender's timers expire, as those of Linux do, inferred from when they did.
//!
//! Linux puts a timer into a slot that is the longer, the longer the timer is to run: of 32 ms from
//! 252 ms on and of 256 ms from 2 s on, where a second has 250 ticks (`calc_wheel_index`). What was
//! waited for may come within that.

/// What a scenario calls the timer, and the length of its tick in seconds.
const TICKS: [(&str, f64); 2] = [("wheel-250", 0.004), ("wheel-1000", 0.001)];
/// Ticks that the lowest level reaches; a slot of a level in slots of the one below; levels.
const LOWEST: f64 = 63.0;
const COARSER: f64 = 8.0;
const LEVELS: u32 = 4;
/// How far from each other timers of one slot may expire, in seconds.
const LATE: f64 = 0.002;

/// Slots of timers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimerSlots {
    /// As `tcp.rto.timer` has it.
    pub(crate) timer: &'static str,
    /// Of a slot's end from the beginning of the connection, in seconds; less than `slot`.
    offset: f64,
    /// The longest seen, in seconds.
    slot: f64,
}

impl TimerSlots {
    /// A slot ends at a multiple of its length so much later, in seconds.
    pub(crate) fn shift(&self) -> f64 {
        (-self.offset).rem_euclid(self.slot)
    }
}

/// The slots that the sender's timeouts fit to [`LATE`], the coarser clock's if both do; `None` if
/// there are no timeouts, or they fit none. One timeout fits always. `expired` has the time of each
/// and how long the timer had run, in seconds.
pub(crate) fn find_timer_slots(expired: &[(f64, f64)]) -> Option<TimerSlots> {
    // Of equal slots the first clock's.
    let found = TICKS.iter().rev().filter_map(|(timer, tick)| fit(timer, *tick, expired));
    found.max_by(|one, other| one.slot.total_cmp(&other.slot))
}

/// The slots of a clock that fit these times at which timers expired, and how long they had run.
fn fit(timer: &'static str, tick: f64, expired: &[(f64, f64)]) -> Option<TimerSlots> {
    let slots: Vec<(f64, f64)> = expired.iter().map(|&(t, ran)| (slot(ran, tick), t)).collect();
    let longest = slots.iter().max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let &(slot, offset) = longest?;
    let fits = |&(each, t): &(f64, f64)| (t - offset + LATE).rem_euclid(each) <= 2.0 * LATE;
    slots.iter().all(fits).then_some(TimerSlots { timer, offset: offset.rem_euclid(slot), slot })
}

/// How long the slots of timers are that run so long, in seconds.
fn slot(ran: f64, tick: f64) -> f64 {
    let coarser = |level: u32| libm::pow(COARSER, f64::from(level));
    let level = (0..LEVELS).filter(|level| ran >= tick * LOWEST * coarser(*level)).count();
    tick * coarser(level as u32)
}
