//! The wake-up times of connections.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rtolab_time::Instant;

use super::table::Id;

/// The number of obsolete times that are not removed.
const SPARE: usize = 1024;

/// The wake-up times of connections, the earliest first. A new time does not remove the previous
/// one, which is discarded when it comes.
#[derive(Debug, Default)]
pub(crate) struct Timers(BinaryHeap<Reverse<(Instant, Id)>>);

impl Timers {
    /// Schedules the wake-up of connection `id` at `due`. `wake_at` is its earliest pending time.
    pub(crate) fn schedule(&mut self, id: Id, wake_at: &mut Option<Instant>, due: Option<Instant>) {
        let Some(due) = due else { return };
        if wake_at.is_none_or(|wake_at| due < wake_at) {
            *wake_at = Some(due);
            self.0.push(Reverse((due, id)));
        }
    }

    /// Removes and returns the next wake-up time up to `now`, with its connection.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<(Instant, Id)> {
        let Reverse((due, _)) = self.0.peek()?;
        if *due > now {
            return None;
        }
        self.0.pop().map(|Reverse(wake_at)| wake_at)
    }

    /// Removes the obsolete times, those for which `is_current` is false, if there are many: they
    /// may be hours ahead.
    pub(crate) fn prune(&mut self, connections: usize, is_current: impl Fn(Instant, Id) -> bool) {
        if self.0.len() > 2 * connections + SPARE {
            self.0.retain(|Reverse((due, id))| is_current(*due, *id));
            self.0.shrink_to(2 * self.0.len() + SPARE);
        }
    }

    /// The next time.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.0.peek().map(|Reverse((due, _))| *due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn the_earliest_time_comes_first_and_a_later_one_is_not_scheduled() {
        let (mut timers, [mut one, mut two]) = (Timers::default(), [None; 2]);
        let [a, b] = [Id::new(0, 0), Id::new(1, 0)];
        timers.schedule(a, &mut one, Some(at(5)));
        timers.schedule(a, &mut one, Some(at(9)));
        timers.schedule(b, &mut two, Some(at(7)));
        timers.schedule(a, &mut one, Some(at(3)));
        assert_eq!((one, timers.next()), (Some(at(3)), Some(at(3))));
        assert_eq!(timers.pop(at(2)), None);
        let popped: Vec<_> = std::iter::from_fn(|| timers.pop(at(20))).collect();
        assert_eq!(popped, [(at(3), a), (at(5), a), (at(7), b)]);
        assert_eq!(timers.next(), None);
    }

    #[test]
    fn obsolete_times_do_not_accumulate() {
        let mut timers = Timers::default();
        for place in 0..100_000 {
            timers.schedule(Id::new(place, 0), &mut None, Some(at(7_440_000)));
            timers.prune(1, |_, id| id == Id::new(7, 0));
            assert!(timers.0.len() <= SPARE + 3);
        }
        assert_eq!(timers.pop(at(8_000_000)), Some((at(7_440_000), Id::new(7, 0))));
    }
}
