//! Both directions of a link and what they share.

use alloc::boxed::Box;
use alloc::vec::Vec;

use rtolab_time::Instant;

use crate::arq_node::ArqNodes;
use crate::config::{ChannelConfig, Discipline};
use crate::frame::{Direction, Frame, Outcome};
use crate::layers::{Direct, Retransmitting};
use crate::occupancy::QueueLength;
use crate::one_way::OneWay;
use crate::pipe::Pipe;
use crate::report::{Disturbance, DisturbanceKind, Stats};
use crate::reseed::reseed;
use crate::stream::Stream;
use crate::timeline::{Span, Timeline};

/// A sans-IO link between two ends. It takes frames and the time, and returns the outcome of each
/// frame.
///
/// Time must not go backwards: each `at` is at least the previous one.
///
/// Without ARQ and CoDel the outcome of a frame is known when it is sent, and waits inside until it
/// is due. If order is kept, each direction returns outcomes in the order of entry: a loss is
/// returned when it happens or, if earlier frames are still inside, right after these; a frame that
/// the queue refuses is returned at once. Otherwise outcomes are returned as they are due, and of
/// two that are due together the earlier frame's first.
///
/// With ARQ or CoDel the outcome depends on later frames and on the other direction, and outcomes
/// are returned as they happen: see [`Channel::is_coupled`].
///
/// Its random processes draw from children of the given stream:
///
/// - `outages` and, if both directions change together, `states`;
/// - for each direction `forward/stalls`, `forward/outages`, `forward/priority` and, if each
///   changes by itself, `forward/states`: their events do not depend on the traffic;
/// - `forward/loss`, `forward/memory`, `forward/spikes`, `forward/jitter`, `forward/corruption`,
///   `forward/duplication`, `forward/duplicate-jitter`: one draw for the n-th transmitted frame;
///   `forward/stage` draws any number;
/// - `forward/red`: one draw for the n-th frame that arrives at the queue.
#[derive(Clone, Debug)]
pub struct Channel<F: Frame> {
    kind: Kind<F>,
    outages: Timeline,
    recording: bool,
}

/// The implementation. The first variant is the fast path: it is stored inline, and an explicit tag
/// is faster than a niche in one of its fields.
#[derive(Clone, Debug)]
#[repr(u8)]
#[expect(clippy::large_enum_variant)]
enum Kind<F: Frame> {
    /// The outcome of a frame is known at entry.
    KnownAtEntry([OneWay<F>; 2]),
    /// The outcome is known when the frame leaves the queue.
    Queued(Box<ArqNodes<F, Direct>>),
    /// The outcome depends on the other end.
    Retransmitting(Box<ArqNodes<F, Retransmitting<F>>>),
}

/// Matches both variants with ARQ nodes by the same arm.
macro_rules! either {
    ($kind:expr, $plain:pat => $known:expr, $arq_nodes:pat => $coupled:expr) => {
        match $kind {
            Kind::KnownAtEntry($plain) => $known,
            Kind::Queued($arq_nodes) => $coupled,
            Kind::Retransmitting($arq_nodes) => $coupled,
        }
    };
}

impl<F: Frame> Kind<F> {
    fn new(config: &ChannelConfig, stream: Stream) -> Self {
        let controlled = Direction::BOTH
            .iter()
            .any(|direction| matches!(config.of(*direction).discipline, Discipline::CoDel(_)));
        match (config.arq.is_empty(), controlled) {
            (false, _) => Self::Retransmitting(ArqNodes::new(config, stream)),
            (true, true) => Self::Queued(ArqNodes::new(config, stream)),
            (true, false) => Self::KnownAtEntry(
                Direction::BOTH.map(|direction| OneWay::new(config, direction, stream)),
            ),
        }
    }
}

impl<F: Frame> Channel<F> {
    /// An empty link at time 0. `stream` belongs to this link alone.
    pub fn new(config: &ChannelConfig, stream: &Stream) -> Self {
        let outages = &config.outages;
        Self {
            kind: Kind::new(config, *stream),
            outages: Timeline::new(
                &outages.scripted,
                outages.random.as_ref(),
                stream.child("outages"),
            ),
            recording: false,
        }
    }

    /// Both directions as pipes, which return the same outcomes, if frames only queue, are sent at
    /// one rate and have one delay. Call it before the first frame.
    pub fn pipes(&self) -> Option<[Pipe; 2]> {
        match &self.kind {
            Kind::KnownAtEntry([forward, backward]) if self.outages.is_empty() => {
                Some([forward.pipe()?, backward.pipe()?])
            }
            _ => None,
        }
    }

    /// Can a frame in one direction change the outcomes of the other? If so, ask
    /// [`Channel::next_event_of`] for both directions after every call. It then returns when there
    /// may be an outcome, so a poll can return `None`.
    #[inline]
    pub const fn is_coupled(&self) -> bool {
        !matches!(self.kind, Kind::KnownAtEntry(_))
    }

    /// Sends a frame into the link.
    #[inline]
    pub fn send(&mut self, direction: Direction, frame: F, at: Instant) {
        either!(&mut self.kind,
            plain => {
                self.outages.forget_before(at);
                let one_way = &mut plain[direction.index()];
                one_way.forget_before(at);
                one_way.send(frame, at, &mut self.outages);
            },
            arq => arq.send(direction, frame, at, &mut self.outages)
        );
    }

    /// The next outcome due by `at`; the forward one first of two that are due together.
    pub fn poll(&mut self, at: Instant) -> Option<Outcome<F>> {
        either!(&mut self.kind,
            [forward, backward] => match forward.due() <= backward.due() {
                true => forward.poll(at),
                false => backward.poll(at),
            },
            arq => arq.poll_either(at, &mut self.outages)
        )
    }

    /// The next outcome of one direction due by `at`.
    #[inline]
    pub fn poll_direction(&mut self, direction: Direction, at: Instant) -> Option<Outcome<F>> {
        either!(&mut self.kind,
            plain => plain[direction.index()].poll(at),
            arq => arq.poll(direction, at, &mut self.outages)
        )
    }

    /// When to [`poll`](Channel::poll) next; a coupled link may then have no outcome.
    pub fn next_event(&self) -> Option<Instant> {
        let [forward, backward] = Direction::BOTH.map(|direction| self.due(direction));
        Some(forward.min(backward)).filter(|due| *due < Instant::NEVER)
    }

    /// When to [`poll_direction`](Channel::poll_direction) next; a coupled link may then have no
    /// outcome, but may need the call so that the other direction can proceed.
    #[inline]
    pub fn next_event_of(&self, direction: Direction) -> Option<Instant> {
        Some(self.due(direction)).filter(|due| *due < Instant::NEVER)
    }

    #[inline]
    fn due(&self, direction: Direction) -> Instant {
        either!(&self.kind,
            plain => plain[direction.index()].due(),
            arq => arq.due(direction)
        )
    }

    /// The number of this direction's frames whose outcomes were not returned yet.
    pub fn frames_inside(&self, direction: Direction) -> usize {
        either!(&self.kind,
            plain => plain[direction.index()].in_transit(),
            arq => arq.in_transit(direction)
        )
    }

    /// Continues with other random numbers, which depend on those so far and on `salt` alone. What
    /// is decided already stays: frames inside, and the next random span of each kind. A
    /// user-defined stage keeps its generator.
    pub fn reseed(&mut self, salt: u64) {
        reseed(salt, |visit| {
            self.outages.visit(visit);
            either!(&mut self.kind,
                plain => plain.iter_mut().for_each(|one_way| one_way.visit(visit)),
                arq => arq.visit(visit)
            );
        });
    }

    /// Watches the queues from now on, for [`Channel::queue_length`]. Call it before the first
    /// frame.
    pub fn watch_queues(&mut self) {
        if let Kind::KnownAtEntry(plain) = &mut self.kind {
            plain.iter_mut().for_each(OneWay::watch_queue);
        }
    }

    /// The frames of this direction that wait for their transmission at `at`, including those at a
    /// stalled entry. `at` must not decrease. [`Channel::watch_queues`] must have been called.
    pub fn queue_length(&mut self, direction: Direction, at: Instant) -> QueueLength {
        either!(&mut self.kind,
            plain => plain[direction.index()].queue_length(at),
            arq => arq.queue_length(direction)
        )
    }

    /// The counts of this direction so far.
    pub fn stats(&self, direction: Direction) -> &Stats {
        either!(&self.kind,
            plain => plain[direction.index()].stats(),
            arq => arq.stats(direction)
        )
    }

    /// Records disturbances from now on, for [`Channel::disturbances`]. Call it before the first
    /// frame.
    pub fn record_disturbances(&mut self) {
        self.recording = true;
        self.outages.keep();
        either!(&mut self.kind,
            plain => plain.iter_mut().for_each(OneWay::record_disturbances),
            arq => arq.record_disturbances()
        );
    }

    /// Keeps all outages, for [`Channel::outage`]. Call it before the first frame.
    pub fn keep_outages(&mut self) {
        self.outages.keep();
        for direction in Direction::BOTH {
            self.outages_of(direction).keep();
        }
    }

    /// The outage with this index, in order of time, of those of one direction or, if `direction`
    /// is `None`, of those of both at once; `None` if it has not begun by `at`. Outages that touch
    /// are merged. [`Channel::keep_outages`] must have been called.
    pub fn outage(
        &mut self,
        direction: Option<Direction>,
        (index, at): (usize, Instant),
    ) -> Option<Disturbance> {
        let timeline = match direction {
            None => &mut self.outages,
            Some(direction) => self.outages_of(direction),
        };
        let Span { from, to } = timeline.nth(index, at)?;
        Some(Disturbance { kind: DisturbanceKind::Outage, direction, from, to })
    }

    /// The outages of one direction alone.
    fn outages_of(&mut self, direction: Direction) -> &mut Timeline {
        either!(&mut self.kind,
            plain => plain[direction.index()].outages(),
            arq => arq.outages(direction)
        )
    }

    /// The recorded stalls, outages and spikes that began before `until`, in order of their
    /// beginnings. Stalls and outages that touch are merged.
    pub fn disturbances(&mut self, until: Instant) -> Vec<Disturbance> {
        let mut all = Vec::new();
        if !self.recording {
            return all;
        }
        let (kind, direction) = (DisturbanceKind::Outage, None);
        let outages = self.outages.until(until);
        all.extend(outages.map(|Span { from, to }| Disturbance { kind, direction, from, to }));
        either!(&mut self.kind,
            plain => plain.iter_mut().for_each(|one_way| one_way.disturbances(until, &mut all)),
            arq => arq.disturbances(until, &mut all)
        );
        all.sort_by_key(|disturbance| disturbance.from);
        all
    }
}
