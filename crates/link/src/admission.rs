//! Admission to a queue: its limit and its discipline.

use rtolab_time::Instant;

use crate::config::{Discipline, Limit};
use crate::frame::{DropCause, Frame};
use crate::occupancy::Occupancy;
use crate::red::{Early, RandomEarly};
use crate::reseed::Visit;
use crate::stream::Stream;

/// The decision about an arriving frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AdmissionDecision {
    Enqueue,
    /// Enqueue the frame, and mark it CE (RFC 3168).
    EnqueueMarked,
    Drop(DropCause),
}

/// The state of the queue when a frame arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backlog {
    /// The waiting frames, without the one in transmission.
    pub(crate) waiting: Occupancy,
    /// When the transmitter finishes all frames so far. If that is in the past, it has been idle
    /// since.
    pub(crate) idle_from: Instant,
}

/// Decides at the entrance of a queue. CoDel decides at its exit, so only the limit counts for it
/// here.
#[derive(Clone, Debug)]
pub(crate) struct Admission {
    limit: Limit,
    early: Option<RandomEarly>,
}

impl Admission {
    /// `stream` is the direction's; RED draws from its child `red`.
    pub(crate) fn new(limit: Limit, discipline: Discipline, stream: Stream) -> Self {
        let early = match discipline {
            Discipline::Red(red) => Some(RandomEarly::new(red, stream.child("red"))),
            Discipline::DropTail | Discipline::CoDel(_) => None,
        };
        Self { limit, early }
    }

    /// Passes everything in it that is random to `visit`.
    pub(crate) fn visit(&mut self, visit: Visit<'_>) {
        if let Some(red) = &mut self.early {
            red.visit(visit);
        }
    }

    /// The limit, if nothing else decides.
    pub(crate) fn plain(&self) -> Option<Limit> {
        self.early.is_none().then_some(self.limit)
    }

    /// Decides about a frame of that size on the link that has to wait.
    #[inline]
    pub(crate) fn decide<F: Frame>(
        &mut self,
        backlog: Backlog,
        (frame, bytes): (&F, u32),
        at: Instant,
    ) -> AdmissionDecision {
        let fits = self.limit.holds(backlog.waiting.with(bytes));
        let Some(red) = &mut self.early else {
            return if fits {
                AdmissionDecision::Enqueue
            } else {
                AdmissionDecision::Drop(DropCause::Queue)
            };
        };
        let length = length(self.limit, backlog.waiting);
        let early = red.arrival(length, at.since(backlog.idle_from), at);
        if !fits {
            red.overflow();
            return AdmissionDecision::Drop(DropCause::Queue);
        }
        match early {
            Early::Keep => AdmissionDecision::Enqueue,
            Early::Mark if frame.is_ecn_capable() => AdmissionDecision::EnqueueMarked,
            Early::Mark | Early::Drop => AdmissionDecision::Drop(DropCause::Early),
        }
    }

    /// Updates the average for a frame that need not wait; such a frame is never dropped.
    #[inline]
    pub(crate) fn pass(&mut self, idle_from: Instant, at: Instant) {
        if let Some(red) = &mut self.early {
            red.arrival(0.0, at.since(idle_from), at);
        }
    }
}

/// The length of a queue in the unit of its limit.
fn length(limit: Limit, waiting: Occupancy) -> f64 {
    match limit {
        Limit::Bytes(_) => waiting.bytes as f64,
        Limit::Packets(_) | Limit::Unlimited => f64::from(waiting.packets),
    }
}

#[cfg(test)]
mod tests;
