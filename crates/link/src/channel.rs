//! Both directions of a link and what they share.

use alloc::boxed::Box;
use alloc::vec::Vec;

use rtolab_time::Instant;

use crate::arq_node::ArqNodes;
use crate::config::{ChannelConfig, Discipline};
use crate::frame::{Direction, Frame, Outcome};
use crate::layers::{Direct, Repeating};
use crate::one_way::OneWay;
use crate::pipe::Pipe;
use crate::report::{Disturbance, DisturbanceKind, Stats};
use crate::stream::Stream;
use crate::timeline::{Span, Timeline};

/// A link between two ends, sans-IO: it is told of frames and of the time, and says which come out,
/// when, and what became of the others.
///
/// Time must not go backwards: no `at` may be earlier than one before it.
///
/// Without local retransmission and controlled delay a frame's fate is settled when it is sent, and
/// its outcome waits inside until it is due. Where order is kept, each direction gives the outcomes
/// of the frames that entered in their order: a lost one is told when it was lost or, if frames
/// before it are still inside, right after these; a frame that the queue did not take is told at
/// once. Where order is free, outcomes are told as they are due, and of two that are due together
/// the one of the earlier frame first.
///
/// With one of them a frame's fate depends on what comes later and on the other direction, and
/// outcomes are told as they happen: see [`Channel::is_coupled`].
///
/// Its random processes draw from children of the stream it is given:
///
/// - `outages` and, if both directions change together, `states`;
/// - for either direction `forward/stalls`, `forward/outages`, `forward/priority` and, if each
///   changes by itself, `forward/states`: these happen at the same times whatever the traffic is;
/// - `forward/loss`, `forward/memory`, `forward/spikes`, `forward/jitter`, `forward/corruption`,
///   `forward/duplication`, `forward/duplicate-jitter`: these hit the n-th transmitted frame
///   whenever that comes; what `forward/stage` draws is its own affair;
/// - `forward/red`: it hits the n-th frame that comes to the queue.
#[derive(Clone, Debug)]
pub struct Channel<F: Frame> {
    kind: Kind<F>,
    outages: Timeline,
    recording: bool,
}

/// What it is made of. The first kind is the one that has to be fast: it lives here, and a tag of
/// its own is faster told than what the compiler would hide in a field.
#[derive(Clone, Debug)]
#[repr(u8)]
#[expect(clippy::large_enum_variant)]
enum Kind<F: Frame> {
    /// A frame's fate is known at its entry.
    Settled([OneWay<F>; 2]),
    /// It shows at the exit of the queue.
    Queued(Box<ArqNodes<F, Direct>>),
    /// It depends on the other end.
    Repeating(Box<ArqNodes<F, Repeating<F>>>),
}

/// The same for either kind of stations.
macro_rules! either {
    ($kind:expr, $plain:pat => $settled:expr, $arq_nodes:pat => $coupled:expr) => {
        match $kind {
            Kind::Settled($plain) => $settled,
            Kind::Queued($arq_nodes) => $coupled,
            Kind::Repeating($arq_nodes) => $coupled,
        }
    };
}

impl<F: Frame> Kind<F> {
    fn new(config: &ChannelConfig, stream: Stream) -> Self {
        let controlled = Direction::BOTH
            .iter()
            .any(|direction| matches!(config.of(*direction).discipline, Discipline::CoDel(_)));
        match (config.arq.is_empty(), controlled) {
            (false, _) => Self::Repeating(ArqNodes::new(config, stream)),
            (true, true) => Self::Queued(ArqNodes::new(config, stream)),
            (true, false) => Self::Settled(
                Direction::BOTH.map(|direction| OneWay::new(config, direction, stream)),
            ),
        }
    }
}

impl<F: Frame> Channel<F> {
    /// An empty link at the start of a run. `stream` belongs to this link alone.
    pub fn new(config: &ChannelConfig, stream: &Stream) -> Self {
        let outages = &config.outages;
        Self {
            kind: Kind::new(config, *stream),
            outages: Timeline::new(&outages.scripted, outages.random, stream.child("outages")),
            recording: false,
        }
    }

    /// Both directions as pipes, if nothing ever happens in either but that frames queue, are sent
    /// at one rate and take one delay: what comes out, and when, is the same. Ask before the first
    /// frame.
    pub fn pipes(&self) -> Option<[Pipe; 2]> {
        match &self.kind {
            Kind::Settled([forward, backward]) if self.outages.is_quiet() => {
                Some([forward.pipe()?, backward.pipe()?])
            }
            _ => None,
        }
    }

    /// Can what happens in one direction change what the other has to say? Then ask
    /// [`Channel::next_event_of`] for both after every call; what it names is when there may be
    /// something to say, so that polling in vain is possible.
    #[inline]
    pub const fn is_coupled(&self) -> bool {
        !matches!(self.kind, Kind::Settled(_))
    }

    /// A frame comes to the link.
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

    /// The next outcome due at or before `at`, of either direction; the forward one first of two
    /// that are due together.
    pub fn poll(&mut self, at: Instant) -> Option<Outcome<F>> {
        either!(&mut self.kind,
            [forward, backward] => match forward.due() <= backward.due() {
                true => forward.poll(at),
                false => backward.poll(at),
            },
            arq => arq.poll_either(at, &mut self.outages)
        )
    }

    /// The next outcome of one direction due at or before `at`.
    #[inline]
    pub fn poll_direction(&mut self, direction: Direction, at: Instant) -> Option<Outcome<F>> {
        either!(&mut self.kind,
            plain => plain[direction.index()].poll(at),
            arq => arq.poll(direction, at, &mut self.outages)
        )
    }

    /// When [`Channel::poll`] next has something to say; of a coupled link, when it may have.
    pub fn next_event(&self) -> Option<Instant> {
        let [forward, backward] = Direction::BOTH.map(|direction| self.due(direction));
        Some(forward.min(backward)).filter(|due| *due < Instant::NEVER)
    }

    /// When [`Channel::poll_direction`] next has something to say; of a coupled link, when it may
    /// have, or is wanted so that the other direction can go on.
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

    /// How many frames of this direction are inside, their outcomes still to be told.
    pub fn inside(&self, direction: Direction) -> usize {
        either!(&self.kind,
            plain => plain[direction.index()].inside(),
            arq => arq.inside(direction)
        )
    }

    /// What happened to this direction's frames so far.
    pub fn stats(&self, direction: Direction) -> &Stats {
        either!(&self.kind,
            plain => plain[direction.index()].stats(),
            arq => arq.stats(direction)
        )
    }

    /// From now on, remember disturbances for [`Channel::disturbances`]. Ask before the first
    /// frame.
    pub fn record_disturbances(&mut self) {
        self.recording = true;
        self.outages.keep();
        either!(&mut self.kind,
            plain => plain.iter_mut().for_each(OneWay::record_disturbances),
            arq => arq.record_disturbances()
        );
    }

    /// The stalls, outages and spikes that began before `until`, in the order of their beginnings;
    /// none unless they are recorded. Stalls and outages that touch are one.
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
