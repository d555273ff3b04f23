//! A link with ARQ or CoDel. The outcome of a frame depends on later frames or on the other end, so
//! it is not known when the frame enters the link.
//!
//! Frames wait in a queue. When the transmitter is free, it takes the next report, block
//! or frame by priority. [`OneWay`] handles the transmission and everything after it.
//!
//! The order of events at one instant is fixed: arrivals, timers, entries, transmissions; the
//! forward direction first each time.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use rtolab_time::{Duration, Instant};

use crate::admission::{Admission, AdmissionDecision, Backlog};
use crate::arq::{NodeTime, Purpose, earlier};
use crate::config::{ChannelConfig, Discipline, Limit, StallHolds, Stalls};
use crate::frame::{Direction, DropCause, Frame, Outcome};
use crate::layers::{ArqLayers, LineEvent, LineEventKind, Signal, TransmissionTimes};
use crate::occupancy::QueueLength;
use crate::one_way::OneWay;
use crate::report::{Disturbance, DisturbanceKind, Impairment, Stats};
use crate::reseed::Visit;
use crate::stream::Stream;
use crate::timeline::{Interrupting, Span, Timeline};
use crate::waiting::{FrameQueue, Outcomes, PendingOutcome, QueuedFrame};

/// Both directions, and the ARQ layers that connect them.
#[derive(Clone, Debug)]
pub(crate) struct ArqNodes<F: Frame, L: ArqLayers<F>> {
    layers: L,
    sides: [ArqNode<F, L::Wire>; 2],
    outcomes: [Outcomes<F>; 2],
}

/// One direction.
#[derive(Clone, Debug)]
struct ArqNode<F, W> {
    entry_stalls: Timeline,
    /// Frames that a stall holds before the queue.
    at_entry: VecDeque<QueuedFrame<F>>,
    admission: Admission,
    waiting: FrameQueue<F>,
    one_way: OneWay<W>,
    /// The arrivals at the other end that `one_way` does not deliver (signals, damaged frames), in
    /// order of time.
    arrivals: VecDeque<(Instant, LineEventKind<W>)>,
    present: NodeTime,
    /// When the transmitter can send the next unit; [`Instant::NEVER`] if none waits.
    next_send_at: Instant,
    /// The number of frames without an outcome so far.
    in_transit: usize,
    stats: Stats,
}

impl<F: Frame, L: ArqLayers<F>> ArqNodes<F, L> {
    pub(crate) fn new(config: &ChannelConfig, stream: Stream) -> Box<Self> {
        let physical = physical(config);
        let arq_node = |direction| ArqNode::new(config, &physical, direction, stream);
        let outcomes = |direction| Outcomes { direction, queue: VecDeque::new() };
        Box::new(Self {
            layers: L::new(config),
            sides: Direction::BOTH.map(arq_node),
            outcomes: Direction::BOTH.map(outcomes),
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
        arq_node.advance_to(at);
        arq_node.stats.offered += 1;
        arq_node.in_transit += 1;
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

    /// Processes all events up to `until`.
    fn advance(&mut self, until: Instant, outages: &mut Timeline) {
        loop {
            let [forward, backward] = Direction::BOTH.map(|direction| self.next_within(direction));
            let now = forward.min(backward);
            if now > until || now == Instant::NEVER {
                return;
            }
            self.process(now, outages);
        }
    }

    /// The time of this direction's next event.
    fn next_within(&self, direction: Direction) -> Instant {
        let timer = self.layers.next_event(direction);
        self.sides[direction.index()].next_event().min(timer)
    }

    fn process(&mut self, now: Instant, outages: &mut Timeline) {
        outages.forget_before(now);
        for arq_node in &mut self.sides {
            arq_node.advance_to(now);
        }
        for direction in Direction::BOTH {
            while let Some(kind) = self.sides[direction.index()].next_line_event(now) {
                self.layers.on_line_event(LineEvent { direction, kind }, now, &mut self.outcomes);
            }
        }
        self.layers.on_timer(now, &mut self.outcomes);
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

    /// Puts a frame into the queue, unless the queue drops it.
    fn enter(&mut self, direction: Direction, mut queued: QueuedFrame<F>) {
        let Self { layers, sides, outcomes } = self;
        let arq_node = &mut sides[direction.index()];
        let now = arq_node.present.now;
        queued.stalled = arq_node.present.stalled;
        let idle_from = arq_node.one_way.idle_from();
        let busy = layers.has_work(direction, &arq_node.waiting)
            || arq_node.one_way.free_at(now) > now
            || !layers.has_window_for(direction, queued.frame.bytes());
        if !busy {
            arq_node.admission.pass(idle_from, now);
            arq_node.waiting.push(queued);
            return;
        }
        let backlog = Backlog { waiting: arq_node.waiting.occupancy(), idle_from };
        match arq_node.admission.decide(backlog, (&queued.frame, queued.frame.bytes()), now) {
            AdmissionDecision::Enqueue => {}
            AdmissionDecision::EnqueueMarked => queued.mark_congestion(),
            AdmissionDecision::Drop(cause) => {
                outcomes[direction.index()].drop(queued, cause, [now; 2]);
                return;
            }
        }
        arq_node.waiting.push(queued);
        let waiting = arq_node.waiting.occupancy().packets;
        arq_node.stats.max_queue = arq_node.stats.max_queue.max(waiting);
    }

    /// Starts all transmissions that can start now.
    fn transmit(&mut self, direction: Direction, outages: &mut Timeline) {
        let Self { layers, sides, outcomes } = self;
        let (arq_node, outcomes) =
            (&mut sides[direction.index()], &mut outcomes[direction.index()]);
        let NodeTime { now, .. } = arq_node.present;
        while let Some(signal) = layers.signal(direction, now) {
            arq_node.send_signal(signal, outages);
        }
        arq_node.next_send_at = Instant::NEVER;
        while layers.has_work(direction, &arq_node.waiting) {
            arq_node.next_send_at = arq_node.one_way.free_at(now);
            if arq_node.next_send_at > now {
                return;
            }
            let wire = layers.next(arq_node.present, &mut arq_node.waiting, outcomes);
            arq_node.next_send_at = Instant::NEVER;
            if let Some(wire) = wire {
                arq_node.count(&wire, L::purpose(&wire));
                let sent = arq_node.send(wire.clone(), outages);
                layers.on_sent(direction, &wire, sent);
            }
        }
    }

    /// The next outcome of a direction that has happened by `at`.
    pub(crate) fn poll(
        &mut self,
        direction: Direction,
        at: Instant,
        outages: &mut Timeline,
    ) -> Option<Outcome<F>> {
        self.advance(at, outages);
        if self.happened_at(direction) > at {
            return None;
        }
        let PendingOutcome { due, outcome } = self.outcomes[direction.index()].queue.pop_front()?;
        Some(self.sides[direction.index()].count_outcome(due, outcome))
    }

    /// The next outcome of either direction; the forward one first of two at the same time.
    pub(crate) fn poll_either(
        &mut self,
        at: Instant,
        outages: &mut Timeline,
    ) -> Option<Outcome<F>> {
        self.advance(at, outages);
        let [forward, backward] = Direction::BOTH.map(|direction| self.happened_at(direction));
        match forward <= backward {
            true => self.poll(Direction::Forward, at, outages),
            false => self.poll(Direction::Backward, at, outages),
        }
    }

    /// When the next outcome happened.
    fn happened_at(&self, direction: Direction) -> Instant {
        self.outcomes[direction.index()].queue.front().map_or(Instant::NEVER, |first| first.due)
    }

    /// When there may be an outcome of this direction.
    pub(crate) fn due(&self, direction: Direction) -> Instant {
        self.happened_at(direction).min(self.next_within(direction))
    }

    pub(crate) fn in_transit(&self, direction: Direction) -> usize {
        self.sides[direction.index()].in_transit
    }

    pub(crate) fn queue_length(&self, direction: Direction) -> QueueLength {
        let arq_node = &self.sides[direction.index()];
        let mut waiting = arq_node.waiting.occupancy();
        arq_node.at_entry.iter().for_each(|queued| waiting.add(queued.frame.bytes()));
        waiting.into()
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

    /// Passes everything in it that is random to `visit`.
    pub(crate) fn visit(&mut self, visit: Visit<'_>) {
        for arq_node in &mut self.sides {
            arq_node.entry_stalls.visit(visit);
            arq_node.admission.visit(visit);
            arq_node.one_way.visit(visit);
        }
    }

    /// The outages of one direction alone.
    pub(crate) fn outages(&mut self, direction: Direction) -> &mut Timeline {
        self.sides[direction.index()].one_way.outages()
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

/// The configuration of the two [`OneWay`]s: the transmitter and everything after it.
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
                StallHolds::Transmitter => Timeline::empty(),
            },
            at_entry: VecDeque::new(),
            admission: Admission::new(own.queue, own.discipline, named),
            waiting: FrameQueue::new(own),
            one_way: OneWay::new(physical, direction, stream),
            arrivals: VecDeque::new(),
            present: NodeTime { now: Instant::START, stalled: Duration::ZERO },
            next_send_at: Instant::NEVER,
            in_transit: 0,
            stats: Stats::default(),
        }
    }

    fn next_event(&self) -> Instant {
        let arrival = self.arrivals.front().map_or(Instant::NEVER, |(due, _)| *due);
        let entry = self.at_entry.front().map_or(Instant::NEVER, |queued| queued.entry);
        self.one_way.due().min(arrival).min(entry).min(self.next_send_at)
    }

    /// Advances the clock.
    fn advance_to(&mut self, now: Instant) {
        self.present.stalled += self.one_way.stalled(self.present.now, now);
        self.present.now = now;
        self.entry_stalls.forget_before(now);
        self.one_way.forget_before(now);
    }

    /// The next arrival or loss by `now`.
    fn next_line_event(&mut self, now: Instant) -> Option<LineEventKind<W>> {
        if let Some(outcome) = self.one_way.poll(now) {
            return Some(match outcome {
                Outcome::Delivered { frame: wire, held, duplicate, .. } => {
                    LineEventKind::Arrived { wire, held, duplicate }
                }
                Outcome::Dropped { frame: wire, cause, at, .. } => {
                    if cause == DropCause::Error {
                        let arrival = now.max(at + self.one_way.propagation(at));
                        self.add_arrival(arrival, LineEventKind::Damaged(wire.clone()));
                    }
                    LineEventKind::Lost { wire, cause, at }
                }
            });
        }
        self.arrivals.front().filter(|(due, _)| *due <= now)?;
        self.arrivals.pop_front().map(|(_, kind)| kind)
    }

    fn add_arrival(&mut self, due: Instant, kind: LineEventKind<W>) {
        let place = self.arrivals.partition_point(|(other, _)| *other <= due);
        self.arrivals.insert(place, (due, kind));
    }

    /// The next frame that the stalled entry releases.
    fn release(&mut self, now: Instant) -> Option<QueuedFrame<F>> {
        self.at_entry.front().filter(|queued| queued.entry <= now)?;
        self.at_entry.pop_front()
    }

    /// Sends a signal. It has no size: transmission errors do not affect it, but outages do.
    fn send_signal(&mut self, signal: Signal, outages: &mut Timeline) {
        let now = self.present.now;
        if !outages.covers(now) && !self.one_way.is_out(now) {
            let arrival = now + self.one_way.propagation(now);
            self.add_arrival(arrival, LineEventKind::Signal(signal));
        }
    }

    fn send(&mut self, wire: W, outages: &mut Timeline) -> TransmissionTimes {
        let now = self.present.now;
        self.one_way.send_waiting(wire, now, outages);
        let end = self.one_way.idle_from();
        let arrival = end + self.one_way.propagation(end);
        TransmissionTimes { end, undisturbed: earlier(arrival, self.one_way.stalled(now, end)) }
    }

    fn count(&mut self, wire: &W, purpose: Purpose) {
        self.stats.transmit(wire.bytes());
        match purpose {
            Purpose::New => {}
            Purpose::Retransmission => self.stats.local_retransmissions += 1,
            Purpose::Report => self.stats.reports += 1,
        }
    }

    /// Returns an outcome and counts it.
    fn count_outcome(&mut self, due: Instant, outcome: Outcome<QueuedFrame<F>>) -> Outcome<F> {
        match outcome {
            Outcome::Delivered { direction, frame: queued, held, duplicate } => {
                if duplicate {
                    self.stats.duplicates += 1;
                } else {
                    self.in_transit -= 1;
                    self.stats.count_sdu_delivered(queued.frame.bytes(), due.since(queued.offered));
                    self.stats.count_impairment(Some(queued.impairment));
                }
                Outcome::Delivered { direction, frame: queued.frame, held, duplicate }
            }
            Outcome::Dropped { direction, frame: queued, cause, at } => {
                self.in_transit -= 1;
                self.stats.drops.count(cause);
                Outcome::Dropped { direction, frame: queued.frame, cause, at }
            }
        }
    }
}
