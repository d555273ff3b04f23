//! What befalls single frames.

use alloc::vec::Vec;

use rtolab_time::Duration;

use crate::config::{DirectionConfig, Probability, Spikes};
use crate::stream::{Rng, Stream};

/// What befalls the n-th transmitted frame, whenever that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fate {
    /// The scenario drops it.
    pub(crate) script: bool,
    /// A transmission error destroys it.
    pub(crate) error: bool,
    /// Its delay spike; zero for none.
    pub(crate) spike: Duration,
}

/// The fates of all frames of one direction, in the order of their transmission.
#[derive(Clone, Debug)]
pub(crate) struct Fates {
    transmitted: u32,
    /// The frames to drop, the last one first.
    drops: Vec<u32>,
    loss: Option<(Probability, Rng)>,
    spikes: Option<(Spikes, Rng)>,
}

impl Fates {
    pub(crate) fn new(config: &DirectionConfig, stream: Stream) -> Self {
        let mut drops: Vec<u32> = config.drops.iter().copied().filter(|n| *n > 0).collect();
        drops.sort_unstable_by(|a, b| b.cmp(a));
        drops.dedup();
        let loss = (config.loss > Probability::ZERO).then_some(config.loss);
        Self {
            transmitted: 0,
            drops,
            loss: loss.map(|chance| (chance, stream.child("loss").rng())),
            spikes: config.spikes.map(|spikes| (spikes, stream.child("spikes").rng())),
        }
    }

    /// The next frame's.
    pub(crate) fn draw(&mut self) -> Fate {
        self.transmitted = self.transmitted.wrapping_add(1);
        let script = self.drops.last() == Some(&self.transmitted);
        if script {
            self.drops.pop();
        }
        let error = self.loss.as_mut().is_some_and(|(chance, rng)| chance.happens(rng.draw()));
        let spike =
            self.spikes.as_mut().map_or(Duration::ZERO, |(spikes, rng)| spike(*spikes, rng));
        Fate { script, error, spike }
    }
}

/// Takes two numbers, whether there is a spike or not.
fn spike(spikes: Spikes, rng: &mut Rng) -> Duration {
    if spikes.probability.happens(rng.draw()) {
        return rng.span(spikes.length);
    }
    rng.bits();
    Duration::ZERO
}
