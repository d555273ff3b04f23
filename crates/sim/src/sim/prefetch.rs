//! Software prefetching. The state of many flows does not fit the cache, so we prefetch along the
//! chain of pointers packet -> flow -> flight a few packets ahead: each load needs the result of
//! the one before it, so each is done at its own distance.

use rtolab_net::Packet;
use rtolab_record::Place;

use super::{Entity, Sim};
use crate::flow::SimFlow;
use crate::links::SimStep;
use crate::prefetch::{prefetch, prefetch_at, prefetch_behind, prefetch_packet, prefetch_row};

/// How many packets ahead the entry of the run is prefetched, which holds the packet's slot.
const ENTRY: usize = 64;

/// How many packets ahead the packet is prefetched.
const PACKET: usize = 24;

/// How many packets ahead the flow is prefetched, for packets that arrive.
const FLOW: usize = 14;

/// How many packets ahead the flight and the timer are prefetched.
const FLIGHT: usize = 8;

/// How many packets ahead the pipes are prefetched that the reply enters.
const PIPE: usize = 4;

/// How many pipes a reply may enter at once: those of a bottleneck and of an access link.
const PIPES: usize = 2;

/// How much of a pipe a frame needs, in bytes.
const BYTES_OF_PIPE: usize = 192;

impl Sim {
    /// Prefetches for the packets of the run that leave soon.
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
            self.prefetch_pieces(packet);
        }
    }

    /// Prefetches the out-of-order queue of the peer of a sender in recovery: it says whether a
    /// retransmission is needed.
    #[inline(always)]
    fn prefetch_pieces(&self, packet: &Packet) {
        let [sender, receiver] = &self.flows[packet.flow as usize].ends;
        let is_recovering = || sender.flight().is_some_and(|flight| flight.sacked() > 0);
        if !packet.to_receiver && is_recovering() {
            receiver.newest_piece().into_iter().for_each(prefetch);
        }
    }

    /// Prefetches the loss counter of a packet that soon reaches the bottleneck.
    #[inline(always)]
    pub(super) fn prefetch_count(&self, packet: &Packet) {
        if self.transit.flows_exceed_cache() {
            prefetch(&self.flows[packet.flow as usize].under_way);
        }
    }

    /// Prefetches the pipes from `step` on that a packet enters at once.
    #[inline(always)]
    fn prefetch_pipes(&self, step: usize) {
        for step in self.steps[step..].iter().take(PIPES) {
            let (SimStep::Pipe { place, .. } | SimStep::PipeToPipe { place, .. }) = *step else {
                return;
            };
            if let Some(pipe) = self.pipes.get(place as usize) {
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
                flight.last().into_iter().for_each(prefetch_behind);
                flight.known_block().into_iter().for_each(prefetch);
                if flight.sacked() > 0 {
                    receiver.prefetch_pieces();
                }
            }
            Place::Receiver => {
                sender.copies.last().into_iter().for_each(prefetch);
                receiver.newest_piece().into_iter().for_each(prefetch);
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
    /// Prefetches what a packet needs that arrives at `place`.
    #[inline(always)]
    fn prefetch(&self, place: Place) {
        prefetch(&self.under_way);
        if place == Place::Receiver {
            prefetch(&self.end(Place::Sender).copies);
        }
        self.end(place).prefetch(place);
    }
}
