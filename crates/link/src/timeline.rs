//! Spans of time with a disturbance, independent of the traffic.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use rtolab_time::{Duration, Instant};

use crate::config::{DirectionConfig, Interval};
use crate::reseed::{RandomPart, RandomSpans, Visit};
use crate::stream::{BadSpans, RenewalProcess, Stream};

/// Times at which a transmitter does not work.
pub(crate) trait Interrupting {
    /// The first instant from `at` on at which it works.
    fn release(&mut self, at: Instant) -> Instant;

    /// An instant after `at` before which no interruption begins or ends.
    fn next_change(&mut self, at: Instant) -> Instant;
}

/// A half-open span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) from: Instant,
    pub(crate) to: Instant,
}

/// Scripted and random spans in one order, computed as far ahead as needed. Spans that touch or
/// overlap are merged. No query may be before the last [`Timeline::forget_before`].
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    /// The spans computed so far, ordered, with gaps between.
    known: VecDeque<Span>,
    /// Scripted spans that are not merged yet, by their start.
    scripted: VecDeque<Span>,
    /// Boxed: few links have any.
    random: Option<Box<BadSpans>>,
    /// When the first span begins that is not in `known`.
    unknown_from: Instant,
    keep: bool,
}

impl Timeline {
    pub(crate) fn new(
        scripted: &[Interval],
        random: Option<&RenewalProcess>,
        stream: Stream,
    ) -> Self {
        Self::of(scripted, random.and_then(|process| BadSpans::new(process.clone(), stream)))
    }

    fn of(scripted: &[Interval], random: Option<BadSpans>) -> Self {
        let mut spans: Vec<Span> = scripted
            .iter()
            .map(|window| Span { from: window.at, to: window.at + window.length })
            .collect();
        spans.sort_by_key(|span| span.from);
        let mut timeline = Self {
            known: VecDeque::new(),
            scripted: spans.into(),
            random: random.map(Box::new),
            unknown_from: Instant::START,
            keep: false,
        };
        timeline.unknown_from = timeline.next_start();
        timeline
    }

    /// The stalls of a direction with this stream.
    pub(crate) fn stalls(config: &DirectionConfig, stream: Stream) -> Self {
        let stalls = &config.stalls;
        let stream = stream.child("stalls");
        let random = stalls.random.as_ref();
        let random = random.and_then(|process| BadSpans::new(process.clone(), stream));
        Self::of(&stalls.scripted, random.map(|spans| spans.at_most(stalls.at_most)))
    }

    pub(crate) fn empty() -> Self {
        Self {
            known: VecDeque::new(),
            scripted: VecDeque::new(),
            random: None,
            unknown_from: Instant::NEVER,
            keep: false,
        }
    }

    /// Keeps all spans, for [`Timeline::until`].
    pub(crate) fn keep(&mut self) {
        self.keep = true;
    }

    /// Passes itself to `visit`, if it draws random numbers.
    pub(crate) fn visit(&mut self, visit: Visit<'_>) {
        if self.random.is_some() {
            visit(RandomPart::Spans(self));
        }
    }

    /// Discards the past before `at`.
    #[inline]
    pub(crate) fn forget_before(&mut self, at: Instant) {
        while !self.keep && self.known.front().is_some_and(|span| span.to <= at) {
            self.known.pop_front();
        }
    }

    /// Is there no span at all? Checked first, so that it costs an undisturbed link nothing.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.unknown_from == Instant::NEVER && self.known.is_empty()
    }

    fn find_release(&mut self, at: Instant) -> Instant {
        match self.first_ending_after(at) {
            Some(span) if span.from <= at => span.to,
            _ => at,
        }
    }

    #[inline]
    pub(crate) fn covers(&mut self, at: Instant) -> bool {
        self.release(at) != at
    }

    /// When work that begins at `start`, outside all spans, and stops during each is done.
    #[inline]
    pub(crate) fn work_through(&mut self, start: Instant, work: Duration) -> Instant {
        if self.is_empty() { start + work } else { self.find_work_through(start, work) }
    }

    fn find_work_through(&mut self, start: Instant, work: Duration) -> Instant {
        let (mut at, mut left) = (start, work);
        loop {
            self.compute_until(at + left);
            match self.first_ending_after(at) {
                Some(span) if span.from < at + left => {
                    left -= span.from.since(at);
                    at = span.to;
                }
                _ => return at + left,
            }
        }
    }

    /// The total length of spans between `from` and `to`.
    #[inline]
    pub(crate) fn covered(&mut self, from: Instant, to: Instant) -> Duration {
        if self.is_empty() { Duration::ZERO } else { self.find_covered(from, to) }
    }

    fn find_covered(&mut self, from: Instant, to: Instant) -> Duration {
        self.compute_until(to);
        let past = self.known.partition_point(|span| span.to <= from);
        let spans = self.known.range(past..).take_while(|span| span.from < to);
        spans.map(|span| span.to.min(to).since(span.from.max(from))).sum()
    }

    fn find_next_change(&mut self, at: Instant) -> Instant {
        match self.first_ending_after(at) {
            Some(span) if span.from <= at => span.to,
            Some(span) => span.from,
            None => self.unknown_from,
        }
    }

    /// The kept spans that begin before `until`.
    pub(crate) fn until(&mut self, until: Instant) -> impl Iterator<Item = Span> + '_ {
        self.compute_until(until);
        self.known.iter().copied().take_while(move |span| span.from < until)
    }

    /// The span with this index among the kept ones, if it has begun by `at`.
    pub(crate) fn nth(&mut self, index: usize, at: Instant) -> Option<Span> {
        self.compute_until(at);
        self.known.get(index).copied().filter(|span| span.from <= at)
    }

    fn first_ending_after(&mut self, at: Instant) -> Option<Span> {
        self.compute_until(at);
        let past = self.known.partition_point(|span| span.to <= at);
        self.known.get(past).copied()
    }

    /// Computes all spans that begin by `at`, each to its end.
    fn compute_until(&mut self, at: Instant) {
        loop {
            let end = self.known.back().map_or(Instant::START, |span| span.to);
            let wanted = at.max(end);
            if self.unknown_from > wanted || wanted == Instant::NEVER {
                return;
            }
            let span = self.take_next();
            match self.known.back_mut() {
                Some(last) if span.from <= last.to => last.to = last.to.max(span.to),
                _ if span.from < span.to => self.known.push_back(span),
                _ => {}
            }
            self.unknown_from = self.next_start();
        }
    }

    fn next_start(&self) -> Instant {
        let scripted = self.scripted.front().map_or(Instant::NEVER, |span| span.from);
        self.random.as_ref().map_or(Instant::NEVER, |spans| spans.from).min(scripted)
    }

    fn take_next(&mut self) -> Span {
        match &mut self.random {
            Some(spans) if spans.from == self.unknown_from => {
                let span = Span { from: spans.from, to: spans.to };
                spans.advance();
                span
            }
            _ => self.scripted.pop_front().expect("the next span is one or the other"),
        }
    }
}

impl RandomSpans for Timeline {
    fn stream(&self) -> Option<u64> {
        self.random.as_ref().map(|spans| spans.stream)
    }

    fn computed_until(&self) -> Instant {
        self.unknown_from
    }

    fn reseed(&mut self, end: Instant, salt: u64) {
        while self.unknown_from < end {
            self.compute_until(self.unknown_from);
        }
        if let Some(spans) = &mut self.random {
            spans.rng_mut().reseed(salt);
        }
    }
}

impl Interrupting for Timeline {
    #[inline]
    fn release(&mut self, at: Instant) -> Instant {
        if self.is_empty() { at } else { self.find_release(at) }
    }

    #[inline]
    fn next_change(&mut self, at: Instant) -> Instant {
        if self.is_empty() { Instant::NEVER } else { self.find_next_change(at) }
    }
}
