//! When each connection wants to be woken.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rtolab_time::Instant;

use super::table::Id;

/// So many times that nobody waits for are let be.
const SPARE: usize = 1024;

/// The times at which connections asked to be woken, the earliest first. Who asks for another time
/// leaves the one before where it is; it is looked at when it comes up.
#[derive(Debug, Default)]
pub(crate) struct Timers(BinaryHeap<Reverse<(Instant, Id)>>);

impl Timers {
    /// `id` wants to be woken at `due`; `asked` is the earliest time that it has asked for and not
    /// been woken at.
    pub(crate) fn ask(&mut self, id: Id, asked: &mut Option<Instant>, due: Option<Instant>) {
        let Some(due) = due else { return };
        if asked.is_none_or(|asked| due < asked) {
            *asked = Some(due);
            self.0.push(Reverse((due, id)));
        }
    }

    /// Who asked for a time that has come, and for which.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<(Instant, Id)> {
        let Reverse((due, _)) = self.0.peek()?;
        if *due > now {
            return None;
        }
        self.0.pop().map(|Reverse(asked)| asked)
    }

    /// Forgets the times at which nobody `wants` to be woken any more, where they are more than those
    /// of so many connections: they may lie hours ahead.
    pub(crate) fn prune(&mut self, connections: usize, wants: impl Fn(Instant, Id) -> bool) {
        if self.0.len() > 2 * connections + SPARE {
            self.0.retain(|Reverse((due, id))| wants(*due, *id));
            self.0.shrink_to(2 * self.0.len() + SPARE);
        }
    }

    /// When the next time comes.
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
