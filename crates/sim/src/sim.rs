//! A run: the event loop.
//!
//! A fork for the ground truth is a clone of the run, so `Sim` holds the complete state of a run.

mod applications;
mod batching;
mod branch;
mod counterfactual;
mod fast_path;
mod forwarding;
mod measure;
mod middleboxes;
mod prefetch;
mod rare;
mod scoring;

use std::sync::Arc;

use rtolab_link::{CopyId, Direction, Outcome, Pipe, QueueLength};
use rtolab_net::{Condition, Middlebox, OutgoingPacket, Packet, RouteStep};
use rtolab_record::{Fate, Place};
use rtolab_tcp::{Segment, State};
use rtolab_time::Instant;

use crate::flow::SimFlow;
use crate::links::{SimLink, SimStep, SimSteps, SortedRun};
use crate::outages::WatchedOutages;
use crate::queue::Queue;
use crate::trace::Trace;
use crate::transit::{PipeEvent, Transit};
pub use applications::FlowApplication;
pub use branch::{Branch, Branching};
pub use counterfactual::Horizon;
pub use measure::Measure;
pub use scoring::{Alternative, Scoring, ScoringRequest};

/// A run. Its clone is a fork that continues independently.
#[derive(Clone)]
pub struct Sim {
    now: Instant,
    queue: Queue,
    /// The number of entities without a slot in the queue: the link directions if all are pipes.
    unscheduled: usize,
    /// The packets in pipes.
    transit: Transit,
    pub(crate) links: Vec<SimLink>,
    /// The pipes of all plain links.
    pub(crate) pipes: Vec<Pipe>,
    /// The steps of all routes; [`Packet::step`] is an index into them.
    steps: Arc<[SimStep]>,
    /// The sorted runs of packets in pipes.
    runs: Arc<[SortedRun]>,
    pub(crate) flows: Vec<SimFlow>,
    pub(crate) applications: Vec<FlowApplication>,
    pub(crate) middleboxes: Vec<Middlebox>,
    /// A buffer for the output of middleboxes, so that they need not allocate.
    pub(crate) outgoing: Vec<OutgoingPacket>,
    pub(crate) trace: Trace,
    pub(crate) measure: Measure,
    pub(crate) counters: Counters,
    /// The scoring of retransmissions, if requested.
    pub(crate) scoring: Option<Box<Scoring>>,
    /// How flows resume after outages, if a link has any.
    pub(crate) outages: Option<Box<WatchedOutages>>,
    /// Is there neither a trace nor scoring, nor a measurement of outages?
    is_unobserved: bool,
    copies: u64,
}

/// The parts of which a run consists.
pub struct Parts {
    pub links: Vec<SimLink>,
    pub pipes: Vec<Pipe>,
    pub steps: Arc<[RouteStep]>,
    pub flows: Vec<SimFlow>,
    pub applications: Vec<FlowApplication>,
    pub middleboxes: Vec<Middlebox>,
}

/// The number of events between two calls of [`KeepRunning`], which take some milliseconds.
const EVENTS_PER_POLL: u64 = 1 << 16;

/// Decides whether a run continues.
pub type KeepRunning<'a> = &'a mut dyn FnMut(&Sim) -> bool;

/// The reason why a run returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStatus {
    /// The run reached its end.
    Finished,
    /// [`KeepRunning`] stopped the run.
    Stopped,
}

/// Counters of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Events taken from the queue.
    pub events: u64,
    /// Data packets (with payload) that reached their receiver.
    pub data_packets_delivered: u64,
}

/// The owner of an event. Their numbers begin with the two directions of each link, followed by the
/// two ends of each flow, the applications and the middleboxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entity {
    Channel(usize, Direction),
    Host(usize, Place),
    Application(usize),
    Middlebox(usize),
}

impl Sim {
    /// A run at time 0.
    pub(crate) fn new(parts: Parts, trace: Trace, measure: Measure) -> Self {
        let Parts { links, pipes, steps, flows, applications, middleboxes } = parts;
        let SimSteps { all: steps, runs } = SimSteps::new(&steps, &links, &pipes);
        let all_plain = links.iter().all(|link| matches!(link, SimLink::Pipes(_)));
        let unscheduled = if all_plain { 2 * links.len() } else { 0 };
        let pairs = links.len() + flows.len();
        let mut sim = Self {
            now: Instant::START,
            queue: Queue::new(2 * pairs - unscheduled + applications.len() + middleboxes.len()),
            unscheduled,
            transit: Transit::new(runs.len()),
            links,
            pipes,
            steps,
            runs,
            flows,
            applications,
            middleboxes,
            outgoing: Vec::new(),
            trace,
            measure,
            counters: Counters::default(),
            scoring: None,
            outages: None,
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
            sim.schedule(Entity::Application(index), timer);
        }
        sim
    }

    /// The current instant.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// The counters so far.
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// The size of the rows recorded so far, in bytes.
    pub fn recorded_bytes(&self) -> usize {
        self.trace.bytes()
    }

    /// The frames in each direction of each link, in the order of [`Lab::link_names`]: those that
    /// wait for their transmission, and all. [`Lab::watching_queues`] must have been called.
    ///
    /// [`Lab::link_names`]: crate::Lab::link_names
    /// [`Lab::watching_queues`]: crate::Lab::watching_queues
    pub fn frames_in_links(&mut self) -> impl Iterator<Item = [(QueueLength, usize); 2]> + '_ {
        let now = self.now;
        self.links
            .iter_mut()
            .map(move |link| Direction::BOTH.map(|direction| link.frames_at(direction, now)))
    }

    /// Runs until no event is left, or until `end`.
    pub fn run_until(&mut self, end: Instant) {
        self.run_while(end, &mut |_| true);
    }

    /// As [`Sim::run_until`], but stops when `keep_running` returns false.
    pub fn run_while(&mut self, end: Instant, keep_running: KeepRunning<'_>) -> RunStatus {
        while let Some(pause) = self.measure.next().filter(|pause| pause.at() <= end) {
            if let Some(last) = pause.last() {
                if self.run_unmeasured_until(last, keep_running) == RunStatus::Stopped {
                    return RunStatus::Stopped;
                }
            }
            self.take_measurement();
        }
        self.run_unmeasured_until(end, keep_running)
    }

    /// Runs to `end` within one measurement interval.
    fn run_unmeasured_until(&mut self, end: Instant, keep_running: KeepRunning<'_>) -> RunStatus {
        self.skip_stats_until(end);
        self.is_unobserved =
            !self.trace.is_on() && self.scoring.is_none() && self.outages.is_none();
        loop {
            if self.run_events_until(end) == RunStatus::Finished {
                return RunStatus::Finished;
            }
            if !keep_running(self) {
                return RunStatus::Stopped;
            }
        }
    }

    /// Processes up to [`EVENTS_PER_POLL`] events, until `end`.
    #[inline(never)]
    fn run_events_until(&mut self, end: Instant) -> RunStatus {
        let pause = self.counters.events + EVENTS_PER_POLL;
        while self.counters.events < pause {
            // In most events a packet leaves a pipe, so these events have a loop of their own.
            loop {
                let due = self.transit.next();
                if due.at() >= self.queue.first().0 || due.at() > end {
                    break;
                }
                let run = self.transit.first_run();
                self.on_pipe_event(due);
                self.try_batch((run, due), end);
            }
            if !self.step(end) {
                return RunStatus::Finished;
            }
        }
        RunStatus::Stopped
    }

    /// Stops recording.
    fn stop_observing(&mut self) {
        self.skip_stats_until(Instant::NEVER);
        self.outages = None;
        self.is_unobserved = true;
    }

    /// Lets pipes skip the statistics before `at`.
    fn skip_stats_until(&mut self, at: Instant) {
        self.pipes.iter_mut().for_each(|pipe| pipe.promise_no_stats_before(at));
    }

    /// Processes the next event; false if there is none until `end`.
    #[inline(never)]
    fn step(&mut self, end: Instant) -> bool {
        let (due, (at, entity)) = (self.transit.next(), self.queue.first());
        let out = due.at();
        let leaves_pipe =
            out < at || (out == at && (due.pipe() as usize) < self.unscheduled + entity);
        let at = if leaves_pipe { out } else { at };
        if at > end {
            // If no event is left, the clock stays at the last one.
            if at != Instant::NEVER {
                self.now = end;
            }
            return false;
        }
        if leaves_pipe {
            self.on_pipe_event_outlined(due);
            return true;
        }
        self.now = at;
        self.counters.events += 1;
        match self.entity(entity) {
            Entity::Channel(channel, direction) => self.on_channel(channel, direction),
            Entity::Host(flow, place) => self.on_host_timer(flow, place),
            Entity::Application(index) => self.run_application(index),
            Entity::Middlebox(index) => self.on_middlebox_timer(index),
        }
        true
    }

    #[inline(never)]
    fn on_pipe_event_outlined(&mut self, due: PipeEvent) {
        self.on_pipe_event(due);
    }

    /// All packets that leave the same pipe at the same instant are one event.
    #[inline(always)]
    fn on_pipe_event(&mut self, due: PipeEvent) {
        self.now = due.at();
        self.counters.events += 1;
        if self.transit.exceeds_cache() {
            self.prefetch_ahead();
        }
        while let Some(slot) = self.transit.pop() {
            match due.is_drop() {
                true => self.drop_at_queue(slot, due),
                false => self.on_pipe_exit(slot),
            }
            if self.transit.next() != due {
                return;
            }
        }
    }

    fn entity(&self, slot: usize) -> Entity {
        let entity = self.unscheduled + slot;
        let Some(host) = entity.checked_sub(2 * self.links.len()) else {
            return Entity::Channel(entity / 2, Direction::BOTH[entity % 2]);
        };
        let Some(other) = host.checked_sub(2 * self.flows.len()) else {
            return Entity::Host(host / 2, Place::BOTH[host % 2]);
        };
        match other.checked_sub(self.applications.len()) {
            None => Entity::Application(other),
            Some(middlebox) => Entity::Middlebox(middlebox),
        }
    }

    fn number(&self, entity: Entity) -> usize {
        let hosts = 2 * self.links.len();
        let others = hosts + 2 * self.flows.len();
        let entity = match entity {
            Entity::Channel(channel, direction) => 2 * channel + direction.index(),
            Entity::Host(flow, place) => hosts + 2 * flow + place.index(),
            Entity::Application(index) => others + index,
            Entity::Middlebox(index) => others + self.applications.len() + index,
        };
        entity - self.unscheduled
    }

    /// Replaces the entity's event.
    fn schedule(&mut self, entity: Entity, timer: Option<Instant>) {
        self.queue.set(self.number(entity), timer.unwrap_or(Instant::NEVER));
    }

    /// Schedules a timer lazily. A timer that moves later keeps its earlier event, which then
    /// schedules the timer again.
    fn schedule_timer(&mut self, entity: Entity, timer: Option<Instant>) {
        let number = self.number(entity);
        if let Some(at) = timer {
            if at < *self.queue.slot(number) {
                self.queue.set(number, at);
            }
        }
    }

    /// Schedules the beginning of a flow, at which its SYN leaves.
    fn open(&mut self, flow: usize, at: Instant) {
        self.flows[flow].begin = Some(at);
        self.schedule(Entity::Host(flow, Place::Sender), Some(at));
    }

    fn on_channel(&mut self, link: usize, direction: Direction) {
        let now = self.now;
        let poll = |link: &mut SimLink| link.channel()?.poll_direction(direction, now);
        while let Some(outcome) = poll(&mut self.links[link]) {
            self.on_link_outcome(&outcome);
        }
        self.schedule_channel(link, direction);
    }

    /// Processes a packet that a link delivered or dropped.
    #[inline]
    fn on_link_outcome(&mut self, outcome: &Outcome<Packet>) {
        match *outcome {
            Outcome::Delivered { mut frame, held, duplicate, .. } => {
                if duplicate {
                    self.flows[frame.flow as usize].in_network += 1;
                    frame.condition = frame.condition.duplicate();
                    if let Some(scoring) = &mut self.scoring {
                        scoring.in_network.enter(&frame);
                    }
                }
                if !held.is_zero() {
                    self.trace.on_held(&frame, held);
                }
                frame.step += 1;
                self.forward(&mut frame);
            }
            Outcome::Dropped { ref frame, cause, at, .. } => {
                self.flows[frame.flow as usize].tally.lost.count(cause);
                self.end_copy(frame, Fate::Dropped(cause), at);
            }
        }
    }

    /// Schedules a direction of a link, and the other direction if the two are coupled.
    fn schedule_channel(&mut self, link: usize, direction: Direction) {
        self.schedule_direction(link, direction);
        if self.links[link].channel().is_some_and(|channel| channel.is_coupled()) {
            self.schedule_direction(link, direction.reverse());
        }
    }

    #[inline]
    fn schedule_direction(&mut self, link: usize, direction: Direction) {
        let next = self.links[link].channel().and_then(|it| it.next_event_of(direction));
        self.schedule(Entity::Channel(link, direction), next);
    }

    #[inline(never)]
    fn on_arrival(&mut self, packet: &Packet) {
        let index = packet.flow as usize;
        if packet.condition.is_damaged() {
            self.flows[index].tally.lost.corrupt += 1;
            return self.end_copy(packet, Fate::Corrupt, self.now);
        }
        if self.flows[index].has_listeners {
            self.catch_up_with_writes(index, packet.destination());
        }
        let flow = &mut self.flows[index];
        flow.in_network -= 1;
        self.trace.on_arrival(packet, self.now);
        if let Some(scoring) = &mut self.scoring {
            scoring.before_arrival(packet, flow);
        }
        if let Some(outages) = &mut self.outages {
            outages.advance(&mut self.links, self.now);
            outages.before_arrival(packet, flow, self.now);
        }
        let data = packet.to_receiver && packet.segment.len > 0;
        self.counters.data_packets_delivered += u64::from(data);
        flow.on_packet(packet, self.now);
        if let Some(scoring) = &mut self.scoring {
            scoring.after_arrival(packet, flow, self.now);
        }
        self.drain(index, packet.destination());
        if self.flows[index].has_listeners {
            self.notify_listeners(index, packet.destination());
        }
    }

    fn on_host_timer(&mut self, flow: usize, place: Place) {
        if self.flows[flow].has_listeners {
            self.catch_up_with_writes(flow, place);
        }
        if let Some(connection) = &mut self.flows[flow].end_mut(place).connection {
            if let Some(scoring) = &mut self.scoring {
                scoring.before_timer(connection);
            }
            connection.on_timer(self.now);
        }
        let number = self.number(Entity::Host(flow, place));
        self.queue.take(number);
        self.drain(flow, place);
        self.queue.settle(number);
        if self.transit.flows_exceed_cache() {
            self.prefetch_next_timer();
        }
    }

    /// Sends all pending segments of the connection at `place`, and schedules its timer.
    fn drain(&mut self, index: usize, place: Place) {
        self.flows[index].note_events(place, self.now);
        if self.scoring.is_some() {
            self.score(index, place);
        }
        while let Some(mut packet) = self.next_packet(index, place) {
            self.forward_inline(&mut packet);
            if self.flows[index].has_nothing_to_transmit(place) {
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
                self.trace.on_window(connection, self.now, &flow.plan.name);
                let is_in_time_wait = connection.state() == State::TimeWait;
                connection.next_timer().filter(|_| !is_in_time_wait)
            }
            Place::Receiver => connection.next_timer(),
        };
        self.schedule_timer(Entity::Host(index, place), timer);
    }

    /// The next packet of the connection at `place`.
    #[inline(always)]
    fn next_packet(&mut self, index: usize, place: Place) -> Option<Packet> {
        let flow = &mut self.flows[index];
        let segment = flow.next_segment(place, self.now)?;
        let order = flow.note_sent(place, &segment);
        let bytes = Packet::size_of(&segment);
        Some(self.packet((index, place), segment, (bytes, order)))
    }

    /// Sends a datagram of this size, in bytes.
    fn send_packet(&mut self, from: (usize, Place), segment: Segment, bytes: u32) {
        let mut packet = self.packet(from, segment, (bytes, 0));
        self.forward(&mut packet);
    }

    /// A packet that leaves now. `order` is the number of earlier transmissions of its first byte.
    #[inline(always)]
    fn packet(
        &mut self,
        (index, place): (usize, Place),
        segment: Segment,
        (bytes, order): (u32, u16),
    ) -> Packet {
        let copy = self.next_copy();
        let flow = &mut self.flows[index];
        flow.in_network += 1;
        let packet = Packet {
            segment,
            copy,
            sent: self.now,
            flow: index as u32,
            bytes,
            step: flow.route(place, self.now),
            order,
            condition: Condition::Intact,
            to_receiver: place == Place::Sender,
        };
        self.trace.on_departure(&packet, self.now);
        if let Some(scoring) = &mut self.scoring {
            scoring.on_departure(&packet, flow, self.now);
        }
        if let Some(outages) = &mut self.outages {
            outages.advance(&mut self.links, self.now);
            outages.on_departure(&packet, self.now);
        }
        packet
    }

    /// Takes the id of a new copy.
    fn next_copy(&mut self) -> CopyId {
        let copy = CopyId(self.copies);
        self.copies += 1;
        copy
    }
}

#[cfg(test)]
mod tests;
