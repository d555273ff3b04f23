//! Random and scripted impairments of single frames.

use alloc::vec::Vec;

use rtolab_time::{Duration, Instant};

use crate::config::{DirectionConfig, Probability, Spikes};
use crate::jitter::Jitter;
use crate::reseed::{RandomPart, Visit};
use crate::stream::{Rng, Stream};

/// The state of a link; a link without states is always in the good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Good,
    Bad,
}

/// The impairments of the n-th transmitted frame. An error depends also on the link's state: see
/// [`Impairments::is_error`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FrameImpairments {
    /// Does the scenario drop it?
    pub(crate) script: bool,
    error: ErrorDraw,
    /// Its delay spike, or zero.
    pub(crate) spike: Duration,
    pub(crate) jitter: Duration,
    pub(crate) corrupt: bool,
    /// The jitter of its second copy, if it has one.
    pub(crate) duplicate: Option<Duration>,
}

/// The random draws that decide about an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ErrorDraw {
    draw: u32,
    /// Does it have the outcome of the frame before it, if the state is the same?
    as_before: bool,
}

/// Draws the impairments of one direction's frames in the order of transmission.
#[derive(Clone, Debug)]
pub(crate) struct Impairments {
    /// No frame has any impairment. It is checked first, so that a plain link has no cost.
    is_plain: bool,
    transmitted: u32,
    /// The numbers of the frames to drop, descending.
    drops: Vec<u32>,
    errors: Option<Errors>,
    spikes: Option<(Spikes, Rng)>,
    jitter: Option<Jitter>,
    corruption: Option<RandomEvent>,
    duplication: Option<Duplication>,
}

/// A random event with a fixed probability.
#[derive(Clone, Debug)]
struct RandomEvent {
    probability: Probability,
    rng: Rng,
}

impl RandomEvent {
    /// `None` if it never happens.
    fn new(probability: Probability, stream: Stream) -> Option<Self> {
        (probability > Probability::ZERO).then(|| Self { probability, rng: stream.rng() })
    }

    fn happens(&mut self) -> bool {
        self.probability.happens(self.rng.draw())
    }
}

/// Transmission errors.
#[derive(Clone, Debug)]
struct Errors {
    good: Probability,
    bad: Probability,
    rng: Rng,
    memory: Option<RandomEvent>,
    /// The state at the last frame, and whether that was lost.
    last: Option<(State, bool)>,
}

/// Second copies.
#[derive(Clone, Debug)]
struct Duplication {
    chance: RandomEvent,
    jitter: Option<Jitter>,
}

impl Impairments {
    /// `stream` is the direction's.
    pub(crate) fn new(config: &DirectionConfig, stream: Stream) -> Self {
        let mut drops: Vec<u32> = config.drops.iter().copied().filter(|n| *n > 0).collect();
        drops.sort_unstable_by(|a, b| b.cmp(a));
        drops.dedup();
        let jitter = |name| Jitter::new(config, stream.child(name));
        let duplication = RandomEvent::new(config.duplication, stream.child("duplication"));
        let mut impairments = Self {
            is_plain: false,
            transmitted: 0,
            drops,
            errors: Errors::new(config, stream),
            spikes: config.spikes.clone().map(|spikes| (spikes, stream.child("spikes").rng())),
            jitter: jitter("jitter"),
            corruption: RandomEvent::new(config.corruption, stream.child("corruption")),
            duplication: duplication
                .map(|chance| Duplication { chance, jitter: jitter("duplicate-jitter") }),
        };
        impairments.is_plain = impairments.are_plain();
        impairments
    }

    fn are_plain(&self) -> bool {
        let Self { is_plain: _, transmitted: _, drops, errors, spikes, jitter, .. } = self;
        let Self { corruption, duplication, .. } = self;
        drops.is_empty()
            && errors.is_none()
            && spikes.is_none()
            && jitter.is_none()
            && corruption.is_none()
            && duplication.is_none()
    }

    /// Passes everything in it that is random to `visit`.
    pub(crate) fn visit(&mut self, visit: Visit<'_>) {
        let Self { errors, spikes, jitter, corruption, duplication, .. } = self;
        if let Some(Errors { rng, memory, .. }) = errors {
            visit(RandomPart::Numbers(rng));
            if let Some(memory) = memory {
                visit(RandomPart::Numbers(&mut memory.rng));
            }
        }
        if let Some((_, rng)) = spikes {
            visit(RandomPart::Numbers(rng));
        }
        if let Some(jitter) = jitter {
            jitter.visit(visit);
        }
        if let Some(event) = corruption {
            visit(RandomPart::Numbers(&mut event.rng));
        }
        if let Some(Duplication { chance, jitter }) = duplication {
            visit(RandomPart::Numbers(&mut chance.rng));
            if let Some(jitter) = jitter {
                jitter.visit(visit);
            }
        }
    }

    pub(crate) const fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Draws the impairments of the next frame, whose transmission begins at `at`.
    #[inline]
    pub(crate) fn draw(&mut self, at: Instant) -> FrameImpairments {
        if self.is_plain { FrameImpairments::default() } else { self.find(at) }
    }

    fn find(&mut self, at: Instant) -> FrameImpairments {
        self.transmitted = self.transmitted.wrapping_add(1);
        let script = self.drops.last() == Some(&self.transmitted);
        if script {
            self.drops.pop();
        }
        FrameImpairments {
            script,
            error: self.errors.as_mut().map_or(ErrorDraw::default(), Errors::draw),
            spike: self.spikes.as_mut().map_or(Duration::ZERO, |(spikes, rng)| spike(spikes, rng)),
            jitter: Jitter::next(&mut self.jitter, at),
            corrupt: self.corruption.as_mut().is_some_and(RandomEvent::happens),
            duplicate: self.duplication.as_mut().and_then(|second| second.draw(at)),
        }
    }

    /// Does a transmission error lose the frame that was drawn last, if the link is in this state?
    #[inline]
    pub(crate) fn is_error(&mut self, impaired: FrameImpairments, state: State) -> bool {
        self.errors.as_mut().is_some_and(|errors| errors.is_error(impaired.error, state))
    }
}

impl Errors {
    /// `None` if there are none.
    fn new(config: &DirectionConfig, stream: Stream) -> Option<Self> {
        let good = config.loss;
        let bad = config.bad.loss.unwrap_or(good);
        (good.max(bad) > Probability::ZERO).then(|| Self {
            good,
            bad,
            rng: stream.child("loss").rng(),
            memory: RandomEvent::new(config.loss_memory, stream.child("memory")),
            last: None,
        })
    }

    fn draw(&mut self) -> ErrorDraw {
        let as_before = self.memory.as_mut().is_some_and(RandomEvent::happens);
        ErrorDraw { draw: self.rng.draw(), as_before }
    }

    fn is_error(&mut self, error: ErrorDraw, state: State) -> bool {
        let chance = match state {
            State::Good => self.good,
            State::Bad => self.bad,
        };
        let destroyed = match self.last {
            Some((last, destroyed)) if error.as_before && last == state => destroyed,
            _ => chance.happens(error.draw),
        };
        self.last = Some((state, destroyed));
        destroyed
    }
}

impl Duplication {
    /// Draws the jitter even without a second copy, so that the n-th draw stays the n-th frame's.
    fn draw(&mut self, at: Instant) -> Option<Duration> {
        let jitter = Jitter::next(&mut self.jitter, at);
        self.chance.happens().then_some(jitter)
    }
}

/// Draws both numbers even without a spike, so that the n-th draw stays the n-th frame's.
fn spike(spikes: &Spikes, rng: &mut Rng) -> Duration {
    if spikes.probability.happens(rng.draw()) {
        return rng.span(&spikes.length);
    }
    rng.bits();
    Duration::ZERO
}
