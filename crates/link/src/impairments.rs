//! What befalls single frames.

use alloc::vec::Vec;

use rtolab_time::Duration;

use crate::config::{DirectionConfig, Probability, Spikes};
use crate::stream::{Distribution, Rng, Stream};

/// Which state a link is in; one without states is in its good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Good,
    Bad,
}

/// What befalls the n-th transmitted frame, whenever that is. Whether an error destroys it depends
/// on the link's state as well: see [`Impairments::destroys`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fate {
    /// The scenario drops it.
    pub(crate) script: bool,
    /// Its luck against errors.
    luck: Luck,
    /// Its delay spike; zero for none.
    pub(crate) spike: Duration,
    /// Its random delay.
    pub(crate) jitter: Duration,
    /// It arrives damaged.
    pub(crate) corrupt: bool,
    /// It arrives twice, the second time with this random delay.
    pub(crate) duplicate: Option<Duration>,
}

/// Draws that stand for the chance of an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Luck {
    draw: u32,
    /// Does it fare as the one before it, if the link is in the same state?
    as_before: bool,
}

/// The fates of all frames of one direction, in the order of their transmission.
#[derive(Clone, Debug)]
pub(crate) struct Impairments {
    /// Nothing ever befalls any. Asked first, so that a plain link pays nothing.
    uneventful: bool,
    transmitted: u32,
    /// The frames to drop, the last one first.
    drops: Vec<u32>,
    errors: Option<Errors>,
    spikes: Option<(Spikes, Rng)>,
    jitter: Option<(Distribution, Rng)>,
    corruption: Option<Chance>,
    duplication: Option<Duplication>,
}

/// Something that happens to a frame or not.
#[derive(Clone, Debug)]
struct Chance {
    probability: Probability,
    rng: Rng,
}

impl Chance {
    /// `None` where it never happens.
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
    memory: Option<Chance>,
    /// In which state the last frame was sent, and whether it was destroyed.
    last: Option<(State, bool)>,
}

/// Second copies.
#[derive(Clone, Debug)]
struct Duplication {
    chance: Chance,
    jitter: Option<(Distribution, Rng)>,
}

impl Impairments {
    /// `stream` is the direction's.
    pub(crate) fn new(config: &DirectionConfig, stream: Stream) -> Self {
        let mut drops: Vec<u32> = config.drops.iter().copied().filter(|n| *n > 0).collect();
        drops.sort_unstable_by(|a, b| b.cmp(a));
        drops.dedup();
        let jitter = |name| config.jitter.map(|jitter| (jitter, stream.child(name).rng()));
        let duplication = Chance::new(config.duplication, stream.child("duplication"));
        let mut impairments = Self {
            uneventful: false,
            transmitted: 0,
            drops,
            errors: Errors::new(config, stream),
            spikes: config.spikes.map(|spikes| (spikes, stream.child("spikes").rng())),
            jitter: jitter("jitter"),
            corruption: Chance::new(config.corruption, stream.child("corruption")),
            duplication: duplication
                .map(|chance| Duplication { chance, jitter: jitter("duplicate-jitter") }),
        };
        impairments.uneventful = impairments.are_uneventful();
        impairments
    }

    fn are_uneventful(&self) -> bool {
        let Self { uneventful: _, transmitted: _, drops, errors, spikes, jitter, .. } = self;
        let Self { corruption, duplication, .. } = self;
        drops.is_empty()
            && errors.is_none()
            && spikes.is_none()
            && jitter.is_none()
            && corruption.is_none()
            && duplication.is_none()
    }

    /// Does nothing ever befall any frame?
    pub(crate) const fn is_uneventful(&self) -> bool {
        self.uneventful
    }

    /// The next frame's.
    #[inline]
    pub(crate) fn draw(&mut self) -> Fate {
        if self.uneventful { Fate::default() } else { self.find() }
    }

    fn find(&mut self) -> Fate {
        self.transmitted = self.transmitted.wrapping_add(1);
        let script = self.drops.last() == Some(&self.transmitted);
        if script {
            self.drops.pop();
        }
        Fate {
            script,
            luck: self.errors.as_mut().map_or(Luck::default(), Errors::draw),
            spike: self.spikes.as_mut().map_or(Duration::ZERO, |(spikes, rng)| spike(*spikes, rng)),
            jitter: span(&mut self.jitter),
            corrupt: self.corruption.as_mut().is_some_and(Chance::happens),
            duplicate: self.duplication.as_mut().and_then(Duplication::draw),
        }
    }

    /// Does an error destroy the frame of this fate, the last one drawn, in this state?
    #[inline]
    pub(crate) fn destroys(&mut self, fate: Fate, state: State) -> bool {
        self.errors.as_mut().is_some_and(|errors| errors.destroys(fate.luck, state))
    }
}

impl Errors {
    /// `None` where there are none.
    fn new(config: &DirectionConfig, stream: Stream) -> Option<Self> {
        let good = config.loss;
        let bad = config.bad.loss.unwrap_or(good);
        (good.max(bad) > Probability::ZERO).then(|| Self {
            good,
            bad,
            rng: stream.child("loss").rng(),
            memory: Chance::new(config.loss_memory, stream.child("memory")),
            last: None,
        })
    }

    fn draw(&mut self) -> Luck {
        let as_before = self.memory.as_mut().is_some_and(Chance::happens);
        Luck { draw: self.rng.draw(), as_before }
    }

    fn destroys(&mut self, luck: Luck, state: State) -> bool {
        let chance = match state {
            State::Good => self.good,
            State::Bad => self.bad,
        };
        let destroyed = match self.last {
            Some((last, destroyed)) if luck.as_before && last == state => destroyed,
            _ => chance.happens(luck.draw),
        };
        self.last = Some((state, destroyed));
        destroyed
    }
}

impl Duplication {
    /// Takes a number for the jitter, whether there is a second copy or not.
    fn draw(&mut self) -> Option<Duration> {
        let jitter = span(&mut self.jitter);
        self.chance.happens().then_some(jitter)
    }
}

fn span(random: &mut Option<(Distribution, Rng)>) -> Duration {
    random.as_mut().map_or(Duration::ZERO, |(distribution, rng)| rng.span(*distribution))
}

/// Takes two numbers, whether there is a spike or not.
fn spike(spikes: Spikes, rng: &mut Rng) -> Duration {
    if spikes.probability.happens(rng.draw()) {
        return rng.span(spikes.length);
    }
    rng.bits();
    Duration::ZERO
}
