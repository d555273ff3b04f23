//! Forwarding: a packet goes from step to step of its route, through pipes and other links, past
//! middleboxes, to its destination.

use rtolab_link::DropCause;
use rtolab_net::Packet;
use rtolab_record::Fate;
use rtolab_time::Instant;

use super::Sim;
use crate::links::{SimStep, place};
use crate::transit::{PipeEvent, Slot};

/// What happens to a packet that is to enter the pipes ahead of it.
#[derive(Clone, Copy, Debug)]
enum PipeEntry {
    /// It waits in this run until `due`, and `step` is next.
    Waits { step: u32, run: u32, due: PipeEvent },
    /// The queue of one of the pipes is full when it arrives there.
    Refused(PipeEvent),
    /// The next step is no pipe.
    Other(SimStep),
}

impl Sim {
    /// Forwards the packet to its next step.
    #[inline(never)]
    pub(super) fn forward(&mut self, packet: &mut Packet) {
        self.forward_inline(packet);
    }

    /// [`Sim::forward`] for the hot path.
    #[inline(always)]
    pub(super) fn forward_inline(&mut self, packet: &mut Packet) {
        match self.enter_pipes((packet.bytes, packet.step), self.now) {
            PipeEntry::Waits { step, run, due } => {
                packet.step = step;
                let slot = self.transit.put(packet);
                self.transit.push(run as usize, due, slot);
            }
            PipeEntry::Refused(due) => self.schedule_drop(packet, due, self.now),
            PipeEntry::Other(step) => self.enter_step(step, packet),
        }
    }

    /// The packet enters a step that is no pipe.
    #[inline(never)]
    fn enter_step(&mut self, step: SimStep, packet: &mut Packet) {
        match step {
            SimStep::Channel { link, direction } => {
                let link = link as usize;
                if let Some(channel) = self.links[link].channel() {
                    channel.send(direction, *packet, self.now);
                }
                self.schedule_channel(link, direction);
            }
            SimStep::Middlebox(middlebox) => self.on_middlebox(middlebox as usize, *packet),
            SimStep::Arrival => self.on_arrival(packet),
            SimStep::Pipe { .. } | SimStep::PipeToPipe { .. } => self.forward(packet),
        }
    }

    /// The packet leaves a pipe.
    #[inline(always)]
    pub(super) fn on_pipe_exit(&mut self, slot: Slot) {
        let (bytes, step) = self.transit.bytes_and_step(slot);
        match self.steps[step as usize] {
            SimStep::Arrival => self.on_arrival_fast_path(slot),
            _ => self.forward_in_place(slot, (bytes, step), self.now),
        }
    }

    /// Forwards the packet at `at` without copying it out of its slot.
    #[inline(always)]
    pub(super) fn forward_in_place(&mut self, slot: Slot, (bytes, step): (u32, u32), at: Instant) {
        match self.enter_pipes((bytes, step), at) {
            PipeEntry::Waits { step, run, due } => {
                self.transit.packet_mut(slot).step = step;
                self.transit.push(run as usize, due, slot);
            }
            PipeEntry::Refused(due) => {
                let packet = self.transit.take(slot);
                self.schedule_drop(&packet, due, at);
            }
            PipeEntry::Other(step) => {
                let mut packet = self.transit.take(slot);
                self.enter_step(step, &mut packet);
            }
        }
    }

    /// A packet of `bytes` reaches `step` at `at`: it enters the pipe there, if it is one, and the
    /// pipes after it that no other link feeds.
    #[inline(always)]
    fn enter_pipes(&mut self, (bytes, mut step): (u32, u32), mut at: Instant) -> PipeEntry {
        loop {
            let (pipe, place, run) = match self.steps[step as usize] {
                SimStep::PipeToPipe { pipe, place } => (pipe, place, None),
                SimStep::Pipe { pipe, place, run } => (pipe, place, Some(run)),
                other => return PipeEntry::Other(other),
            };
            let Some(out) = self.pipes[place as usize].pass(bytes, at) else {
                return PipeEntry::Refused(PipeEvent::drop(at, pipe));
            };
            step += 1;
            match run {
                Some(run) => {
                    return PipeEntry::Waits { step, run, due: PipeEvent::exit(out, pipe) };
                }
                None => at = out,
            }
        }
    }

    /// A full queue drops the packet when it arrives there; that is known at `at`.
    #[cold]
    fn schedule_drop(&mut self, packet: &Packet, due: PipeEvent, at: Instant) {
        let slot = self.transit.put(packet);
        match due.at() > at {
            true => self.transit.push_unordered(due, slot),
            false => self.drop_at_queue(slot, due),
        }
    }

    /// The full queue of a pipe drops the packet.
    #[cold]
    pub(super) fn drop_at_queue(&mut self, slot: Slot, due: PipeEvent) {
        let packet = self.transit.take(slot);
        if let Some(place) = place(due.pipe(), &self.links) {
            self.pipes[place as usize].refused();
        }
        self.flows[packet.flow as usize].tally.lost.count(DropCause::Queue);
        self.end_copy(&packet, Fate::Dropped(DropCause::Queue), due.at());
    }

    /// The copy goes no further.
    pub(super) fn end_copy(&mut self, packet: &Packet, fate: Fate, at: Instant) {
        self.flows[packet.flow as usize].under_way -= 1;
        self.trace.ended(packet, fate, at);
    }
}
