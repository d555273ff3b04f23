//! Forks with other random numbers, which run until a rare quantity reaches a value.

use rtolab_record::Place;
use rtolab_time::Instant;

use super::{Entity, Sim};
use crate::rare::RareQuantity;

impl Sim {
    /// Observes nothing but timeouts and, if the run is scored, their ground truth.
    pub(crate) fn counting_timeouts(mut self) -> Self {
        let scoring = self.scoring.take();
        self.stop_observing();
        self.is_unobserved = scoring.is_none();
        Self { scoring, ..self }
    }

    /// A fork that continues with other random numbers, which depend on those so far and on `salt`
    /// alone.
    pub(crate) fn fork_with(&self, salt: u64) -> Self {
        let mut fork = self.clone();
        for link in &mut fork.links {
            if let Some(channel) = link.channel() {
                channel.reseed(salt);
            }
        }
        for used in &mut fork.applications {
            used.application.reseed(salt);
        }
        fork
    }

    /// Runs until the quantity is at least `level`; false if that does not happen until `end`.
    pub(crate) fn run_to(&mut self, quantity: RareQuantity, level: u32, end: Instant) -> bool {
        let is_reached = |sim: &Self, flow: usize| sim.flows[flow].rare(quantity) >= Some(level);
        if (0..self.flows.len()).any(|flow| is_reached(self, flow)) {
            return true;
        }
        loop {
            // Nothing but a timer causes a timeout.
            let timer = self.next_sender_timer();
            if !self.step(end) {
                return false;
            }
            if timer.is_some_and(|flow| is_reached(self, flow)) {
                return true;
            }
        }
    }

    /// The flow whose sender has a timer that is the next event.
    fn next_sender_timer(&self) -> Option<usize> {
        let (at, slot) = self.queue.first();
        let out = self.transit.next().at();
        match self.entity(slot) {
            Entity::Host(flow, Place::Sender) if at != Instant::NEVER && at <= out => Some(flow),
            _ => None,
        }
    }
}
