//! Batches at a bottleneck that access links feed. All packets that reach the bottleneck within the
//! delay of the access links are already in flight (the *lookahead* of conservative event
//! simulation), so they enter it in one loop instead of one by one between other events.

use rtolab_time::Instant;

use super::Sim;
use crate::transit::PipeEvent;

/// The number of packets by which the loss counter of a flow is prefetched ahead.
const COUNT: usize = 3;

impl Sim {
    /// Forwards further packets of the run of `due`, as long as no other packet can reach the same
    /// pipes earlier. An observed run has single events, because it records their order.
    #[inline(always)]
    pub(super) fn try_batch(&mut self, (run, due): (usize, PipeEvent), end: Instant) {
        let has_lookahead = self.runs.get(run).is_some_and(|run| !run.lookahead.is_zero());
        if has_lookahead && self.is_unobserved {
            self.forward_batch((run, due), end);
        }
    }

    #[inline(never)]
    fn forward_batch(&mut self, (run, mut due): (usize, PipeEvent), end: Instant) {
        let all_arrive = |other: usize| self.runs.get(other).is_some_and(|other| other.all_arrive);
        let Some(other) = self.transit.first_except(run, all_arrive) else { return };
        let known = self.now + self.runs[run].lookahead;
        while let Some((next, slot)) = self.transit.first_of(run) {
            if next >= other || next.at() >= known || next.at() > end {
                break;
            }
            self.transit.pop_run(run);
            self.counters.events += u64::from(next != due);
            due = next;
            self.transit.prefetch_run(run);
            self.transit.nth_of_run(run, COUNT).into_iter().for_each(|it| self.prefetch_count(it));
            let of_packet = self.transit.bytes_and_step(slot);
            self.forward_in_place(slot, of_packet, due.at());
        }
        self.transit.update_head(run);
    }
}
