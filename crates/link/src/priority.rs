//! A source of higher priority, and its interruptions of other traffic.

use alloc::collections::VecDeque;

use rtolab_time::{Duration, Instant};

use crate::config::Priority;
use crate::rates::Rates;
use crate::reseed::{RandomPart, Visit};
use crate::stream::{BadSpans, Stream};
use crate::timeline::{Interrupting, Span, Timeline};

/// A source that leaves the transmitter no time during this number of packets never stops.
const MAX_CONSECUTIVE: u32 = 100_000;

/// The packets of the source.
#[derive(Clone, Debug)]
pub(crate) struct PriorityPackets {
    talks: BadSpans,
    every: Duration,
    /// The size of each packet in bytes.
    pub(crate) bytes: u32,
    /// When the next packet arrives, or [`Instant::NEVER`].
    pub(crate) next: Instant,
}

impl PriorityPackets {
    /// `None` if packets have no size or no interval: such a source sends nothing. `stream` is the
    /// direction's; the source draws from its child `priority`.
    pub(crate) fn new(priority: &Priority, stream: Stream) -> Option<Self> {
        let talks = BadSpans::new(priority.activity.clone(), stream.child("priority"))?;
        let (every, next) = (priority.every, talks.from);
        let mut packets = Self { talks, every, bytes: priority.packet, next };
        packets.skip_silences();
        (packets.bytes > 0 && !every.is_zero()).then_some(packets)
    }

    /// Passes its generator to `visit`.
    pub(crate) fn visit(&mut self, visit: Visit<'_>) {
        visit(RandomPart::Numbers(self.talks.rng_mut()));
    }

    pub(crate) fn advance(&mut self) {
        self.next += self.every;
        self.skip_silences();
    }

    fn skip_silences(&mut self) {
        while self.next >= self.talks.to && self.next < Instant::NEVER {
            self.talks.advance();
            self.next = self.talks.from;
        }
    }
}

/// When the transmitter is busy with the source's packets, computed as far ahead as needed.
#[derive(Clone, Debug)]
pub(crate) struct Interruptions {
    packets: PriorityPackets,
    rates: Rates,
    /// Only stalls delay the source's own packets.
    stalls: Timeline,
    /// The busy spans so far, ordered, with gaps between.
    busy: VecDeque<Span>,
    /// When the last busy span ends.
    busy_until: Instant,
    /// The packets in the last busy span.
    consecutive: u32,
}

impl Interruptions {
    pub(crate) fn new(packets: PriorityPackets, rates: Rates, stalls: Timeline) -> Self {
        Self {
            packets,
            rates,
            stalls,
            busy: VecDeque::new(),
            busy_until: Instant::START,
            consecutive: 0,
        }
    }

    /// Passes everything in it that is random to `visit`.
    pub(crate) fn visit(&mut self, visit: Visit<'_>) {
        self.packets.visit(visit);
        self.rates.visit(visit);
        self.stalls.visit(visit);
    }

    /// The first instant from `at` on outside stalls and busy spans.
    pub(crate) fn release(&mut self, at: Instant, stalls: &mut Timeline) -> Instant {
        let mut at = at;
        loop {
            match self.first_ending_after(at) {
                Some(span) if span.from <= at => at = stalls.release(span.to),
                _ => return at,
            }
        }
    }

    /// An instant after `at` before which no busy span begins or ends.
    pub(crate) fn next_change(&mut self, at: Instant) -> Instant {
        match self.first_ending_after(at) {
            Some(span) if span.from <= at => span.to,
            Some(span) => span.from,
            None => self.packets.next,
        }
    }

    /// Discards the past before `at`.
    pub(crate) fn forget_before(&mut self, at: Instant) {
        self.compute_until(at);
        while self.busy.front().is_some_and(|span| span.to <= at) {
            self.busy.pop_front();
        }
        let needed = self.packets.next.max(self.busy_until);
        self.stalls.forget_before(needed);
        self.rates.forget_before(needed);
    }

    fn first_ending_after(&mut self, at: Instant) -> Option<Span> {
        self.compute_until(at);
        let past = self.busy.partition_point(|span| span.to <= at);
        self.busy.get(past).copied()
    }

    /// Computes all busy spans that begin by `at`, each to its end.
    fn compute_until(&mut self, at: Instant) {
        loop {
            let wanted = at.max(self.busy_until);
            if self.packets.next > wanted || wanted == Instant::NEVER {
                return;
            }
            let from = self.stalls.release(self.packets.next.max(self.busy_until));
            let to = self.rates.send(self.packets.bytes, from, &mut self.stalls);
            self.append(Span { from, to });
            self.packets.advance();
        }
    }

    fn append(&mut self, span: Span) {
        match self.busy.back_mut() {
            Some(last) if span.from <= last.to => {
                self.consecutive += 1;
                last.to = if self.consecutive < MAX_CONSECUTIVE { span.to } else { Instant::NEVER };
                self.busy_until = last.to;
            }
            _ if span.from < span.to => {
                self.consecutive = 1;
                self.busy_until = span.to;
                self.busy.push_back(span);
            }
            _ => {}
        }
    }
}
