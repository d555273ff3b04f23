//! Software prefetching. The state of many flows does not fit the cache, so we prefetch along the
//! chain of pointers packet -> flow -> flight a few packets ahead. Each load needs the result of
//! the previous one, so each has its own distance.

use rtolab_net::Packet;
use rtolab_record::Place;

use super::{Entity, Sim};
use crate::flow::SimFlow;
use crate::links::SimStep;
use crate::prefetch::{prefetch, prefetch_after, prefetch_at, prefetch_packet, prefetch_row};

/// The number of packets by which the entry of the run is prefetched ahead. The entry has the
/// packet's slot.
const ENTRY: usize = 64;

/// The number of packets by which the packet is prefetched ahead.
const PACKET: usize = 24;

/// The number of packets by which the flow of an arriving packet is prefetched ahead.
const FLOW: usize = 14;

/// The number of packets by which the flight and the timer are prefetched ahead.
const FLIGHT: usize = 8;

/// The number of packets by which the pipes of the reply are prefetched ahead.
const PIPE: usize = 4;

/// The maximum number of pipes that a reply enters at once: a bottleneck and an access link.
const PIPES: usize = 2;

/// The size of the part of a pipe that a frame needs, in bytes.
const BYTES_OF_PIPE: usize = 192;

impl Sim {
    /// Prefetches the state of packets that will leave the next run soon.
    #[inline(never)]
    pub(super) fn prefetch_ahead(&self) {
        let Some((number, run)) = self.transit.next_run() else { return };
        let nth = |others| run.oldest(others).map(|waiting| self.transit.waiting(*waiting));
        run.oldest(ENTRY).into_iter().for_each(prefetch);
        if let Some(packet) = nth(PACKET) {
            prefetch_packet(packet);
        }
        if !self.transit.flows_exceed_cache() || !self.runs[number].has_arrivals {
            return;
        }
        if let Some(packet) = nth(FLOW) {
            prefetch_at(&self.steps, packet.step as usize);
            self.flows[packet.flow as usize].prefetch(packet.destination());
        }
        if let Some(packet) = nth(FLIGHT) {
            self.prefetch_flight(packet);
        }
        if let Some(packet) = nth(PIPE) {
            self.prefetch_pipes(self.step_of_reply(packet));
            self.prefetch_out_of_order(packet);
        }
    }

    /// Prefetches the out-of-order queue of the peer of a sender in recovery. It shows whether a
    /// retransmission is needed.
    #[inline(always)]
    fn prefetch_out_of_order(&self, packet: &Packet) {
        let [sender, receiver] = &self.flows[packet.flow as usize].ends;
        let is_recovering = || sender.flight().is_some_and(|flight| flight.sacked() > 0);
        if !packet.to_receiver && is_recovering() {
            receiver.newest_out_of_order().into_iter().for_each(prefetch);
        }
    }

    /// Prefetches the loss counter of a packet that will reach the bottleneck soon.
    #[inline(always)]
    pub(super) fn prefetch_count(&self, packet: &Packet) {
        if self.transit.flows_exceed_cache() {
            prefetch(&self.flows[packet.flow as usize].in_network);
        }
    }

    /// Prefetches the pipes from `step` on that a packet enters at once.
    #[inline(always)]
    fn prefetch_pipes(&self, step: usize) {
        for step in self.steps[step..].iter().take(PIPES) {
            let (SimStep::Pipe { pipe_index, .. } | SimStep::PipeToPipe { pipe_index, .. }) = *step
            else {
                return;
            };
            if let Some(pipe) = self.pipes.get(pipe_index as usize) {
                prefetch_row(pipe.delay(), 0..BYTES_OF_PIPE);
            }
            if !matches!(step, SimStep::PipeToPipe { .. }) {
                return;
            }
        }
    }

    /// The first step of the reply to a packet.
    #[inline(always)]
    fn step_of_reply(&self, packet: &Packet) -> usize {
        self.flows[packet.flow as usize].last_route(packet.destination()) as usize
    }

    /// Prefetches the flight and the timer of a packet's flow, and the first step of the reply.
    #[inline(always)]
    fn prefetch_flight(&self, packet: &Packet) {
        let (flow, place) = (packet.flow as usize, packet.destination());
        prefetch(self.queue.slot(self.number(Entity::Host(flow, place))));
        prefetch_at(&self.steps, self.step_of_reply(packet));
        let [sender, receiver] = &self.flows[flow].ends;
        match place {
            Place::Sender => {
                let Some(flight) = sender.flight() else { return };
                flight.head().into_iter().for_each(prefetch);
                flight.last().into_iter().for_each(prefetch_after);
                flight.known_block().into_iter().for_each(prefetch);
                if flight.sacked() > 0 {
                    receiver.prefetch_out_of_order();
                }
            }
            Place::Receiver => {
                sender.copies.last().into_iter().for_each(prefetch);
                receiver.newest_out_of_order().into_iter().for_each(prefetch);
            }
        }
    }

    /// Prefetches the flow whose timer expires next.
    #[inline(never)]
    pub(super) fn prefetch_next_timer(&self) {
        if let Entity::Host(flow, place) = self.entity(self.queue.first().1) {
            self.flows.get(flow).into_iter().for_each(|flow| flow.prefetch(place));
        }
    }
}

impl SimFlow {
    /// Prefetches the state that a packet arriving at `place` needs.
    #[inline(always)]
    fn prefetch(&self, place: Place) {
        prefetch(&self.in_network);
        if place == Place::Receiver {
            prefetch(&self.end(Place::Sender).copies);
        }
        self.end(place).prefetch(place);
    }
}
