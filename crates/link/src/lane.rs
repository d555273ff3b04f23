//! One direction of a link.
//!
//! A first-in first-out stage knows when a frame leaves as soon as it enters, so all is computed
//! then and only the result waits for its time:
//!
//! entry (held back while the entry is stalled) -> drop-tail queue -> send buffer, when there is
//! room -> transmission, after the frame before it and paused by stalls of the transmitter -> loss
//! -> propagation -> delivery, not before the frame before it.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use rtolab_time::{Duration, Instant, Rate};

use crate::admission::{Admission, Admit, Backlog};
use crate::config::{ChannelConfig, SpikeHolds, StallHolds};
use crate::fates::{Fate, Fates};
use crate::frame::{Cause, Direction, Frame, Outcome};
use crate::report::{Disturbance, DisturbanceKind, Stats};
use crate::room::{Buffers, Place, Queue};
use crate::stream::Stream;
use crate::timeline::{Span, Timeline};

#[derive(Clone, Debug)]
pub(crate) struct Lane<F> {
    direction: Direction,
    rate: Option<Rate>,
    /// The size of the last frame and how long it takes to send, for most are as large as the one
    /// before: a division costs more than all else here.
    last_size: (u32, Duration),
    delay: Duration,
    spike_holds: SpikeHolds,
    entry_stalls: Timeline,
    transmitter_stalls: Timeline,
    admission: Admission,
    queue: Queue,
    buffers: Option<Buffers>,
    fates: Fates,
    /// When the transmitter is done with all frames so far.
    idle_from: Instant,
    /// When the last frame of `leaving` leaves or left.
    last_exit: Instant,
    /// Frames with their fate, in order of entry and of exit.
    leaving: VecDeque<Settled<F>>,
    /// Frames that found the queue full, in order of entry.
    refused: VecDeque<Settled<F>>,
    /// When the next of both is due.
    due: Instant,
    stats: Stats,
    spikes: Option<Vec<Disturbance>>,
}

/// An outcome that waits until it is due.
#[derive(Clone, Debug)]
struct Settled<F> {
    due: Instant,
    offered: Instant,
    outcome: Outcome<F>,
}

/// A frame's way to the transmitter.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// Its place in the link's buffers, if these are limited.
    place: Option<Place>,
    /// When it is there, no frame is before it, and the transmitter is not stalled.
    start: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Transmission {
    end: Instant,
    /// The frame's spike, if that held service.
    spike: Duration,
}

impl<F: Frame> Lane<F> {
    pub(crate) fn new(config: &ChannelConfig, direction: Direction, stream: Stream) -> Self {
        let config = config.of(direction);
        let stream = stream.child(match direction {
            Direction::Forward => "forward",
            Direction::Backward => "backward",
        });
        let stalls = &config.stalls;
        let stalled = Timeline::new(&stalls.scripted, stalls.random, stream.child("stalls"));
        let quiet = Timeline::new(&[], None, stream);
        let (entry_stalls, transmitter_stalls) = match stalls.holds {
            StallHolds::Entry => (stalled, quiet),
            StallHolds::Transmitter => (quiet, stalled),
        };
        Self {
            direction,
            rate: config.rate,
            last_size: (0, Duration::ZERO),
            delay: config.delay,
            spike_holds: config.spikes.map(|spikes| spikes.holds).unwrap_or_default(),
            entry_stalls,
            transmitter_stalls,
            admission: Admission::new(config.queue, config.discipline, stream),
            queue: Queue::default(),
            buffers: Buffers::new(config),
            fates: Fates::new(config, stream),
            idle_from: Instant::START,
            last_exit: Instant::START,
            leaving: VecDeque::new(),
            refused: VecDeque::new(),
            due: Instant::NEVER,
            stats: Stats::default(),
            spikes: None,
        }
    }

    pub(crate) fn send(&mut self, mut frame: F, at: Instant, outages: &mut Timeline) {
        let bytes = frame.bytes();
        self.stats.offered += 1;
        let entry = self.entry_stalls.release(at);
        let direction = self.direction;
        let (turn, admit) = self.enter(&frame, entry);
        match admit {
            Admit::Take => {}
            Admit::TakeMarked => frame.mark_congestion(),
            Admit::Refuse(cause) => {
                let outcome = Outcome::Dropped { direction, frame, cause, at: entry };
                self.refused.push_back(Settled { due: entry, offered: at, outcome });
                self.due = self.due.min(entry);
                return;
            }
        }
        let fate = self.fates.draw();
        let sent = self.transmit(bytes, turn.start, fate.spike);
        let propagation = self.propagation(sent.end);
        let (due, outcome) = if let Some(cause) = lost(fate, sent.end, outages) {
            let due = sent.end.max(self.last_exit);
            (due, Outcome::Dropped { direction, frame, cause, at: sent.end })
        } else {
            let arrival = sent.end + propagation;
            let due = self.overcome(fate.spike, arrival).max(self.last_exit);
            let stalled = self.transmitter_stalls.covered(entry, sent.end);
            let held = entry.since(at) + stalled + sent.spike + due.since(arrival);
            (due, Outcome::Delivered { direction, frame, held, duplicate: false })
        };
        if let (Some(buffers), Some(place)) = (&mut self.buffers, turn.place) {
            buffers.fill(place, bytes, due.max(sent.end + propagation));
        }
        self.leaving.push_back(Settled { due, offered: at, outcome });
        self.last_exit = due;
        self.due = self.due.min(due);
    }

    /// When a frame that comes at `entry` has its turn, if the queue takes it.
    fn enter(&mut self, frame: &F, entry: Instant) -> (Turn, Admit) {
        let bytes = frame.bytes();
        let place = self.buffers.as_mut().map(|buffers| buffers.place(bytes, entry));
        let start = self.free_at(place.map_or(entry, |place| place.at));
        let turn = Turn { place, start };
        let leaves_queue = place.map_or(start, |place| place.at);
        if leaves_queue <= entry {
            self.admission.pass(self.idle_from, entry);
            return (turn, Admit::Take);
        }
        let backlog = Backlog { waiting: self.queue.waiting(entry), idle_from: self.idle_from };
        let admit = self.admission.decide(backlog, frame, entry);
        if !matches!(admit, Admit::Refuse(_)) {
            let waiting = self.queue.push(bytes, leaves_queue);
            self.stats.max_queue = self.stats.max_queue.max(waiting);
        }
        (turn, admit)
    }

    /// When the transmitter can next begin with a frame, from `at` on: it is done with those before
    /// and not stalled.
    pub(crate) fn free_at(&mut self, at: Instant) -> Instant {
        self.transmitter_stalls.release(at.max(self.idle_from))
    }

    /// When the transmitter is done with all frames so far.
    pub(crate) const fn idle_from(&self) -> Instant {
        self.idle_from
    }

    /// How long the transmitter stalls between `from` and `to`.
    pub(crate) fn stalled(&mut self, from: Instant, to: Instant) -> Duration {
        self.transmitter_stalls.covered(from, to)
    }

    /// The propagation delay of a frame whose transmission ends at `end`.
    pub(crate) fn propagation(&mut self, _end: Instant) -> Duration {
        self.delay
    }

    fn transmit(&mut self, bytes: u32, turn: Instant, spike: Duration) -> Transmission {
        let needed = self.serialisation(bytes);
        let spike = match self.spike_holds {
            SpikeHolds::Service => spike,
            SpikeHolds::Delivery => Duration::ZERO,
        };
        let mut start = turn;
        if !spike.is_zero() {
            start = self.transmitter_stalls.work_through(start, spike);
            self.note_spike(turn, start);
        }
        let end = self.transmitter_stalls.work_through(start, needed);
        self.idle_from = end;
        Transmission { end, spike }
    }

    fn serialisation(&mut self, bytes: u32) -> Duration {
        if self.last_size.0 != bytes {
            let needed = self.rate.map_or(Duration::ZERO, |rate| rate.time_for(bytes));
            self.last_size = (bytes, needed);
        }
        self.last_size.1
    }

    /// When a frame comes out that arrives at `arrival` and has this spike.
    fn overcome(&mut self, spike: Duration, arrival: Instant) -> Instant {
        if self.spike_holds == SpikeHolds::Service || spike.is_zero() {
            return arrival;
        }
        self.note_spike(arrival, arrival + spike);
        arrival + spike
    }

    fn note_spike(&mut self, from: Instant, to: Instant) {
        if let Some(spikes) = &mut self.spikes {
            let direction = Some(self.direction);
            spikes.push(Disturbance { kind: DisturbanceKind::Spike, direction, from, to });
        }
    }

    /// The next outcome due at or before `at`.
    #[inline]
    pub(crate) fn poll(&mut self, at: Instant) -> Option<Outcome<F>> {
        if self.due > at {
            return None;
        }
        let due = |ring: &VecDeque<Settled<F>>| ring.front().map_or(Instant::NEVER, |it| it.due);
        let ring = match due(&self.leaving) <= due(&self.refused) {
            true => &mut self.leaving,
            false => &mut self.refused,
        };
        let Settled { due: now, offered, outcome } = ring.pop_front()?;
        self.due = due(&self.leaving).min(due(&self.refused));
        match &outcome {
            Outcome::Delivered { frame, .. } => {
                self.stats.deliver(frame.bytes(), now.since(offered));
            }
            Outcome::Dropped { cause, .. } => self.stats.drops.count(*cause),
        }
        Some(outcome)
    }

    /// When the next outcome is due; [`Instant::NEVER`] if there is none.
    #[inline]
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    pub(crate) fn inside(&self) -> usize {
        self.leaving.len() + self.refused.len()
    }

    pub(crate) fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Forgets the stalls that ended before `at`.
    pub(crate) fn forget_before(&mut self, at: Instant) {
        self.entry_stalls.forget_before(at);
        self.transmitter_stalls.forget_before(at);
    }

    pub(crate) fn record_disturbances(&mut self) {
        self.entry_stalls.keep();
        self.transmitter_stalls.keep();
        self.spikes.get_or_insert_default();
    }

    /// The stalls and spikes that began before `until`, if they are recorded.
    pub(crate) fn disturbances(&mut self, until: Instant, into: &mut Vec<Disturbance>) {
        let Some(spikes) = &self.spikes else { return };
        into.extend(spikes.iter().filter(|spike| spike.from < until));
        let (kind, direction) = (DisturbanceKind::Stall, Some(self.direction));
        for stalls in [&mut self.entry_stalls, &mut self.transmitter_stalls] {
            into.extend(stalls.until(until).map(|Span { from, to }| Disturbance {
                kind,
                direction,
                from,
                to,
            }));
        }
    }
}

/// Why a frame does not survive its transmission; `None` if it does.
fn lost(fate: Fate, end: Instant, outages: &mut Timeline) -> Option<Cause> {
    match fate {
        Fate { script: true, .. } => Some(Cause::Script),
        _ if outages.covers(end) => Some(Cause::Outage),
        Fate { error: true, .. } => Some(Cause::Error),
        _ => None,
    }
}
