//! Random early detection: Floyd and Jacobson, "Random Early Detection Gateways for Congestion
//! Avoidance", 1993, with the defaults of ns-2.35 (`red.cc`), and adaptive: Floyd, Gummadi and
//! Shenker, "Adaptive RED", 2001.

use rtolab_time::{Duration, Instant};

use crate::config::Red;
use crate::reseed::{RandomPart, Visit};
use crate::stream::{Rng, Stream};

/// The interval between adaptations of `max_p` (Adaptive RED, section 4).
const INTERVAL: Duration = Duration::from_millis(500);
/// The largest increase of `max_p`: absolute, and relative to itself.
const ALPHA: f64 = 0.01;
const ALPHA_SHARE: f64 = 0.25;
/// The factor by which `max_p` decreases.
const BETA: f64 = 0.9;
/// The range of `max_p`.
const MIN_MAX_P: f64 = 0.01;
const MAX_MAX_P: f64 = 0.5;
/// The distance between the target range and `min` or `max`, as a part of `max - min`.
const MARGIN: f64 = 0.4;

/// The decision about an arriving frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Early {
    Keep,
    /// Mark it, or drop it if it cannot be marked.
    Mark,
    Drop,
}

/// The range of the average queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Region {
    /// Below `min`, or the queue is almost empty.
    Quiet,
    /// Drops are random.
    Chance,
    /// Everything is dropped.
    Full,
}

/// RED for one queue.
#[derive(Clone, Debug)]
pub(crate) struct RandomEarly {
    config: Red,
    rng: Rng,
    max_p: f64,
    average: f64,
    /// Frames since the last drop or mark, or since the average rose above `min`; `None` while it
    /// is below.
    count: Option<u32>,
    /// When `max_p` last changed.
    adapted: Instant,
}

impl RandomEarly {
    pub(crate) fn new(config: Red, stream: Stream) -> Self {
        Self {
            config,
            rng: stream.rng(),
            max_p: config.max_p,
            average: 0.0,
            count: None,
            adapted: Instant::START,
        }
    }

    /// Passes its generator to `visit`.
    pub(crate) fn visit(&mut self, visit: Visit<'_>) {
        visit(RandomPart::Numbers(&mut self.rng));
    }

    /// A frame arrives at `at` at a queue of this length, after the transmitter was `idle`. Draws
    /// one number in every case.
    pub(crate) fn arrival(&mut self, length: f64, idle: Duration, at: Instant) -> Early {
        let draw = self.rng.unit();
        self.estimate(length, idle);
        if self.config.adaptive {
            self.adapt(at);
        }
        match self.region(length) {
            Region::Quiet => {
                self.count = None;
                Early::Keep
            }
            Region::Full => {
                self.count = Some(0);
                Early::Drop
            }
            Region::Chance => self.draw_drop(draw),
        }
    }

    /// The frame that arrived last found the queue full.
    pub(crate) fn overflow(&mut self) {
        self.count = self.count.map(|_| 0);
    }

    /// Updates the average; idle time counts as arrivals at an empty queue.
    fn estimate(&mut self, length: f64, idle: Duration) {
        let Red { weight, packet_time, .. } = self.config;
        match idle.nanos().checked_div(packet_time.nanos()) {
            Some(0) => {}
            Some(packets) => self.average *= libm::pow(1.0 - weight, packets as f64),
            None if idle.is_zero() => {}
            None => self.average = 0.0,
        }
        self.average += weight * (length - self.average);
    }

    /// Adaptive RED, section 4: additive increase and multiplicative decrease of `max_p`.
    fn adapt(&mut self, at: Instant) {
        if at.since(self.adapted) <= INTERVAL {
            return;
        }
        let Red { min, max, .. } = self.config;
        let margin = MARGIN * (max - min);
        if self.average > max - margin && self.max_p < MAX_MAX_P {
            self.max_p = (self.max_p + ALPHA.min(ALPHA_SHARE * self.max_p)).min(MAX_MAX_P);
            self.adapted = at;
        } else if self.average < min + margin && self.max_p > MIN_MAX_P {
            self.max_p = (self.max_p * BETA).max(MIN_MAX_P);
            self.adapted = at;
        }
    }

    fn region(&self, length: f64) -> Region {
        let Red { min, max, gentle, .. } = self.config;
        let full = if gentle { 2.0 * max } else { max };
        // A frame that finds at most one frame in the queue is never dropped, whatever the average.
        match self.average {
            average if average < min || length <= 1.0 => Region::Quiet,
            average if average < full => Region::Chance,
            _ => Region::Full,
        }
    }

    fn draw_drop(&mut self, draw: f64) -> Early {
        // The first frame above `min` starts the count.
        let Some(count) = self.count else {
            self.count = Some(1);
            return Early::Keep;
        };
        let count = count.saturating_add(1);
        if draw > spaced(self.chance(), count) {
            self.count = Some(count);
            return Early::Keep;
        }
        self.count = Some(0);
        match self.config.ecn && self.average < self.config.max {
            true => Early::Mark,
            false => Early::Drop,
        }
    }

    /// `p_b`: from 0 at `min` to `max_p` at `max` and, if gentle, to 1 at twice `max`.
    fn chance(&self) -> f64 {
        let Red { min, max, .. } = self.config;
        if self.average < max {
            return self.max_p * (self.average - min) / (max - min);
        }
        self.max_p + (1.0 - self.max_p) * (self.average - max) / max
    }
}

/// `p_a`: spaces drops evenly, 1 / p to 2 / p frames apart (ns-2: `wait_`).
fn spaced(p: f64, count: u32) -> f64 {
    match f64::from(count) * p {
        due if due < 1.0 => 0.0,
        due if due < 2.0 => p / (2.0 - due),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests;
