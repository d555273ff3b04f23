//! One direction of a link.
//!
//! On a FIFO link the outcome of a frame is known at its entry. It is computed then, and waits
//! until it is due. The path of a frame:
//!
//! - entry, once that is not stalled;
//! - queue, if limit and discipline permit;
//! - send buffer, once it has space;
//! - transmission, after the frame before it and if it is not too old;
//! - delivery, not before the frame before it if order is kept.

use alloc::boxed::Box;
use alloc::vec::Vec;

use rtolab_time::{Duration, Instant};

use crate::admission::{Admission, AdmissionDecision, Backlog};
use crate::config::{ChannelConfig, StallHolds, Stalls};
use crate::delivery_queue::{Delivery, DeliveryQueue, ScheduledOutcome};
use crate::frame::{Direction, DropCause, Frame, Outcome};
use crate::header_compression::Compression;
use crate::medium::{LineTransit, Medium};
use crate::occupancy::{Buffers, Queue, QueueLength};
use crate::pipe::Pipe;
use crate::report::{Disturbance, DisturbanceKind, Impairment, Stats};
use crate::reseed::Visit;
use crate::stream::Stream;
use crate::timeline::{Interrupting, Span, Timeline};

#[derive(Clone, Debug)]
pub(crate) struct OneWay<F> {
    direction: Direction,
    /// Does the direction have no stalls, pauses, states or own outages, so that no timeline needs
    /// to be checked?
    is_undisturbed: bool,
    entry_stalls: Timeline,
    admission: Admission,
    queue: Queue,
    buffers: Option<Buffers>,
    lifetime: Option<Duration>,
    compression: Option<Box<Compression>>,
    medium: Medium,
    delivery_queue: DeliveryQueue<F>,
    stats: Stats,
    recording: bool,
    /// The frames before their transmission, those at a stalled entry among them, if somebody
    /// watches.
    watched_queue: Option<Queue>,
}

/// The entry of a frame.
#[derive(Clone, Copy)]
struct Entry {
    offered: Instant,
    /// When it entered, after stalls of the entry.
    at: Instant,
    /// Opportunities up to this instant have passed.
    since: Instant,
    /// Did the queue mark it?
    marked: bool,
}

impl<F: Frame> OneWay<F> {
    /// `stream` is the whole link's.
    pub(crate) fn new(config: &ChannelConfig, direction: Direction, stream: Stream) -> Self {
        let medium = Medium::new(config, direction, stream);
        let stream = stream.child(direction.name());
        let request_delay = config.of(direction.reverse()).delay;
        let config = config.of(direction);
        Self {
            direction,
            is_undisturbed: medium.is_undisturbed() && config.stalls == Stalls::default(),
            entry_stalls: match config.stalls.holds {
                StallHolds::Entry => Timeline::stalls(config, stream),
                StallHolds::Transmitter => Timeline::empty(),
            },
            admission: Admission::new(config.queue, config.discipline, stream),
            queue: Queue::default(),
            buffers: Buffers::new(config),
            lifetime: config.lifetime,
            compression: Compression::new(config.header_compression, request_delay).map(Box::new),
            medium,
            delivery_queue: DeliveryQueue::new(config.order),
            stats: Stats::default(),
            recording: false,
            watched_queue: None,
        }
    }

    /// An equivalent pipe, if the direction is plain. A pipe has a delay above zero.
    pub(crate) fn pipe(&self) -> Option<Pipe> {
        let (serialiser, delay) = self.medium.plain().filter(|_| self.is_undisturbed)?;
        let limit = self.admission.plain().filter(|_| self.buffers.is_none())?;
        let plain = self.lifetime.is_none() && self.compression.is_none() && !delay.is_zero();
        plain.then(|| Pipe::new(serialiser, delay, limit))
    }

    /// Sends a frame; `outages` are those of both directions.
    #[inline]
    pub(crate) fn send(&mut self, frame: F, at: Instant, outages: &mut Timeline) {
        let entry = if self.is_undisturbed { at } else { self.entry_stalls.release(at) };
        let entry = Entry { offered: at, at: entry, since: entry, marked: false };
        self.process(frame, entry, outages);
    }

    /// Sends a frame that waited elsewhere until the transmitter was free: an opportunity at this
    /// very instant has not passed.
    pub(crate) fn send_waiting(&mut self, frame: F, at: Instant, outages: &mut Timeline) {
        let entry = Entry { offered: at, at, since: Instant::START, marked: false };
        self.process(frame, entry, outages);
    }

    #[inline]
    fn process(&mut self, frame: F, mut entry: Entry, outages: &mut Timeline) {
        self.stats.offered += 1;
        let compression = self.compression.as_ref();
        let encoded = compression.and_then(|compression| compression.encode(&frame, entry.at));
        let bytes = encoded.map_or_else(|| frame.bytes(), |encoded| encoded.bytes);
        let reservation = self.buffers.as_mut().map(|buffers| buffers.reserve(bytes, entry.at));
        let leaves_queue = match reservation {
            None => self.begin(entry, entry.at),
            Some(reservation) => reservation.at,
        };
        match self.admit((&frame, bytes), entry, leaves_queue) {
            AdmissionDecision::Enqueue => {}
            AdmissionDecision::EnqueueMarked => entry.marked = true,
            AdmissionDecision::Drop(cause) => return self.drop_at_entry(frame, cause, entry),
        }
        if let (Some(compression), Some(encoded)) = (&mut self.compression, encoded) {
            compression.compress(&frame, encoded);
        }
        let start = match reservation {
            None => leaves_queue,
            Some(reservation) => self.begin(entry, reservation.at),
        };
        if let Some(queue) = &mut self.watched_queue {
            queue.push(bytes, start);
        }
        let transit = match self.lifetime {
            Some(lifetime) if start.since(entry.offered) > lifetime => LineTransit::expired(start),
            _ => self.medium.transmit(bytes, start, outages),
        };
        let due = self.schedule(frame, transit, entry);
        if let (Some(buffers), Some(reservation)) = (&mut self.buffers, reservation) {
            buffers.occupy(reservation, bytes, due.max(transit.end + transit.propagation));
        }
    }

    /// Decides whether the queue takes a frame of that size that would leave it at `leaves_queue`.
    #[inline]
    fn admit(
        &mut self,
        frame: (&F, u32),
        entry: Entry,
        leaves_queue: Instant,
    ) -> AdmissionDecision {
        let idle_from = self.idle_from();
        if leaves_queue <= entry.at {
            self.admission.pass(idle_from, entry.at);
            return AdmissionDecision::Enqueue;
        }
        let backlog = Backlog { waiting: self.queue.waiting(entry.at), idle_from };
        let admit = self.admission.decide(backlog, frame, entry.at);
        if !matches!(admit, AdmissionDecision::Drop(_)) {
            let waiting = self.queue.push(frame.1, leaves_queue);
            self.stats.max_queue = self.stats.max_queue.max(waiting);
        }
        admit
    }

    /// When the transmission of a frame that may be sent from `ready` on begins.
    #[inline]
    fn begin(&mut self, entry: Entry, ready: Instant) -> Instant {
        self.medium.transmitter.begin(entry.since, ready)
    }

    fn drop_at_entry(&mut self, frame: F, cause: DropCause, entry: Entry) {
        let Entry { offered, at: due, .. } = entry;
        let outcome = Outcome::Dropped { direction: self.direction, frame, cause, at: due };
        self.delivery_queue.push_queue_drop(ScheduledOutcome { due, offered, outcome });
    }

    /// Schedules the delivery or the loss of a frame and returns its time. Most frames are
    /// delivered unchanged and moved once; a copy would cost more than everything else here.
    #[inline]
    fn schedule(&mut self, frame: F, transit: LineTransit, entry: Entry) -> Instant {
        if let Some(cause) = transit.cause {
            return self.lose(frame, cause, transit.end, entry);
        }
        if transit.corrupt || entry.marked || transit.second.is_some() {
            return self.deliver_impaired(frame, transit, entry);
        }
        let Delivery { at: due, held } = self.delivery_time(transit, entry);
        let (direction, offered, duplicate) = (self.direction, entry.offered, false);
        self.delivery_queue.push(ScheduledOutcome {
            due,
            offered,
            outcome: Outcome::Delivered { direction, frame, held, duplicate },
        });
        due
    }

    /// The delivery of a frame, with the total time for which it was held.
    #[inline]
    fn delivery_time(&mut self, transit: LineTransit, entry: Entry) -> Delivery {
        let Delivery { at, held } =
            self.delivery_queue.schedule_delivery(transit.arrival, transit.spike);
        let stalled = self.stalled(entry.at, transit.end);
        Delivery { at, held: entry.at.since(entry.offered) + stalled + transit.service + held }
    }

    #[cold]
    fn lose(&mut self, mut frame: F, cause: DropCause, at: Instant, entry: Entry) -> Instant {
        if entry.marked {
            frame.mark_congestion();
        }
        let (due, offered) = (self.delivery_queue.schedule_loss(at), entry.offered);
        let outcome = Outcome::Dropped { direction: self.direction, frame, cause, at };
        self.delivery_queue.push(ScheduledOutcome { due, offered, outcome });
        due
    }

    /// Delivers a frame that is marked, damaged or duplicated.
    #[cold]
    fn deliver_impaired(&mut self, mut frame: F, transit: LineTransit, entry: Entry) -> Instant {
        let impairment = Impairment { corrupt: transit.corrupt, marked: entry.marked };
        if impairment.marked {
            frame.mark_congestion();
        }
        if impairment.corrupt {
            frame.corrupt();
        }
        let (direction, offered) = (self.direction, entry.offered);
        let delivery = |frame, Delivery { at: due, held }, duplicate| {
            let outcome = Outcome::Delivered { direction, frame, held, duplicate };
            ScheduledOutcome { due, offered, outcome }
        };
        if let Some(compression) = &mut self.compression {
            compression.impair(&frame, impairment.corrupt, transit.second.is_some());
        }
        let exit = self.delivery_time(transit, entry);
        self.delivery_queue.add_impairment(exit.at, impairment);
        self.delivery_queue.push(delivery(frame.clone(), exit, false));
        if let Some(arrival) = transit.second {
            let second = self.delivery_time(LineTransit { arrival, ..transit }, entry);
            self.delivery_queue.push_duplicate(delivery(frame, second, true));
        }
        exit.at
    }

    /// When the transmitter can begin with a frame, from `at` on.
    pub(crate) fn free_at(&mut self, at: Instant) -> Instant {
        self.medium.transmitter.begin(Instant::START, at)
    }

    /// When the transmitter finishes all frames so far.
    pub(crate) const fn idle_from(&self) -> Instant {
        self.medium.transmitter.idle_from
    }

    /// How long the transmitter stalls between `from` and `to`.
    #[inline]
    pub(crate) fn stalled(&mut self, from: Instant, to: Instant) -> Duration {
        if self.is_undisturbed {
            return Duration::ZERO;
        }
        self.medium.transmitter.stalls().covered(from, to)
    }

    /// Passes everything in it that is random to `visit`.
    pub(crate) fn visit(&mut self, visit: Visit<'_>) {
        self.entry_stalls.visit(visit);
        self.admission.visit(visit);
        self.medium.visit(visit);
    }

    /// The outages of this direction alone.
    pub(crate) fn outages(&mut self) -> &mut Timeline {
        self.medium.outages()
    }

    /// Is this direction alone in an outage?
    pub(crate) fn is_out(&mut self, at: Instant) -> bool {
        self.medium.is_out(at)
    }

    /// The propagation delay of a frame whose transmission ends at `end`.
    pub(crate) fn propagation(&mut self, end: Instant) -> Duration {
        self.medium.propagation(end)
    }

    /// The next outcome due by `at`.
    #[inline]
    pub(crate) fn poll(&mut self, at: Instant) -> Option<Outcome<F>> {
        if self.compression.is_some() {
            return self.poll_compressed(at);
        }
        self.delivery_queue.poll(at, &mut self.stats)
    }

    #[cold]
    fn poll_compressed(&mut self, at: Instant) -> Option<Outcome<F>> {
        let due = self.delivery_queue.due();
        let mut outcome = self.delivery_queue.poll(at, &mut self.stats)?;
        if let Some(compression) = &mut self.compression {
            compression.decompress(&mut outcome, due, &mut self.stats);
        }
        Some(outcome)
    }

    /// When the next outcome is due, or [`Instant::NEVER`].
    #[inline]
    pub(crate) fn due(&self) -> Instant {
        self.delivery_queue.due()
    }

    pub(crate) fn in_transit(&self) -> usize {
        self.delivery_queue.len()
    }

    pub(crate) fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Discards the past before `at`.
    #[inline]
    pub(crate) fn forget_before(&mut self, at: Instant) {
        if self.is_undisturbed {
            return;
        }
        self.entry_stalls.forget_before(at);
        self.medium.forget_before(at);
    }

    pub(crate) fn watch_queue(&mut self) {
        self.watched_queue = Some(Queue::default());
    }

    pub(crate) fn queue_length(&mut self, at: Instant) -> QueueLength {
        self.watched_queue.as_mut().map(|queue| queue.waiting(at)).unwrap_or_default().into()
    }

    pub(crate) fn record_disturbances(&mut self) {
        self.recording = true;
        self.entry_stalls.keep();
        self.medium.record_disturbances();
    }

    /// The recorded stalls, outages and spikes that began before `until`.
    pub(crate) fn disturbances(&mut self, until: Instant, into: &mut Vec<Disturbance>) {
        if !self.recording {
            return;
        }
        let (kind, direction) = (DisturbanceKind::Stall, Some(self.direction));
        let stalls = self.entry_stalls.until(until);
        into.extend(stalls.map(|Span { from, to }| Disturbance { kind, direction, from, to }));
        self.medium.disturbances(until, into);
    }
}
