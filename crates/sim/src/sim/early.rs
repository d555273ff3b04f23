//! Many flows meet at a bottleneck, each behind an access link. What comes to it within the delay of
//! those is under way already, so that all of it is let in at once, instead of one by one between
//! arrivals.

use rtolab_time::Instant;

use super::Sim;
use crate::transit::Due;

/// So many packets before one comes there what counts its loss is fetched.
const COUNT: usize = 3;

impl Sim {
    /// Something came out of a run: what comes out of it next goes on, too, as far as nothing else can
    /// come to the same pipes before it. Not where somebody looks on, to whom the order would matter.
    #[inline(always)]
    pub(super) fn go_on_early(&mut self, (run, due): (usize, Due), end: Instant) {
        let gives_notice = self.runs.get(run).is_some_and(|run| !run.notice.is_zero());
        if gives_notice && self.is_unobserved {
            self.go_on_together((run, due), end);
        }
    }

    #[inline(never)]
    fn go_on_together(&mut self, (run, mut due): (usize, Due), end: Instant) {
        let is_end = |other: usize| self.runs.get(other).is_some_and(|other| other.is_end);
        let Some(other) = self.transit.first_but(run, is_end) else { return };
        let known = self.now + self.runs[run].notice;
        while let Some((next, slot)) = self.transit.first_of(run) {
            if next >= other || next.at() >= known || next.at() > end {
                break;
            }
            self.transit.pop_of(run);
            self.counters.events += u64::from(next != due);
            due = next;
            self.transit.fetch_of(run);
            self.transit.oldest_of(run, COUNT).into_iter().for_each(|it| self.fetch_count(it));
            let of_packet = self.transit.bytes_and_step(slot);
            self.go_through_at(slot, of_packet, due.at());
        }
        self.transit.look_at(run);
    }
}
