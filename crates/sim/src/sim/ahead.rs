//! Of many flows the processor's caches hold few: what the packets that come out soon will ask for is
//! fetched before they do, step by step, for where the one lies says the other.

use rtolab_net::Packet;
use rtolab_record::Place;

use super::{Entity, Sim};
use crate::fetch::{fetch, fetch_at, fetch_behind, fetch_packet, fetch_row};
use crate::flow::Flow;
use crate::links::Stage;

/// So many of a run come out before what says where the packet lies.
const PLACE: usize = 64;

/// So many of a run come out before the packet that is fetched: it was put there a round trip ago.
const PACKET: usize = 24;

/// The same for the state of its flow, where it is at its end.
const FLOW: usize = 14;

/// The same for what that leads to.
const BEYOND: usize = 8;

/// The same for the pipes that its answer enters.
const PIPE: usize = 4;

/// So many pipes an answer may enter at once: those of a bottleneck and of an access link.
const PIPES: usize = 2;

/// What a pipe needs for a frame are so many bytes, from its beginning on.
const BYTES_OF_PIPE: usize = 192;

impl Sim {
    /// Has the processor fetch what packets will ask for that come out of the same run as the next one.
    #[inline(never)]
    pub(super) fn fetch_ahead(&self) {
        let Some((number, run)) = self.transit.next_run() else { return };
        let behind = |others| run.oldest(others).map(|waiting| self.transit.waiting(*waiting));
        run.oldest(PLACE).into_iter().for_each(fetch);
        if let Some(packet) = behind(PACKET) {
            fetch_packet(packet);
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
            self.fetch_pipes(self.step_of_answer(packet));
            self.fetch_pieces(packet);
        }
    }

    /// A sender that repairs losses may send again what has arrived: which pieces did, its peer knows.
    #[inline(always)]
    fn fetch_pieces(&self, packet: &Packet) {
        let [sender, receiver] = &self.flows[packet.flow as usize].ends;
        let repairs = || sender.flight().is_some_and(|flight| flight.sacked() > 0);
        if !packet.to_receiver && repairs() {
            receiver.newest_piece().into_iter().for_each(fetch);
        }
    }

    /// Of a packet that soon comes to the bottleneck: what counts its loss there, if it is refused.
    #[inline(always)]
    pub(super) fn fetch_count(&self, packet: &Packet) {
        if self.transit.is_overcrowded() {
            fetch(&self.flows[packet.flow as usize].under_way);
        }
    }

    /// The pipes from `step` on, as far as one enters them at once.
    #[inline(always)]
    fn fetch_pipes(&self, step: usize) {
        for stage in self.stages[step..].iter().take(PIPES) {
            let (Stage::Pipe { place, .. } | Stage::PipeToPipe { place, .. }) = *stage else {
                return;
            };
            if let Some(pipe) = self.pipes.get(place as usize) {
                fetch_row(pipe.delay(), 0..BYTES_OF_PIPE);
            }
            if !matches!(stage, Stage::PipeToPipe { .. }) {
                return;
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
        let [sender, receiver] = &self.flows[flow].ends;
        match place {
            Place::Sender => {
                let Some(flight) = sender.flight() else { return };
                flight.head().into_iter().for_each(fetch);
                flight.last().into_iter().for_each(fetch_behind);
                flight.known_block().into_iter().for_each(fetch);
                if flight.sacked() > 0 {
                    receiver.fetch_pieces();
                }
            }
            Place::Receiver => {
                sender.copies.last().into_iter().for_each(fetch);
                receiver.newest_piece().into_iter().for_each(fetch);
            }
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
        if place == Place::Receiver {
            fetch(&self.end(Place::Sender).copies);
        }
        self.end(place).fetch(place);
    }
}
