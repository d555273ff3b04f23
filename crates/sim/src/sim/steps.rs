//! The way of a packet, step by step: through pipes and other links, past agents, to its end.

use rtolab_link::DropCause;
use rtolab_net::Packet;
use rtolab_record::Fate;
use rtolab_time::Instant;

use super::Sim;
use crate::links::{Stage, place};
use crate::transit::{Due, Slot};

/// Where a packet gets that comes to a pipe.
#[derive(Clone, Copy, Debug)]
enum Passage {
    /// It waits in this run for what is before it at `step`.
    Waits { step: u32, run: u32, due: Due },
    /// The queue before one of the pipes has no room for it, once it comes there.
    Refused(Due),
    /// There is no pipe.
    Other(Stage),
}

impl Sim {
    /// The packet takes the step before it, wherever it comes from.
    #[inline(never)]
    pub(crate) fn forward(&mut self, packet: &mut Packet) {
        self.take_step(packet);
    }

    /// The packet takes the step before it.
    #[inline(always)]
    pub(super) fn take_step(&mut self, packet: &mut Packet) {
        match self.through_pipes((packet.bytes, packet.step), self.now) {
            Passage::Waits { step, run, due } => {
                packet.step = step;
                let slot = self.transit.put(packet);
                self.transit.wait(run as usize, due, slot);
            }
            Passage::Refused(due) => self.refuse_when_due(packet, due, self.now),
            Passage::Other(stage) => self.meet(stage, packet),
        }
    }

    /// The packet comes to what is no pipe.
    #[inline(never)]
    fn meet(&mut self, stage: Stage, packet: &mut Packet) {
        match stage {
            Stage::Channel { link, direction } => {
                let link = link as usize;
                if let Some(channel) = self.links[link].channel() {
                    channel.send(direction, *packet, self.now);
                }
                self.wake_for_channel(link, direction);
            }
            Stage::Agent(agent) => self.pass(agent as usize, *packet),
            Stage::Arrival => self.arrive(packet),
            Stage::Pipe { .. } | Stage::PipeToPipe { .. } => self.forward(packet),
        }
    }

    /// The packet, which came out of a pipe, takes the step before it.
    #[inline(always)]
    pub(super) fn go_on(&mut self, slot: Slot) {
        let (bytes, step) = self.transit.bytes_and_step(slot);
        match self.stages[step as usize] {
            Stage::Arrival => self.answer(slot),
            _ => self.go_through(slot, (bytes, step)),
        }
    }

    /// The packet, which is so large, takes that step from where it lies.
    #[inline(always)]
    pub(super) fn go_through(&mut self, slot: Slot, (bytes, step): (u32, u32)) {
        self.go_through_at(slot, (bytes, step), self.now);
    }

    /// The same at `at`.
    #[inline(always)]
    pub(super) fn go_through_at(&mut self, slot: Slot, (bytes, step): (u32, u32), at: Instant) {
        match self.through_pipes((bytes, step), at) {
            Passage::Waits { step, run, due } => {
                self.transit.packet_mut(slot).step = step;
                self.transit.wait(run as usize, due, slot);
            }
            Passage::Refused(due) => {
                let packet = self.transit.take(slot);
                self.refuse_when_due(&packet, due, at);
            }
            Passage::Other(stage) => {
                let mut packet = self.transit.take(slot);
                self.meet(stage, &mut packet);
            }
        }
    }

    /// A packet of so many bytes comes at `at` to the pipe at `step`, if it is one, and so to those behind
    /// it to which nothing else leads.
    #[inline(always)]
    fn through_pipes(&mut self, (bytes, mut step): (u32, u32), mut at: Instant) -> Passage {
        loop {
            let (pipe, place, run) = match self.stages[step as usize] {
                Stage::PipeToPipe { pipe, place } => (pipe, place, None),
                Stage::Pipe { pipe, place, run } => (pipe, place, Some(run)),
                other => return Passage::Other(other),
            };
            let Some(out) = self.pipes[place as usize].pass(bytes, at) else {
                return Passage::Refused(Due::refused(at, pipe));
            };
            step += 1;
            match run {
                Some(run) => return Passage::Waits { step, run, due: Due::out(out, pipe) },
                None => at = out,
            }
        }
    }

    /// The queue before a pipe has no room for the packet once it comes there, of which is known at `at`.
    #[cold]
    fn refuse_when_due(&mut self, packet: &Packet, due: Due, at: Instant) {
        let slot = self.transit.put(packet);
        match due.at() > at {
            true => self.transit.wait_apart(due, slot),
            false => self.refuse(slot, due),
        }
    }

    /// The queue before a pipe refuses the packet.
    #[cold]
    pub(super) fn refuse(&mut self, slot: Slot, due: Due) {
        let packet = self.transit.take(slot);
        if let Some(place) = place(due.pipe(), &self.links) {
            self.pipes[place as usize].refused();
        }
        self.flows[packet.flow as usize].tally.lost.count(DropCause::Queue);
        self.end_way(&packet, Fate::Dropped(DropCause::Queue), due.at());
    }

    /// The packet goes no further.
    pub(crate) fn end_way(&mut self, packet: &Packet, fate: Fate, at: Instant) {
        self.flows[packet.flow as usize].under_way -= 1;
        self.trace.ended(packet, fate, at);
    }
}
