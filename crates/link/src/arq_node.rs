//! Both directions of a link where a frame's fate is not known at its entry: it depends on what
//! comes later, or on what the other end says.
//!
//! Frames wait in a queue. Whenever the transmitter is free it asks for the next thing to send, so
//! what is more urgent goes first. What is on the transmitter, and all that befalls it from there,
//! is the matter of the [`OneWay`].
//!
//! Events have an order at every instant, whoever asks when: what arrives, what the timers do, what
//! enters, what is sent; the forward direction first each time.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use rtolab_time::{Duration, Instant};

use crate::admission::{Admission, Admit, Backlog};
use crate::arq::{Moment, Purpose, earlier};
use crate::config::{ChannelConfig, Discipline, Limit, StallHolds, Stalls};
use crate::frame::{Direction, DropCause, Frame, Outcome};
use crate::layers::{Heard, Layers, Sent, Signal, What};
use crate::one_way::OneWay;
use crate::report::{Disturbance, DisturbanceKind, Impairment, Stats};
use crate::stream::Stream;
use crate::timeline::{Span, Timeline};
use crate::waiting::{Delivery, QueuedFrame, Told, Waiting};

#[derive(Clone, Debug)]
pub(crate) struct ArqNodes<F: Frame, L: Layers<F>> {
    layers: L,
    sides: [ArqNode<F, L::Wire>; 2],
    delivery_queue: [Delivery<F>; 2],
}

/// One direction.
#[derive(Clone, Debug)]
struct ArqNode<F, W> {
    entry_stalls: Timeline,
    /// What a stall of the entry holds.
    at_entry: VecDeque<QueuedFrame<F>>,
    admission: Admission,
    waiting: Waiting<F>,
    one_way: OneWay<W>,
    /// What will come to the other end besides what the lane brings there, in order of time.
    coming: VecDeque<(Instant, What<W>)>,
    present: Moment,
    /// When the transmitter next asks for something to send.
    asks_at: Instant,
    inside: usize,
    stats: Stats,
}

impl<F: Frame, L: Layers<F>> ArqNodes<F, L> {
    pub(crate) fn new(config: &ChannelConfig, stream: Stream) -> Box<Self> {
        let physical = physical(config);
        let arq_node = |direction| ArqNode::new(config, &physical, direction, stream);
        let exit = |direction| Delivery { direction, told: VecDeque::new() };
        Box::new(Self {
            layers: L::new(config),
            sides: Direction::BOTH.map(arq_node),
            delivery_queue: Direction::BOTH.map(exit),
        })
    }

    pub(crate) fn send(
        &mut self,
        direction: Direction,
        frame: F,
        at: Instant,
        outages: &mut Timeline,
    ) {
        self.advance(at, outages);
        let arq_node = &mut self.sides[direction.index()];
        arq_node.go_on(at);
        arq_node.stats.offered += 1;
        arq_node.inside += 1;
        let entry = arq_node.entry_stalls.release(at);
        let (offered, stalled) = (at, Duration::ZERO);
        let queued =
            QueuedFrame { frame, offered, entry, stalled, impairment: Impairment::default() };
        if entry > at {
            arq_node.at_entry.push_back(queued);
            return;
        }
        self.enter(direction, queued);
        self.transmit(direction, outages);
    }

    /// Lets everything happen that is due at or before `until`.
    fn advance(&mut self, until: Instant, outages: &mut Timeline) {
        loop {
            let [forward, backward] = Direction::BOTH.map(|direction| self.next_within(direction));
            let now = forward.min(backward);
            if now > until || now == Instant::NEVER {
                return;
            }
            self.happen(now, outages);
        }
    }

    /// When something happens inside this direction.
    fn next_within(&self, direction: Direction) -> Instant {
        let timer = self.layers.next_event(direction);
        self.sides[direction.index()].next_event().min(timer)
    }

    fn happen(&mut self, now: Instant, outages: &mut Timeline) {
        outages.forget_before(now);
        for arq_node in &mut self.sides {
            arq_node.go_on(now);
        }
        for direction in Direction::BOTH {
            while let Some(what) = self.sides[direction.index()].hear(now) {
                self.layers.on_heard(Heard { direction, what }, now, &mut self.delivery_queue);
            }
        }
        self.layers.on_timer(now, &mut self.delivery_queue);
        for direction in Direction::BOTH {
            while let Some(queued) = self.sides[direction.index()].release(now) {
                self.enter(direction, queued);
                self.transmit(direction, outages);
            }
        }
        for direction in Direction::BOTH {
            self.transmit(direction, outages);
        }
    }

    /// A frame comes to the queue.
    fn enter(&mut self, direction: Direction, mut queued: QueuedFrame<F>) {
        let Self { layers, sides, delivery_queue } = self;
        let arq_node = &mut sides[direction.index()];
        let now = arq_node.present.now;
        queued.stalled = arq_node.present.stalled;
        let idle_from = arq_node.one_way.idle_from();
        let busy = layers.has_work(direction, &arq_node.waiting)
            || arq_node.one_way.free_at(now) > now
            || !layers.takes(direction, queued.frame.bytes());
        if !busy {
            arq_node.admission.pass(idle_from, now);
            arq_node.waiting.push(queued);
            return;
        }
        let backlog = Backlog { waiting: arq_node.waiting.load(), idle_from };
        match arq_node.admission.decide(backlog, &queued.frame, now) {
            Admit::Take => {}
            Admit::TakeMarked => queued.mark_congestion(),
            Admit::Refuse(cause) => {
                delivery_queue[direction.index()].drop(queued, cause, [now; 2]);
                return;
            }
        }
        arq_node.waiting.push(queued);
        let waiting = arq_node.waiting.load().packets;
        arq_node.stats.max_queue = arq_node.stats.max_queue.max(waiting);
    }

    /// Gives the transmitter of a direction what it takes now.
    fn transmit(&mut self, direction: Direction, outages: &mut Timeline) {
        let Self { layers, sides, delivery_queue } = self;
        let (arq_node, exit) =
            (&mut sides[direction.index()], &mut delivery_queue[direction.index()]);
        let Moment { now, .. } = arq_node.present;
        while let Some(signal) = layers.signal(direction, now) {
            arq_node.send_signal(signal, outages);
        }
        arq_node.asks_at = Instant::NEVER;
        while layers.has_work(direction, &arq_node.waiting) {
            arq_node.asks_at = arq_node.one_way.free_at(now);
            if arq_node.asks_at > now {
                return;
            }
            let wire = layers.next(arq_node.present, &mut arq_node.waiting, exit);
            arq_node.asks_at = Instant::NEVER;
            if let Some(wire) = wire {
                arq_node.count(&wire, L::purpose(&wire));
                let sent = arq_node.send(wire.clone(), outages);
                layers.on_sent(direction, &wire, sent);
            }
        }
    }

    /// The next outcome of a direction, of those that have happened by `at`.
    pub(crate) fn poll(
        &mut self,
        direction: Direction,
        at: Instant,
        outages: &mut Timeline,
    ) -> Option<Outcome<F>> {
        self.advance(at, outages);
        if self.told_at(direction) > at {
            return None;
        }
        let Told { due, outcome } = self.delivery_queue[direction.index()].told.pop_front()?;
        Some(self.sides[direction.index()].tell(due, outcome))
    }

    /// The next outcome of either direction; the forward one first of two that are due together.
    pub(crate) fn poll_either(
        &mut self,
        at: Instant,
        outages: &mut Timeline,
    ) -> Option<Outcome<F>> {
        self.advance(at, outages);
        let [forward, backward] = Direction::BOTH.map(|direction| self.told_at(direction));
        match forward <= backward {
            true => self.poll(Direction::Forward, at, outages),
            false => self.poll(Direction::Backward, at, outages),
        }
    }

    /// When the next of those was.
    fn told_at(&self, direction: Direction) -> Instant {
        self.delivery_queue[direction.index()].told.front().map_or(Instant::NEVER, |told| told.due)
    }

    /// When there is, or may be, something to tell of this direction.
    pub(crate) fn due(&self, direction: Direction) -> Instant {
        self.told_at(direction).min(self.next_within(direction))
    }

    pub(crate) fn inside(&self, direction: Direction) -> usize {
        self.sides[direction.index()].inside
    }

    pub(crate) fn stats(&self, direction: Direction) -> &Stats {
        &self.sides[direction.index()].stats
    }

    pub(crate) fn record_disturbances(&mut self) {
        for arq_node in &mut self.sides {
            arq_node.entry_stalls.keep();
            arq_node.one_way.record_disturbances();
        }
    }

    pub(crate) fn disturbances(&mut self, until: Instant, into: &mut Vec<Disturbance>) {
        for direction in Direction::BOTH {
            let arq_node = &mut self.sides[direction.index()];
            arq_node.one_way.disturbances(until, into);
            let (kind, direction) = (DisturbanceKind::Stall, Some(direction));
            let stalls = arq_node.entry_stalls.until(until);
            into.extend(stalls.map(|Span { from, to }| Disturbance { kind, direction, from, to }));
        }
    }
}

/// What is left for the lanes: the transmitter and all behind it.
fn physical(config: &ChannelConfig) -> ChannelConfig {
    let mut config = config.clone();
    let unbuffered = !config.arq.is_empty();
    for direction in [&mut config.forward, &mut config.backward] {
        direction.queue = Limit::Unlimited;
        direction.discipline = Discipline::DropTail;
        direction.lifetime = None;
        if direction.stalls.holds == StallHolds::Entry {
            direction.stalls = Stalls::default();
        }
        if unbuffered {
            direction.send_buffer = Limit::Unlimited;
            direction.receive_buffer = Limit::Unlimited;
        }
    }
    config
}

impl<F: Frame, W: Frame> ArqNode<F, W> {
    fn new(
        config: &ChannelConfig,
        physical: &ChannelConfig,
        direction: Direction,
        stream: Stream,
    ) -> Self {
        let own = config.of(direction);
        let named = stream.child(direction.name());
        Self {
            entry_stalls: match own.stalls.holds {
                StallHolds::Entry => Timeline::stalls(own, named),
                StallHolds::Transmitter => Timeline::quiet(),
            },
            at_entry: VecDeque::new(),
            admission: Admission::new(own.queue, own.discipline, named),
            waiting: Waiting::new(own),
            one_way: OneWay::new(physical, direction, stream),
            coming: VecDeque::new(),
            present: Moment { now: Instant::START, stalled: Duration::ZERO },
            asks_at: Instant::NEVER,
            inside: 0,
            stats: Stats::default(),
        }
    }

    fn next_event(&self) -> Instant {
        let coming = self.coming.front().map_or(Instant::NEVER, |(due, _)| *due);
        let entry = self.at_entry.front().map_or(Instant::NEVER, |queued| queued.entry);
        self.one_way.due().min(coming).min(entry).min(self.asks_at)
    }

    /// Time goes on.
    fn go_on(&mut self, now: Instant) {
        self.present.stalled += self.one_way.stalled(self.present.now, now);
        self.present.now = now;
        self.entry_stalls.forget_before(now);
        self.one_way.forget_before(now);
    }

    /// What next comes to the other end, or to nothing, by `now`.
    fn hear(&mut self, now: Instant) -> Option<What<W>> {
        if let Some(outcome) = self.one_way.poll(now) {
            return Some(match outcome {
                Outcome::Delivered { frame: wire, held, duplicate, .. } => {
                    What::Arrived { wire, held, duplicate }
                }
                Outcome::Dropped { frame: wire, cause, at, .. } => {
                    if cause == DropCause::Error {
                        let arrival = now.max(at + self.one_way.propagation(at));
                        self.expect(arrival, What::Damaged(wire.clone()));
                    }
                    What::Lost { wire, cause, at }
                }
            });
        }
        self.coming.front().filter(|(due, _)| *due <= now)?;
        self.coming.pop_front().map(|(_, what)| what)
    }

    fn expect(&mut self, due: Instant, what: What<W>) {
        let place = self.coming.partition_point(|(other, _)| *other <= due);
        self.coming.insert(place, (due, what));
    }

    /// The next frame that the entry lets go on.
    fn release(&mut self, now: Instant) -> Option<QueuedFrame<F>> {
        self.at_entry.front().filter(|queued| queued.entry <= now)?;
        self.at_entry.pop_front()
    }

    /// What has no size cannot be hit by an error, but an outage swallows it.
    fn send_signal(&mut self, signal: Signal, outages: &mut Timeline) {
        let now = self.present.now;
        if !outages.covers(now) && !self.one_way.is_out(now) {
            let arrival = now + self.one_way.propagation(now);
            self.expect(arrival, What::Signal(signal));
        }
    }

    fn send(&mut self, wire: W, outages: &mut Timeline) -> Sent {
        let now = self.present.now;
        self.one_way.send_waiting(wire, now, outages);
        let end = self.one_way.idle_from();
        let arrival = end + self.one_way.propagation(end);
        Sent { end, undisturbed: earlier(arrival, self.one_way.stalled(now, end)) }
    }

    fn count(&mut self, wire: &W, purpose: Purpose) {
        self.stats.transmit(wire.bytes());
        match purpose {
            Purpose::New => {}
            Purpose::Again => self.stats.local_retransmissions += 1,
            Purpose::Report => self.stats.reports += 1,
        }
    }

    /// Tells an outcome, and counts it.
    fn tell(&mut self, due: Instant, outcome: Outcome<QueuedFrame<F>>) -> Outcome<F> {
        match outcome {
            Outcome::Delivered { direction, frame: queued, held, duplicate } => {
                if duplicate {
                    self.stats.duplicates += 1;
                } else {
                    self.inside -= 1;
                    self.stats.come_out(queued.frame.bytes(), due.since(queued.offered));
                    self.stats.note(Some(queued.impairment));
                }
                Outcome::Delivered { direction, frame: queued.frame, held, duplicate }
            }
            Outcome::Dropped { direction, frame: queued, cause, at } => {
                self.inside -= 1;
                self.stats.drops.count(cause);
                Outcome::Dropped { direction, frame: queued.frame, cause, at }
            }
        }
    }
}
