//! Randomness that depends on a seed and a name alone.

use rand_core::{Rng as _, SeedableRng};
use rtolab_time::{Duration, Instant};

/// Where a random process takes its numbers from: every process of a run has a stream of its own,
/// found by the run's seed and the process's name, so that none disturbs another.
///
/// ```
/// use rtolab_link::Stream;
///
/// let run = Stream::new(7);
/// let losses = run.child("wireless").child("forward/loss");
/// assert_eq!(losses, Stream::new(7).child("wireless").child("forward/loss"));
/// assert_ne!(losses, run.child("wireless").child("backward/loss"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    state: u64,
}

impl Stream {
    /// The stream of a whole run.
    pub const fn new(seed: u64) -> Self {
        Self { state: mix(seed) }
    }

    /// The stream of a part of it.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        let named = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Self { state: mix(self.state ^ mix(named)) }
    }

    /// The numbers, from the first.
    pub fn rng(&self) -> Rng {
        let mut seed = [0; 16];
        seed[..8].copy_from_slice(&mix(self.state ^ 1).to_le_bytes());
        seed[8..].copy_from_slice(&mix(self.state ^ 2).to_le_bytes());
        Rng(rand_pcg::Pcg64Mcg::from_seed(seed))
    }
}

/// The finaliser of SplitMix64.
const fn mix(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A stream's numbers, the same on every machine. Each draw takes exactly one 64-bit number,
/// whatever its distribution and its result, so that the n-th draw never depends on others.
#[derive(Clone, Debug)]
pub struct Rng(rand_pcg::Pcg64Mcg);

impl Rng {
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// 32 random bits, as [`Probability::happens`](crate::Probability::happens) wants them.
    pub fn draw(&mut self) -> u32 {
        (self.bits() >> 32) as u32
    }

    /// Uniform in (0, 1].
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / 9_007_199_254_740_992.0
    }

    /// A span of this distribution.
    pub fn span(&mut self, distribution: Distribution) -> Duration {
        match distribution {
            Distribution::Constant(length) => {
                self.bits();
                length
            }
            Distribution::Uniform(a, b) => {
                let (a, width) = (a.nanos(), b.saturating_sub(a).nanos());
                let part = (u128::from(width) * u128::from(self.bits())) >> 64;
                Duration::from_nanos(a + part as u64)
            }
            Distribution::Exponential(mean) => nanos(-libm::log(self.unit()) * mean.nanos() as f64),
        }
    }

    /// What is left of a span of this distribution that began long ago: the equilibrium
    /// distribution, of density (1 - F(x)) / mean, by inversion.
    pub(crate) fn rest(&mut self, distribution: Distribution) -> Duration {
        match distribution {
            Distribution::Constant(length) => {
                self.span(Distribution::Uniform(Duration::ZERO, length))
            }
            Distribution::Exponential(_) => self.span(distribution),
            Distribution::Uniform(a, b) => {
                let (a, b) = (a.nanos() as f64, b.nanos() as f64);
                let area = self.unit() * f64::midpoint(a, b);
                if area <= a {
                    return nanos(area);
                }
                nanos(b - libm::sqrt(2.0 * (b - a) * (f64::midpoint(a, b) - area)))
            }
        }
    }
}

fn nanos(length: f64) -> Duration {
    Duration::from_nanos((length + 0.5) as u64)
}

/// How long a random span is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Always the same.
    Constant(Duration),
    /// Equally likely anywhere between the two.
    Uniform(Duration, Duration),
    /// Exponential with this mean.
    Exponential(Duration),
}

impl Distribution {
    /// The mean.
    pub const fn mean(self) -> Duration {
        match self {
            Self::Constant(mean) | Self::Exponential(mean) => mean,
            Self::Uniform(a, b) => Duration::from_nanos(u64::midpoint(a.nanos(), b.nanos())),
        }
    }
}

/// Two kinds of spans that alternate, whatever the traffic does. Good spans that are always of no
/// length mean one bad span without end, bad ones of no length none at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renewal {
    /// The spans between two events.
    pub good: Distribution,
    /// How long an event lasts.
    pub bad: Distribution,
    /// Does the process begin in its stationary state, or with a fresh good span?
    pub stationary: bool,
}

/// The bad spans of a [`Renewal`], one after the other.
#[derive(Clone, Debug)]
pub(crate) struct BadSpans {
    process: Renewal,
    rng: Rng,
    /// The bad span that comes next.
    pub(crate) from: Instant,
    pub(crate) to: Instant,
}

impl BadSpans {
    /// From the start of the run; `None` where spans of no length would follow each other forever.
    pub(crate) fn new(process: Renewal, stream: Stream) -> Option<Self> {
        let (good, bad) = (process.good.mean(), process.bad.mean());
        if bad.is_zero() {
            return None;
        }
        let mut spans =
            Self { process, rng: stream.rng(), from: Instant::START, to: Instant::START };
        if good.is_zero() {
            spans.to = Instant::NEVER;
            return Some(spans);
        }
        if !process.stationary {
            spans.advance();
            return Some(spans);
        }
        let all = good.nanos() as f64 + bad.nanos() as f64;
        if spans.rng.unit() * all <= bad.nanos() as f64 {
            spans.rng.bits();
            spans.to += spans.rng.rest(process.bad);
        } else {
            spans.from += spans.rng.rest(process.good);
            spans.to = spans.from + spans.rng.span(process.bad);
        }
        Some(spans)
    }

    /// On to the next one.
    pub(crate) fn advance(&mut self) {
        self.from = self.to + self.rng.span(self.process.good);
        self.to = self.from + self.rng.span(self.process.bad);
    }
}
