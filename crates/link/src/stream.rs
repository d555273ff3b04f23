//! Randomness that depends on a seed and a name alone.

use rand_core::{Rng as _, SeedableRng};
use rtolab_settings::Settings;
use rtolab_time::{Duration, Instant};

use crate::distribution::{Distribution, nanos};
use crate::quantiles;

/// The source of a random process. Each process of a run has its own stream, derived from the run's
/// seed and the process's name, so that no process disturbs another.
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

    /// The stream of a part of this one.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        let named = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Self { state: mix(self.state ^ mix(named)) }
    }

    /// A generator at the start of the stream.
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

/// A random number generator with the same numbers on every machine. Each draw takes exactly one
/// 64-bit number, so that the n-th draw never depends on others.
#[derive(Clone, Debug)]
pub struct Rng(rand_pcg::Pcg64Mcg);

impl Rng {
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// 32 random bits, for [`Probability::happens`](crate::Probability::happens).
    pub fn draw(&mut self) -> u32 {
        (self.bits() >> 32) as u32
    }

    /// Uniform in (0, 1].
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / 9_007_199_254_740_992.0
    }

    /// Continues with other numbers, which depend on the state so far and on `salt` alone.
    pub fn reseed(&mut self, salt: u64) {
        *self = Stream { state: mix(self.bits() ^ mix(salt)) }.rng();
    }

    /// A random length.
    pub fn span(&mut self, distribution: &Distribution) -> Duration {
        match *distribution {
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
            Distribution::LogNormal(law) => nanos(law.quantile(self.between())),
            Distribution::Gamma(law) => nanos(law.quantile(self.between())),
            Distribution::Pareto(law) => nanos(law.quantile(self.between())),
            Distribution::Empirical(ref law) => nanos(law.quantile(self.between())),
        }
    }

    /// Uniform in (0, 1), of 52 bits, so that no number is rounded to 0 or 1.
    fn between(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) / 4_503_599_627_370_496.0
    }

    /// A standard normal number.
    pub(crate) fn normal(&mut self) -> f64 {
        quantiles::normal(self.between())
    }

    /// A part, uniform in (0, 1), of a span that is weighted by its length.
    fn part_of(&mut self, weighted_quantile: impl FnOnce(f64) -> f64) -> Duration {
        let bits = self.bits();
        let [span, part] =
            [bits >> 32, bits & 0xffff_ffff].map(|half| (half as f64 + 0.5) / 4_294_967_296.0);
        nanos(weighted_quantile(span) * part)
    }

    /// The remainder of a span of this distribution that began long ago: the equilibrium
    /// distribution, of density (1 - F(x)) / mean, by inversion or as a part of such a span.
    pub(crate) fn rest(&mut self, distribution: &Distribution) -> Duration {
        match *distribution {
            Distribution::Constant(length) => {
                self.span(&Distribution::Uniform(Duration::ZERO, length))
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
            Distribution::LogNormal(law) => self.part_of(|p| law.weighted_quantile(p)),
            Distribution::Gamma(law) => self.part_of(|p| law.weighted_quantile(p)),
            Distribution::Pareto(law) => self.part_of(|p| law.weighted_quantile(p)),
            Distribution::Empirical(ref law) => self.part_of(|p| law.weighted_quantile(p)),
        }
    }
}

/// An alternating renewal process, independent of the traffic. If good spans have no length, there
/// is one endless bad span; if bad spans have none, there is no bad span.
#[derive(Clone, Debug, PartialEq, Eq, Settings)]
pub struct RenewalProcess {
    /// The length of good spans, which lie between the bad ones.
    #[setting(table, required, example = "{ uniform = [\"0.1 s\", \"20 s\"] }")]
    pub good: Distribution,
    /// The length of bad spans.
    #[setting(table, required, example = "{ exponential = \"3.5 s\" }")]
    pub bad: Distribution,
    /// The state at the beginning: as if the process had run for ever, or a new good span?
    #[setting(default = true)]
    pub stationary: bool,
}

/// The bad spans of a [`RenewalProcess`], in order.
#[derive(Clone, Debug)]
pub(crate) struct BadSpans {
    process: RenewalProcess,
    rng: Rng,
    /// Identifies the stream: copies have the same.
    pub(crate) stream: u64,
    /// The number of bad spans after the next one; `None` for any number.
    left: Option<u32>,
    /// The next bad span.
    pub(crate) from: Instant,
    pub(crate) to: Instant,
}

impl BadSpans {
    /// From the start of the run; `None` if there is no bad span.
    pub(crate) fn new(process: RenewalProcess, stream: Stream) -> Option<Self> {
        let (good, bad) = (process.good.mean(), process.bad.mean());
        if bad.is_zero() {
            return None;
        }
        let mut spans = Self {
            process,
            rng: stream.rng(),
            stream: stream.state,
            left: None,
            from: Instant::START,
            to: Instant::START,
        };
        if good.is_zero() {
            spans.to = Instant::NEVER;
            return Some(spans);
        }
        if !spans.process.stationary {
            spans.advance();
            return Some(spans);
        }
        let all = good.nanos() as f64 + bad.nanos() as f64;
        if spans.rng.unit() * all <= bad.nanos() as f64 {
            spans.rng.bits();
            spans.to += spans.rng.rest(&spans.process.bad);
        } else {
            spans.from += spans.rng.rest(&spans.process.good);
            spans.to = spans.from + spans.rng.span(&spans.process.bad);
        }
        Some(spans)
    }

    /// Its generator, which has drawn the next span already.
    pub(crate) const fn rng_mut(&mut self) -> &mut Rng {
        &mut self.rng
    }

    /// With at least one and at most `count` bad spans.
    pub(crate) fn at_most(self, count: Option<u32>) -> Self {
        Self { left: count.map(|count| count.saturating_sub(1)), ..self }
    }

    /// Goes to the following bad span; after the last one to the end of time.
    pub(crate) fn advance(&mut self) {
        if self.left == Some(0) {
            (self.from, self.to) = (Instant::NEVER, Instant::NEVER);
            return;
        }
        self.left = self.left.map(|left| left - 1);
        self.from = self.to + self.rng.span(&self.process.good);
        self.to = self.from + self.rng.span(&self.process.bad);
    }
}

#[cfg(test)]
mod tests;
