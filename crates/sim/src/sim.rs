//! One run: flows over channels, event by event.

mod ahead;
mod answer;
mod branch;
mod early;
mod steps;

use std::sync::Arc;

use rtolab_link::{CopyId, Direction, Outcome, Pipe};
use rtolab_net::{Agent, Condition, Onward, Packet, Step};
use rtolab_record::{Fate, Place};
use rtolab_tcp::{Segment, State};
use rtolab_time::Instant;

use crate::attend::Attended;
use crate::flow::Flow;
use crate::judging::Judging;
use crate::links::{Link, Run, Stage, Stages};
use crate::measure::Measure;
use crate::queue::Queue;
use crate::trace::Trace;
use crate::transit::{Due, Transit};
pub use branch::{Branch, Branching};

/// A run. Its clone is a fork: both go on alike from here.
#[derive(Clone)]
pub struct Sim {
    now: Instant,
    queue: Queue,
    /// So many entities are without events, and have no slot: the directions of links, where all are
    /// pipes.
    unheard: usize,
    /// What is under way through pipes.
    transit: Transit,
    pub(crate) links: Vec<Link>,
    /// Those of all links that are plain.
    pub(crate) pipes: Vec<Pipe>,
    /// What every packet meets on its way; a packet says where it is in it.
    stages: Arc<[Stage]>,
    /// What comes out of the runs that packets wait in.
    runs: Arc<[Run]>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) applications: Vec<Attended>,
    pub(crate) agents: Vec<Agent>,
    /// Empty between two packets at an agent: kept, so that none of them allocates.
    pub(crate) onward: Vec<Onward>,
    pub(crate) trace: Trace,
    pub(crate) measure: Measure,
    pub(crate) counters: Counters,
    /// The truth about its retransmissions, if somebody asks.
    pub(crate) judging: Option<Box<Judging>>,
    /// Does nobody but the two ends of a flow hear of its packets?
    is_unobserved: bool,
    copies: u64,
}

/// What a run is made of.
pub struct Parts {
    pub links: Vec<Link>,
    pub pipes: Vec<Pipe>,
    pub steps: Arc<[Step]>,
    pub flows: Vec<Flow>,
    pub applications: Vec<Attended>,
    pub agents: Vec<Agent>,
}

/// So many events pass between two questions whether to go on: some ms.
const UNASKED: u64 = 1 << 16;

/// Says whether a run goes on.
pub type GoesOn<'a> = &'a mut dyn FnMut(&Sim) -> bool;

/// How far a run came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// As far as it should.
    ToTheEnd,
    /// Somebody had it stop.
    Part,
}

/// What a run took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Events taken from the queue.
    pub events: u64,
    /// Data packets (with payload) that reached their receiver.
    pub data_packets_delivered: u64,
}

/// Whose event it is: two entities a channel, then two a flow, then the applications that need a
/// timer and the agents on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entity {
    Channel(usize, Direction),
    Host(usize, Place),
    Application(usize),
    Agent(usize),
}

impl Sim {
    /// The beginning of a run.
    pub(crate) fn new(parts: Parts, trace: Trace, measure: Measure) -> Self {
        let Parts { links, pipes, steps, flows, applications, agents } = parts;
        let Stages { all: stages, runs } = Stages::new(&steps, &links, &pipes);
        let plain = links.iter().all(|link| matches!(link, Link::Pipes(_)));
        let unheard = if plain { 2 * links.len() } else { 0 };
        let pairs = links.len() + flows.len();
        let mut sim = Self {
            now: Instant::START,
            queue: Queue::new(2 * pairs - unheard + applications.len() + agents.len()),
            unheard,
            transit: Transit::new(runs.len()),
            links,
            pipes,
            stages,
            runs,
            flows,
            applications,
            agents,
            onward: Vec::new(),
            trace,
            measure,
            counters: Counters::default(),
            judging: None,
            is_unobserved: false,
            copies: 0,
        };
        for flow in 0..sim.flows.len() {
            if let Some(at) = sim.flows[flow].begin {
                sim.open(flow, at);
            }
        }
        for index in 0..sim.applications.len() {
            let timer = sim.applications[index].application.next_timer();
            sim.wake(Entity::Application(index), timer);
        }
        sim
    }

    /// The present.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Events and packets so far.
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// How many bytes the rows take that were recorded so far.
    pub fn recorded_bytes(&self) -> usize {
        self.trace.bytes()
    }

    /// Runs until nothing more will happen, or until `end`.
    pub fn run_until(&mut self, end: Instant) {
        self.run_while(end, &mut |_| true);
    }

    /// The same, but asks now and then whether to go on, and stays where it is if not.
    pub fn run_while(&mut self, end: Instant, goes_on: GoesOn<'_>) -> Ran {
        while let Some(pause) = self.measure.next().filter(|pause| pause.at() <= end) {
            if let Some(last) = pause.last() {
                if self.run_unwatched_until(last, goes_on) == Ran::Part {
                    return Ran::Part;
                }
            }
            self.look();
        }
        self.run_unwatched_until(end, goes_on)
    }

    /// Nobody looks at the counters before `end`.
    fn run_unwatched_until(&mut self, end: Instant, goes_on: GoesOn<'_>) -> Ran {
        self.unwatch_until(end);
        self.is_unobserved = !self.trace.is_on() && self.judging.is_none();
        loop {
            if self.run_events_until(end) == Ran::ToTheEnd {
                return Ran::ToTheEnd;
            }
            if !goes_on(self) {
                return Ran::Part;
            }
        }
    }

    /// Takes events up to `end`, but not many more than one asks after.
    #[inline(never)]
    fn run_events_until(&mut self, end: Instant) -> Ran {
        let pause = self.counters.events + UNASKED;
        while self.counters.events < pause {
            // Most come out of pipes, before any other is due.
            loop {
                let due = self.transit.next();
                if due.at() >= self.queue.first().0 || due.at() > end {
                    break;
                }
                let run = self.transit.first_run();
                self.on_transit(due);
                self.go_on_early((run, due), end);
            }
            if !self.step(end) {
                return Ran::ToTheEnd;
            }
        }
        Ran::Part
    }

    /// Nobody is told of what happens, nor asks how often it did.
    pub(crate) fn go_unseen(&mut self) {
        self.unwatch_until(Instant::NEVER);
        self.is_unobserved = true;
    }

    /// Nobody asks what happened on the links before `at`.
    fn unwatch_until(&mut self, at: Instant) {
        self.pipes.iter_mut().for_each(|pipe| pipe.unwatched_until(at));
    }

    /// Takes the next event, if there is one before `end`.
    #[inline(never)]
    pub(crate) fn step(&mut self, end: Instant) -> bool {
        let (due, (at, entity)) = (self.transit.next(), self.queue.first());
        let out = due.at();
        let comes_out = out < at || (out == at && (due.pipe() as usize) < self.unheard + entity);
        let at = if comes_out { out } else { at };
        if at > end {
            // Unless nothing more will ever happen.
            if at != Instant::NEVER {
                self.now = end;
            }
            return false;
        }
        if comes_out {
            self.on_transit_among_others(due);
            return true;
        }
        self.now = at;
        self.counters.events += 1;
        match self.entity(entity) {
            Entity::Channel(channel, direction) => self.on_channel(channel, direction),
            Entity::Host(flow, place) => self.on_host_timer(flow, place),
            Entity::Application(index) => self.run_application(index),
            Entity::Agent(index) => self.on_agent_timer(index),
        }
        true
    }

    #[inline(never)]
    fn on_transit_among_others(&mut self, due: Due) {
        self.on_transit(due);
    }

    /// What is due at the same instant from the same pipe comes out together.
    #[inline(always)]
    fn on_transit(&mut self, due: Due) {
        self.now = due.at();
        self.counters.events += 1;
        if self.transit.is_crowded() {
            self.fetch_ahead();
        }
        while let Some(slot) = self.transit.pop() {
            match due.is_refusal() {
                true => self.refuse(slot, due),
                false => self.go_on(slot),
            }
            if self.transit.next() != due {
                return;
            }
        }
    }

    fn entity(&self, slot: usize) -> Entity {
        let entity = self.unheard + slot;
        let Some(host) = entity.checked_sub(2 * self.links.len()) else {
            return Entity::Channel(entity / 2, Direction::BOTH[entity % 2]);
        };
        let Some(other) = host.checked_sub(2 * self.flows.len()) else {
            return Entity::Host(host / 2, Place::BOTH[host % 2]);
        };
        match other.checked_sub(self.applications.len()) {
            None => Entity::Application(other),
            Some(agent) => Entity::Agent(agent),
        }
    }

    fn number(&self, entity: Entity) -> usize {
        let hosts = 2 * self.links.len();
        let others = hosts + 2 * self.flows.len();
        let entity = match entity {
            Entity::Channel(channel, direction) => 2 * channel + direction.index(),
            Entity::Host(flow, place) => hosts + 2 * flow + place.index(),
            Entity::Application(index) => others + index,
            Entity::Agent(index) => others + self.applications.len() + index,
        };
        entity - self.unheard
    }

    /// The entity's event is due then, and no other.
    pub(crate) fn wake(&mut self, entity: Entity, timer: Option<Instant>) {
        self.queue.set(self.number(entity), timer.unwrap_or(Instant::NEVER));
    }

    /// A timer that moves later costs nothing until the event that was set for it comes.
    fn wake_for_timer(&mut self, entity: Entity, timer: Option<Instant>) {
        let number = self.number(entity);
        if let Some(at) = timer {
            if at < *self.queue.slot(number) {
                self.queue.set(number, at);
            }
        }
    }

    /// The flow begins `at`: its SYN leaves then.
    pub(crate) fn open(&mut self, flow: usize, at: Instant) {
        self.flows[flow].begin = Some(at);
        self.wake(Entity::Host(flow, Place::Sender), Some(at));
    }

    fn on_channel(&mut self, link: usize, direction: Direction) {
        let now = self.now;
        let poll = |link: &mut Link| link.channel()?.poll_direction(direction, now);
        while let Some(outcome) = poll(&mut self.links[link]) {
            self.settle(&outcome);
        }
        self.wake_for_channel(link, direction);
    }

    /// What became of a packet on a link.
    #[inline]
    fn settle(&mut self, outcome: &Outcome<Packet>) {
        match *outcome {
            Outcome::Delivered { mut frame, held, duplicate, .. } => {
                if duplicate {
                    self.flows[frame.flow as usize].under_way += 1;
                    frame.condition = frame.condition.second();
                }
                if !held.is_zero() {
                    self.trace.held(&frame, held);
                }
                frame.step += 1;
                self.forward(&mut frame);
            }
            Outcome::Dropped { ref frame, cause, at, .. } => {
                self.flows[frame.flow as usize].tally.lost.count(cause);
                self.end_way(frame, Fate::Dropped(cause), at);
            }
        }
    }

    /// Where the directions are coupled, what happened in one may be news in the other.
    fn wake_for_channel(&mut self, link: usize, direction: Direction) {
        self.wake_for_direction(link, direction);
        if self.links[link].channel().is_some_and(|channel| channel.is_coupled()) {
            self.wake_for_direction(link, direction.reverse());
        }
    }

    #[inline]
    fn wake_for_direction(&mut self, link: usize, direction: Direction) {
        let next = self.links[link].channel().and_then(|it| it.next_event_of(direction));
        self.wake(Entity::Channel(link, direction), next);
    }

    #[inline(never)]
    fn arrive(&mut self, packet: &Packet) {
        let index = packet.flow as usize;
        if packet.condition.is_damaged() {
            self.flows[index].tally.lost.corrupt += 1;
            return self.end_way(packet, Fate::Corrupt, self.now);
        }
        let flow = &mut self.flows[index];
        flow.under_way -= 1;
        self.trace.arrived(packet, self.now, &flow.plan.name);
        if let Some(judging) = &mut self.judging {
            judging.arrives(packet, flow);
        }
        let data = packet.to_receiver && packet.segment.len > 0;
        self.counters.data_packets_delivered += u64::from(data);
        flow.take(packet, self.now);
        if let Some(judging) = &mut self.judging {
            judging.arrived(packet, flow, self.now);
        }
        self.drain(index, packet.destination());
        if self.flows[index].attended {
            self.attend(index, packet.destination());
        }
    }

    fn on_host_timer(&mut self, flow: usize, place: Place) {
        if let Some(connection) = &mut self.flows[flow].end_mut(place).connection {
            if let Some(judging) = &mut self.judging {
                judging.expires(connection);
            }
            connection.on_timer(self.now);
        }
        let number = self.number(Entity::Host(flow, place));
        self.queue.take(number);
        self.drain(flow, place);
        self.queue.look_again(number);
        if self.transit.is_overcrowded() {
            self.fetch_next_timer();
        }
    }

    /// Does what the connection at `place` wants.
    pub(crate) fn drain(&mut self, index: usize, place: Place) {
        self.flows[index].note_events(place, self.now);
        if self.judging.is_some() {
            self.judge(index, place);
        }
        while let Some(mut packet) = self.next_packet(index, place) {
            self.take_step(&mut packet);
            if self.flows[index].is_silent(place) {
                break;
            }
        }
        let flow = &mut self.flows[index];
        flow.note_events(place, self.now);
        if let Some(connection) = &mut flow.end_mut(place).connection {
            connection.enter_fast_path();
        }
        let Some(connection) = &flow.end(place).connection else { return };
        let timer = match place {
            Place::Sender => {
                self.trace.window(connection, self.now, &flow.plan.name);
                let waits = connection.state() == State::TimeWait;
                connection.next_timer().filter(|_| !waits)
            }
            Place::Receiver => connection.next_timer(),
        };
        self.wake_for_timer(Entity::Host(index, place), timer);
    }

    /// The next packet that the connection at `place` has to send.
    #[inline(always)]
    fn next_packet(&mut self, index: usize, place: Place) -> Option<Packet> {
        let flow = &mut self.flows[index];
        let segment = flow.next_segment(place, self.now)?;
        let order = flow.note_sent(place, &segment);
        let bytes = Packet::size_of(&segment);
        Some(self.label((index, place), segment, (bytes, order)))
    }

    /// A datagram of so many bytes leaves.
    pub(crate) fn depart(&mut self, from: (usize, Place), segment: Segment, bytes: u32) {
        let mut packet = self.label(from, segment, (bytes, 0));
        self.forward(&mut packet);
    }

    /// Makes a packet of so many bytes that leaves now, and was sent so often before.
    #[inline(always)]
    fn label(
        &mut self,
        (index, place): (usize, Place),
        segment: Segment,
        (bytes, order): (u32, u16),
    ) -> Packet {
        let copy = self.next_copy();
        let flow = &mut self.flows[index];
        flow.under_way += 1;
        let packet = Packet {
            segment,
            copy,
            sent: self.now,
            flow: index as u32,
            bytes,
            step: flow.way(place, self.now),
            order,
            condition: Condition::Sound,
            to_receiver: place == Place::Sender,
        };
        self.trace.departed(&packet, self.now, &flow.plan.name);
        if let Some(judging) = &mut self.judging {
            judging.departs(&packet, flow, self.now);
        }
        packet
    }

    /// The number of a new copy.
    pub(crate) fn next_copy(&mut self) -> CopyId {
        let copy = CopyId(self.copies);
        self.copies += 1;
        copy
    }
}

#[cfg(test)]
mod tests;
