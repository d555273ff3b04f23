//! Forwarding of packets along the steps of their routes: pipes, other links, middleboxes and the
//! destination.

use rtolab_link::DropCause;
use rtolab_net::Packet;
use rtolab_record::Fate;
use rtolab_time::Instant;

use super::Sim;
use crate::links::{SimStep, pipe_index};
use crate::transit::{PipeEvent, Slot};

/// The result of entering the pipes at a step.
#[derive(Clone, Copy, Debug)]
enum PipeEntry {
    /// The packet is in this run until `due`. Then it enters `step`.
    Queued { step: u32, run: u32, due: PipeEvent },
    /// The queue of one of the pipes is full when the packet arrives there.
    Dropped(PipeEvent),
    /// The next step is not a pipe.
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
            PipeEntry::Queued { step, run, due } => {
                packet.step = step;
                let slot = self.transit.put(packet);
                self.transit.push(run as usize, due, slot);
            }
            PipeEntry::Dropped(due) => self.schedule_drop(packet, due, self.now),
            PipeEntry::Other(step) => self.enter_step(step, packet),
        }
    }

    /// Enters a step that is not a pipe.
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

    /// Processes a packet that leaves a pipe.
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
            PipeEntry::Queued { step, run, due } => {
                self.transit.packet_mut(slot).step = step;
                self.transit.push(run as usize, due, slot);
            }
            PipeEntry::Dropped(due) => {
                let packet = self.transit.take(slot);
                self.schedule_drop(&packet, due, at);
            }
            PipeEntry::Other(step) => {
                let mut packet = self.transit.take(slot);
                self.enter_step(step, &mut packet);
            }
        }
    }

    /// Sends a packet of `bytes` that reaches `step` at `at` into the pipe there, if the step is
    /// one, and into the following pipes that no other link feeds.
    #[inline(always)]
    fn enter_pipes(&mut self, (bytes, mut step): (u32, u32), mut at: Instant) -> PipeEntry {
        loop {
            let (pipe, pipe_index, run) = match self.steps[step as usize] {
                SimStep::PipeToPipe { pipe, pipe_index } => (pipe, pipe_index, None),
                SimStep::Pipe { pipe, pipe_index, run } => (pipe, pipe_index, Some(run)),
                other => return PipeEntry::Other(other),
            };
            let Some(out) = self.pipes[pipe_index as usize].pass(bytes, at) else {
                return PipeEntry::Dropped(PipeEvent::drop(at, pipe));
            };
            step += 1;
            match run {
                Some(run) => {
                    return PipeEntry::Queued { step, run, due: PipeEvent::exit(out, pipe) };
                }
                None => at = out,
            }
        }
    }

    /// Schedules the drop of a packet at a full queue. The packet arrives there later than `at`, or
    /// now.
    #[cold]
    fn schedule_drop(&mut self, packet: &Packet, due: PipeEvent, at: Instant) {
        let slot = self.transit.put(packet);
        match due.at() > at {
            true => self.transit.push_unordered(due, slot),
            false => self.drop_at_queue(slot, due),
        }
    }

    /// Drops the packet at the full queue of a pipe.
    #[cold]
    pub(super) fn drop_at_queue(&mut self, slot: Slot, due: PipeEvent) {
        let packet = self.transit.take(slot);
        if let Some(pipe_index) = pipe_index(due.pipe(), &self.links) {
            self.pipes[pipe_index as usize].count_queue_drop();
        }
        self.flows[packet.flow as usize].tally.lost.count(DropCause::Queue);
        self.end_copy(&packet, Fate::Dropped(DropCause::Queue), due.at());
    }

    /// Processes a copy that is lost or absorbed.
    pub(super) fn end_copy(&mut self, packet: &Packet, fate: Fate, at: Instant) {
        self.flows[packet.flow as usize].in_network -= 1;
        self.trace.on_end(packet, fate, at);
        if let Some(scoring) = &mut self.scoring {
            scoring.in_network.leave(packet);
        }
    }
}
