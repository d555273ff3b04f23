//! The wake-up times of connections.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rtolab_time::Instant;

use super::table::Id;

/// Up to this number obsolete times are not removed.
const SPARE: usize = 1024;

/// The wake-up times of connections, the earliest first. A new time does not remove the previous
/// one; that is checked when it comes.
#[derive(Debug, Default)]
pub(crate) struct Timers(BinaryHeap<Reverse<(Instant, Id)>>);

impl Timers {
    /// Connection `id` is to be woken at `due`; `asked` is its earliest pending time.
    pub(crate) fn ask(&mut self, id: Id, asked: &mut Option<Instant>, due: Option<Instant>) {
        let Some(due) = due else { return };
        if asked.is_none_or(|asked| due < asked) {
            *asked = Some(due);
            self.0.push(Reverse((due, id)));
        }
    }

    /// The next connection whose time has come, and that time.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<(Instant, Id)> {
        let Reverse((due, _)) = self.0.peek()?;
        if *due > now {
            return None;
        }
        self.0.pop().map(|Reverse(asked)| asked)
    }

    /// Removes the times that no connection `wants` any more, if there are more than those of the
    /// connections: they may lie hours ahead.
    pub(crate) fn prune(&mut self, connections: usize, wants: impl Fn(Instant, Id) -> bool) {
        if self.0.len() > 2 * connections + SPARE {
            self.0.retain(|Reverse((due, id))| wants(*due, *id));
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
    fn the_earliest_time_comes_first_and_a_later_one_is_not_asked_for_twice() {
        let (mut timers, [mut one, mut two]) = (Timers::default(), [None; 2]);
        let [a, b] = [Id::new(0, 0), Id::new(1, 0)];
        timers.ask(a, &mut one, Some(at(5)));
        timers.ask(a, &mut one, Some(at(9)));
        timers.ask(b, &mut two, Some(at(7)));
        timers.ask(a, &mut one, Some(at(3)));
        assert_eq!((one, timers.next()), (Some(at(3)), Some(at(3))));
        assert_eq!(timers.pop(at(2)), None);
        let popped: Vec<_> = std::iter::from_fn(|| timers.pop(at(20))).collect();
        assert_eq!(popped, [(at(3), a), (at(5), a), (at(7), b)]);
        assert_eq!(timers.next(), None);
    }

    #[test]
    fn times_that_nobody_waits_for_do_not_pile_up() {
        let mut timers = Timers::default();
        for place in 0..100_000 {
            timers.ask(Id::new(place, 0), &mut None, Some(at(7_440_000)));
            timers.prune(1, |_, id| id == Id::new(7, 0));
            assert!(timers.0.len() <= SPARE + 3);
        }
        assert_eq!(timers.pop(at(8_000_000)), Some((at(7_440_000), Id::new(7, 0))));
    }
}
