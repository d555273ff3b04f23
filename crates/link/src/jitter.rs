//! Jitter: a random delay of each frame, perhaps correlated in time.

use core::f64::consts::FRAC_1_SQRT_2;

use rtolab_time::{Duration, Instant};

use crate::config::DirectionConfig;
use crate::distribution::Distribution;
use crate::reseed::{RandomPart, Visit};
use crate::stream::{Rng, Stream};

/// The least probability of a quantile, and its distance from 1.
const LEAST: f64 = 1e-16;

/// The jitter of one direction's frames.
#[derive(Clone, Debug)]
pub(crate) struct Jitter {
    distribution: Distribution,
    rng: Rng,
    correlation: Option<Correlation>,
}

/// A Gaussian copula whose normal scores are a stationary Ornstein-Uhlenbeck process: an AR(1)
/// process if frames are equally spaced. Each jitter still has the given distribution.
#[derive(Clone, Copy, Debug)]
struct Correlation {
    /// The time after which the correlation of the scores has fallen to 1/e.
    time: Duration,
    /// The instant and the score of the last frame.
    last: Option<(Instant, f64)>,
}

impl Jitter {
    /// `None` if there is none.
    pub(crate) fn new(config: &DirectionConfig, stream: Stream) -> Option<Self> {
        let correlation = config.jitter_correlation.filter(|time| !time.is_zero());
        config.jitter.clone().map(|distribution| Self {
            distribution,
            rng: stream.rng(),
            correlation: correlation.map(|time| Correlation { time, last: None }),
        })
    }

    /// Passes its generator to `visit`.
    pub(crate) fn visit(&mut self, visit: Visit<'_>) {
        visit(RandomPart::Numbers(&mut self.rng));
    }

    /// The jitter of the frame whose transmission begins at `at`; zero without jitter.
    pub(crate) fn next(jitter: &mut Option<Self>, at: Instant) -> Duration {
        let Some(Self { distribution, rng, correlation }) = jitter else { return Duration::ZERO };
        match correlation {
            None => rng.span(distribution),
            Some(correlation) => distribution.quantile(correlation.next(rng.normal(), at)),
        }
    }
}

impl Correlation {
    /// The probability that the next jitter is less, from a standard normal number.
    fn next(&mut self, normal: f64, at: Instant) -> f64 {
        let score = match self.last {
            None => normal,
            Some((last, score)) => {
                let distance = at.since(last).nanos() as f64 / self.time.nanos() as f64;
                let kept = libm::exp(-distance);
                // 1 - kept^2, exact for small distances.
                kept * score + libm::sqrt(-libm::expm1(-2.0 * distance)) * normal
            }
        };
        self.last = Some((at, score));
        (libm::erfc(-score * FRAC_1_SQRT_2) / 2.0).clamp(LEAST, 1.0 - LEAST)
    }
}
