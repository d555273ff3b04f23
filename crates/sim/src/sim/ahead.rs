//! Of many flows the processor's caches hold few: what the packets that come out soon will ask for is
//! fetched before they do, step by step, for where the one lies says the other.

use rtolab_net::Packet;
use rtolab_record::Place;

use super::{Entity, Sim};
use crate::fetch::{fetch, fetch_at, fetch_behind};
use crate::flow::Flow;
use crate::links::Stage;

/// So many of a run come out before the packet that is fetched: it was put there a round trip ago.
const PACKET: usize = 16;

/// The same for the state of its flow, where it is at its end.
const FLOW: usize = 10;

/// The same for what that leads to.
const BEYOND: usize = 6;

/// The same for the pipe that its answer enters.
const PIPE: usize = 3;

impl Sim {
    /// Has the processor fetch what packets will ask for that come out of the same run as the next one.
    #[inline(never)]
    pub(super) fn fetch_ahead(&self) {
        let Some((number, run)) = self.transit.next_run() else { return };
        let behind = |others| run.oldest(others).map(|waiting| self.transit.waiting(*waiting));
        if let Some(packet) = behind(PACKET) {
            fetch(packet);
            fetch(&packet.segment.flags);
        }
        if !self.transit.is_overcrowded() || !self.runs[number].is_last {
            return;
        }
        if let Some(packet) = behind(FLOW) {
            fetch_at(&self.stages, packet.step as usize);
            self.flows[packet.flow as usize].fetch(packet.destination());
        }
        if let Some(packet) = behind(BEYOND) {
            self.fetch_beyond(packet);
        }
        if let Some(packet) = behind(PIPE) {
            if let Some(Stage::Pipe { place, .. } | Stage::PipeToPipe { place, .. }) =
                self.stages.get(self.step_of_answer(packet))
            {
                fetch_at(&self.pipes, *place as usize);
            }
        }
    }

    /// What the answer to a packet meets first.
    #[inline(always)]
    fn step_of_answer(&self, packet: &Packet) -> usize {
        self.flows[packet.flow as usize].last_way(packet.destination()) as usize
    }

    /// What the state of a packet's flow leads to: what it has in flight, its timer, and what its answer
    /// meets first.
    #[inline(always)]
    fn fetch_beyond(&self, packet: &Packet) {
        let (flow, place) = (packet.flow as usize, packet.destination());
        fetch(self.queue.slot(self.number(Entity::Host(flow, place))));
        fetch_at(&self.stages, self.step_of_answer(packet));
        let flight = self.flows[flow].end(place).flight();
        if let Some(flight) = flight.filter(|_| place == Place::Sender) {
            flight.head().into_iter().for_each(fetch);
            flight.last().into_iter().for_each(fetch_behind);
        }
    }

    /// The same of the flow whose timer expires next.
    #[inline(never)]
    pub(super) fn fetch_next_timer(&self) {
        if let Entity::Host(flow, place) = self.entity(self.queue.first().1) {
            self.flows.get(flow).into_iter().for_each(|flow| flow.fetch(place));
        }
    }
}

impl Flow {
    /// Has the processor fetch what a packet that arrives at `place` will ask for.
    #[inline(always)]
    fn fetch(&self, place: Place) {
        fetch(&self.under_way);
        fetch(&self.tally.delay);
        fetch(&self.end(place.other()).copies);
        self.end(place).fetch();
    }
}
