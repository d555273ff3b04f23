//! One run: flows over channels, event by event.

use rtolab_link::{Channel, CopyId, Direction, Outcome};
use rtolab_net::Packet;
use rtolab_tcp::{Segment, State};
use rtolab_time::Instant;

use crate::flow::Flow;
use crate::queue::Queue;
use crate::trace::Trace;

/// A run. Its clone is a fork: both go on alike from here.
#[derive(Clone)]
pub struct Sim {
    now: Instant,
    queue: Queue,
    pub(crate) channels: Vec<Channel<Packet>>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) trace: Trace,
    pub(crate) counters: Counters,
    /// Until when copies of the run may go on that judge its retransmissions, if somebody asks.
    pub(crate) judging: Option<Instant>,
    copies: u64,
}

/// What a run took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Events taken from the queue.
    pub events: u64,
    /// Data packets (with payload) that reached their receiver.
    pub data_packets_delivered: u64,
}

/// Whose event it is: two entities a channel, then two a flow.
enum Entity {
    Channel(usize, Direction),
    Sender(usize),
    Receiver(usize),
}

impl Sim {
    /// Flows that begin at their given instants.
    pub(crate) fn new(channels: Vec<Channel<Packet>>, flows: Vec<Flow>, trace: Trace) -> Self {
        let queue = Queue::new(2 * (channels.len() + flows.len()));
        let (now, counters) = (Instant::START, Counters::default());
        let judging = None;
        let mut sim = Self { now, queue, channels, flows, trace, counters, judging, copies: 0 };
        for flow in 0..sim.flows.len() {
            let (row, _) = sim.flows[flow].rows();
            sim.queue.set(sim.sender_entity(flow), row.start);
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

    /// Runs until nothing more will happen, or until `end`.
    pub fn run_until(&mut self, end: Instant) {
        while self.step(end) {}
    }

    /// Takes the next event, if there is one before `end`.
    #[inline]
    pub(crate) fn step(&mut self, end: Instant) -> bool {
        let Some((at, entity)) = self.queue.next() else { return false };
        if at > end {
            self.now = end;
            return false;
        }
        self.now = at;
        self.counters.events += 1;
        match self.entity(entity) {
            Entity::Channel(channel, direction) => self.on_channel(channel, direction),
            Entity::Sender(flow) => self.on_sender_timer(flow),
            Entity::Receiver(flow) => self.on_receiver_timer(flow),
        }
        true
    }

    fn entity(&self, entity: usize) -> Entity {
        let channels = 2 * self.channels.len();
        match (entity.checked_sub(channels), entity % 2) {
            (None, 0) => Entity::Channel(entity / 2, Direction::Forward),
            (None, _) => Entity::Channel(entity / 2, Direction::Backward),
            (Some(host), 0) => Entity::Sender(host / 2),
            (Some(host), _) => Entity::Receiver(host / 2),
        }
    }

    fn sender_entity(&self, flow: usize) -> usize {
        2 * (self.channels.len() + flow)
    }

    fn on_channel(&mut self, channel: usize, direction: Direction) {
        while let Some(outcome) = self.channels[channel].poll_direction(direction, self.now) {
            match outcome {
                Outcome::Delivered { mut frame, held, .. } => {
                    frame.held += held;
                    frame.hop += 1;
                    self.forward(frame);
                }
                Outcome::Dropped { frame, cause, at, .. } => {
                    self.flows[frame.flow as usize].note_lost(cause);
                    self.flows[frame.flow as usize].under_way -= 1;
                    self.trace.dropped(&frame, cause, at);
                }
            }
        }
        self.wake_for_channel(channel, direction);
    }

    /// Where the directions are coupled, what happened in one may be news in the other.
    fn wake_for_channel(&mut self, channel: usize, direction: Direction) {
        self.wake_for_direction(channel, direction);
        if self.channels[channel].is_coupled() {
            self.wake_for_direction(channel, direction.reverse());
        }
    }

    fn wake_for_direction(&mut self, channel: usize, direction: Direction) {
        let next = self.channels[channel].next_event_of(direction).unwrap_or(Instant::NEVER);
        self.queue.set(2 * channel + direction.index(), next);
    }

    /// The packet goes on to its next link, or arrives.
    fn forward(&mut self, packet: Packet) {
        let flow = &self.flows[packet.flow as usize];
        let hops = match packet.to_receiver {
            true => &flow.plan.hops,
            false => &flow.plan.hops_back,
        };
        let Some(hop) = hops.get(usize::from(packet.hop)).copied() else {
            return self.arrive(&packet);
        };
        self.channels[hop.link].send(hop.direction, packet, self.now);
        self.wake_for_channel(hop.link, hop.direction);
    }

    fn arrive(&mut self, packet: &Packet) {
        let index = packet.flow as usize;
        let flow = &mut self.flows[index];
        flow.under_way -= 1;
        self.trace.arrived(packet, self.now, &flow.plan.name);
        if packet.to_receiver {
            self.counters.data_packets_delivered += u64::from(packet.segment.len > 0);
            flow.at_receiver(&packet.segment, packet.order, self.now);
            self.drain_receiver(index);
        } else {
            flow.sender.on_segment(&packet.segment, self.now);
            self.drain_sender(index);
        }
    }

    fn on_sender_timer(&mut self, flow: usize) {
        self.flows[flow].sender.on_timer(self.now);
        let entity = self.sender_entity(flow);
        self.queue.set(entity, Instant::NEVER);
        self.drain_sender(flow);
    }

    fn on_receiver_timer(&mut self, flow: usize) {
        if let Some(receiver) = &mut self.flows[flow].receiver {
            receiver.on_timer(self.now);
        }
        let entity = self.sender_entity(flow) + 1;
        self.queue.set(entity, Instant::NEVER);
        self.drain_receiver(flow);
    }

    pub(crate) fn drain_sender(&mut self, index: usize) {
        self.flows[index].note_events(self.now);
        if let Some(end) = self.judging {
            self.judge(index, end);
        }
        while let Some(segment) = self.flows[index].sender.poll_transmit(self.now) {
            let order = self.flows[index].note_sent(&segment);
            self.depart(index, segment, order, true);
        }
        let flow = &mut self.flows[index];
        flow.note_events(self.now);
        self.trace.window(&flow.sender, self.now, &flow.plan.name);
        let timer = match flow.sender.state() {
            State::TimeWait => None,
            _ => flow.sender.next_timer(),
        };
        self.wake_for_timer(self.sender_entity(index), timer);
    }

    /// Finds out the truth about retransmissions that are about to leave.
    fn judge(&mut self, index: usize, end: Instant) {
        while let Some((row, seq)) = self.flows[index].unjudged() {
            let truth = self.truth_of(index, seq, end);
            self.flows[index].note_truth(row, truth);
        }
    }

    fn drain_receiver(&mut self, index: usize) {
        let Some(receiver) = &mut self.flows[index].receiver else { return };
        if let Some(segment) = receiver.poll_transmit(self.now) {
            let mut next = Some(segment);
            while let Some(segment) = next {
                self.flows[index].note_ack();
                self.depart(index, segment, 0, false);
                let receiver = self.flows[index].receiver.as_mut();
                next = receiver.and_then(|receiver| receiver.poll_transmit(self.now));
            }
        }
        let receiver = self.flows[index].receiver.as_ref();
        let timer = receiver.and_then(rtolab_tcp::Connection::next_timer);
        self.wake_for_timer(self.sender_entity(index) + 1, timer);
    }

    /// A timer that moves later costs nothing until the event that was set for it comes.
    fn wake_for_timer(&mut self, entity: usize, timer: Option<Instant>) {
        if let Some(at) = timer {
            if at < self.queue.slot(entity) {
                self.queue.set(entity, at);
            }
        }
    }

    fn depart(&mut self, flow: usize, segment: Segment, order: u16, to_receiver: bool) {
        let copy = CopyId(self.copies);
        self.copies += 1;
        self.flows[flow].under_way += 1;
        let packet = Packet {
            segment,
            copy,
            held: rtolab_time::Duration::ZERO,
            flow: flow as u32,
            bytes: Packet::size_of(&segment),
            order,
            hop: 0,
            corrupt: false,
            to_receiver,
        };
        self.trace.departed(&packet, self.now, &self.flows[flow].plan.name);
        self.forward(packet);
    }
}
