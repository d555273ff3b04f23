//! One direction of a link.
//!
//! A first-in first-out stage knows when a frame leaves as soon as it enters, so all is computed
//! then and only the result waits for its time:
//!
//! entry (held back while the entry is stalled) -> queue, as its limit and its discipline let it ->
//! send buffer, when there is room -> the line, after the frame before it and unless it is too old
//! -> delivery, not before the frame before it if order is kept.

use alloc::vec::Vec;

use rtolab_time::{Duration, Instant};

use crate::admission::{Admission, Admit, Backlog};
use crate::config::{ChannelConfig, StallHolds};
use crate::exits::{Exits, Settled};
use crate::frame::{Cause, Direction, Frame, Outcome};
use crate::line::{Line, Passage};
use crate::report::{Blemish, Disturbance, DisturbanceKind, Stats};
use crate::room::{Buffers, Place, Queue};
use crate::stream::Stream;
use crate::timeline::{Span, Timeline};

#[derive(Clone, Debug)]
pub(crate) struct Lane<F> {
    direction: Direction,
    entry_stalls: Timeline,
    admission: Admission,
    queue: Queue,
    buffers: Option<Buffers>,
    lifetime: Option<Duration>,
    line: Line,
    exits: Exits<F>,
    stats: Stats,
    recording: bool,
}

/// How a frame came in.
#[derive(Clone, Copy)]
struct Entry {
    offered: Instant,
    /// When the entry let it in.
    at: Instant,
    /// Opportunities up to this are gone.
    since: Instant,
    /// It was marked there.
    marked: bool,
}

impl<F: Frame> Lane<F> {
    /// `stream` is the whole link's.
    pub(crate) fn new(config: &ChannelConfig, direction: Direction, stream: Stream) -> Self {
        let line = Line::new(config, direction, stream);
        let stream = stream.child(direction.name());
        let config = config.of(direction);
        Self {
            direction,
            entry_stalls: match config.stalls.holds {
                StallHolds::Entry => Timeline::stalls(config, stream),
                StallHolds::Transmitter => Timeline::quiet(),
            },
            admission: Admission::new(config.queue, config.discipline, stream),
            queue: Queue::default(),
            buffers: Buffers::new(config),
            lifetime: config.lifetime,
            line,
            exits: Exits::new(config.order),
            stats: Stats::default(),
            recording: false,
        }
    }

    /// A frame comes; `outages` are those of both directions.
    #[inline]
    pub(crate) fn send(&mut self, frame: F, at: Instant, outages: &mut Timeline) {
        let entry = self.entry_stalls.release(at);
        let entry = Entry { offered: at, at: entry, since: entry, marked: false };
        self.take(frame, entry, outages);
    }

    /// A frame comes that has waited for the transmitter elsewhere, until that was free: an
    /// opportunity at this very instant is not yet gone.
    pub(crate) fn send_waiting(&mut self, frame: F, at: Instant, outages: &mut Timeline) {
        let entry = Entry { offered: at, at, since: Instant::START, marked: false };
        self.take(frame, entry, outages);
    }

    #[inline]
    fn take(&mut self, mut frame: F, mut entry: Entry, outages: &mut Timeline) {
        self.stats.offered += 1;
        let bytes = frame.bytes();
        let place = self.buffers.as_mut().map(|buffers| buffers.place(bytes, entry.at));
        match self.admit(&frame, entry, place) {
            Admit::Take => {}
            Admit::TakeMarked => {
                frame.mark_congestion();
                entry.marked = true;
            }
            Admit::Refuse(cause) => return self.refuse(frame, cause, entry),
        }
        let start = self.begin(entry, place);
        let passage = match self.lifetime {
            Some(lifetime) if start.since(entry.offered) > lifetime => Passage::expired(start),
            _ => self.line.carry(bytes, start, outages),
        };
        let due = self.settle(frame, passage, entry);
        if let (Some(buffers), Some(place)) = (&mut self.buffers, place) {
            buffers.fill(place, bytes, due.max(passage.end + passage.propagation));
        }
    }

    /// Does the queue take a frame?
    #[inline]
    fn admit(&mut self, frame: &F, entry: Entry, place: Option<Place>) -> Admit {
        let leaves_queue = place.map_or_else(|| self.begin(entry, None), |place| place.at);
        let idle_from = self.idle_from();
        if leaves_queue <= entry.at {
            self.admission.pass(idle_from, entry.at);
            return Admit::Take;
        }
        let backlog = Backlog { waiting: self.queue.waiting(entry.at), idle_from };
        let admit = self.admission.decide(backlog, frame, entry.at);
        if !matches!(admit, Admit::Refuse(_)) {
            let waiting = self.queue.push(frame.bytes(), leaves_queue);
            self.stats.max_queue = self.stats.max_queue.max(waiting);
        }
        admit
    }

    /// When a frame has its turn that has this place in the link's buffers, if these are limited.
    #[inline]
    fn begin(&mut self, entry: Entry, place: Option<Place>) -> Instant {
        let ready = place.map_or(entry.at, |place| place.at);
        self.line.transmitter.begin(entry.since, ready)
    }

    fn refuse(&mut self, frame: F, cause: Cause, entry: Entry) {
        let Entry { offered, at: due, .. } = entry;
        let outcome = Outcome::Dropped { direction: self.direction, frame, cause, at: due };
        self.exits.refuse(Settled { due, offered, outcome });
    }

    /// Lets a frame come out, or be lost. Returns when.
    #[inline]
    fn settle(&mut self, mut frame: F, passage: Passage, entry: Entry) -> Instant {
        let direction = self.direction;
        let (due, outcome) = if let Some(cause) = passage.cause {
            let at = passage.end;
            (self.exits.give_up(at), Outcome::Dropped { direction, frame, cause, at })
        } else {
            if passage.corrupt {
                frame.corrupt();
            }
            let exit = self.exits.come_out(passage.arrival, passage.spike);
            let held = self.held_before(passage, entry) + exit.held;
            (exit.at, Outcome::Delivered { direction, frame, held, duplicate: false })
        };
        if passage.cause.is_none() && (passage.corrupt || entry.marked) {
            let blemish = Blemish { corrupt: passage.corrupt, marked: entry.marked };
            self.exits.blemish(due, blemish);
        }
        let settled = Settled { due, offered: entry.offered, outcome };
        let second = passage.second.map(|arrival| (arrival, settled.clone()));
        self.exits.push(settled);
        if let Some((arrival, settled)) = second {
            self.repeat(settled, arrival, passage, entry);
        }
        due
    }

    /// How long a frame was held before it left for the far end.
    fn held_before(&mut self, passage: Passage, entry: Entry) -> Duration {
        let stalled = self.stalled(entry.at, passage.end);
        entry.at.since(entry.offered) + stalled + passage.service
    }

    /// Lets the second copy of a frame come out that reaches the far end at `arrival`.
    #[cold]
    fn repeat(&mut self, first: Settled<F>, arrival: Instant, passage: Passage, entry: Entry) {
        let Outcome::Delivered { frame, direction, .. } = first.outcome else { return };
        let exit = self.exits.come_out(arrival, passage.spike);
        let held = self.held_before(passage, entry) + exit.held;
        let outcome = Outcome::Delivered { direction, frame, held, duplicate: true };
        self.exits.push_duplicate(Settled { due: exit.at, outcome, ..first });
    }

    /// When the transmitter can next begin with a frame, from `at` on: it is done with those before
    /// and not stalled.
    pub(crate) fn free_at(&mut self, at: Instant) -> Instant {
        self.line.transmitter.begin(Instant::START, at)
    }

    /// When the transmitter is done with all frames so far.
    pub(crate) const fn idle_from(&self) -> Instant {
        self.line.transmitter.idle_from
    }

    /// How long the transmitter stalls between `from` and `to`.
    pub(crate) fn stalled(&mut self, from: Instant, to: Instant) -> Duration {
        self.line.transmitter.stalls().covered(from, to)
    }

    /// Is this direction out by itself?
    pub(crate) fn is_out(&mut self, at: Instant) -> bool {
        self.line.is_out(at)
    }

    /// The propagation delay of a frame whose transmission ends at `end`.
    pub(crate) fn propagation(&mut self, end: Instant) -> Duration {
        self.line.propagation(end)
    }

    /// The next outcome due at or before `at`.
    #[inline]
    pub(crate) fn poll(&mut self, at: Instant) -> Option<Outcome<F>> {
        self.exits.poll(at, &mut self.stats)
    }

    /// When the next outcome is due; [`Instant::NEVER`] if there is none.
    #[inline]
    pub(crate) fn due(&self) -> Instant {
        self.exits.due()
    }

    pub(crate) fn inside(&self) -> usize {
        self.exits.len()
    }

    pub(crate) fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Nobody will ask about anything before `at`.
    pub(crate) fn forget_before(&mut self, at: Instant) {
        self.entry_stalls.forget_before(at);
        self.line.forget_before(at);
    }

    pub(crate) fn record_disturbances(&mut self) {
        self.recording = true;
        self.entry_stalls.keep();
        self.line.record_disturbances();
    }

    /// The stalls, outages and spikes that began before `until`, if they are recorded.
    pub(crate) fn disturbances(&mut self, until: Instant, into: &mut Vec<Disturbance>) {
        if !self.recording {
            return;
        }
        let (kind, direction) = (DisturbanceKind::Stall, Some(self.direction));
        let stalls = self.entry_stalls.until(until);
        into.extend(stalls.map(|Span { from, to }| Disturbance { kind, direction, from, to }));
        self.line.disturbances(until, into);
    }
}
