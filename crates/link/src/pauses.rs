//! The times at which a transmitter cannot work.

use alloc::boxed::Box;

use rtolab_time::{Duration, Instant};

use crate::priority::Interruptions;
use crate::reseed::Visit;
use crate::timeline::{Interrupting, Timeline};

/// The transmitter's stalls, and the packets of a source of higher priority.
#[derive(Clone, Debug)]
pub(crate) struct Pauses {
    pub(crate) stalls: Timeline,
    interruptions: Option<Box<Interruptions>>,
}

impl Pauses {
    pub(crate) fn new(stalls: Timeline, interruptions: Option<Interruptions>) -> Self {
        Self { stalls, interruptions: interruptions.map(Box::new) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.stalls.is_empty() && self.interruptions.is_none()
    }

    /// Passes everything in it that is random to `visit`.
    pub(crate) fn visit(&mut self, visit: Visit<'_>) {
        self.stalls.visit(visit);
        if let Some(interruptions) = &mut self.interruptions {
            interruptions.visit(visit);
        }
    }

    /// When work that begins at `start`, outside pauses, is done.
    #[inline]
    pub(crate) fn work_through(&mut self, start: Instant, work: Duration) -> Instant {
        match self.interruptions {
            None => self.stalls.work_through(start, work),
            Some(_) => self.find_work_through(start, work),
        }
    }

    fn find_work_through(&mut self, start: Instant, work: Duration) -> Instant {
        let (mut at, mut left) = (start, work);
        while at < Instant::NEVER {
            let until = self.next_change(at);
            if until == Instant::NEVER || left <= until.since(at) {
                return at + left;
            }
            left -= until.since(at);
            at = self.release(until);
        }
        at
    }

    /// Discards the past before `at`.
    #[inline]
    pub(crate) fn forget_before(&mut self, at: Instant) {
        self.stalls.forget_before(at);
        if let Some(interruptions) = &mut self.interruptions {
            interruptions.forget_before(at);
        }
    }
}

impl Interrupting for Pauses {
    #[inline]
    fn release(&mut self, at: Instant) -> Instant {
        let released = self.stalls.release(at);
        match &mut self.interruptions {
            None => released,
            Some(interruptions) => interruptions.release(released, &mut self.stalls),
        }
    }

    fn next_change(&mut self, at: Instant) -> Instant {
        let stall = self.stalls.next_change(at);
        match &mut self.interruptions {
            None => stall,
            Some(interruptions) => stall.min(interruptions.next_change(at)),
        }
    }
}
