//! The propagation delay of each frame.

use alloc::sync::Arc;

use rtolab_time::{Duration, Instant};

use crate::config::{DelayTrace, DirectionConfig};
use crate::impairments::State;

/// The propagation delay as a function of time.
#[derive(Clone, Debug)]
pub(crate) struct Delays {
    constant: Duration,
    trace: Option<Arc<DelayTrace>>,
    /// The delay in the bad state, if it differs.
    bad: Option<Duration>,
}

impl Delays {
    pub(crate) fn new(config: &DirectionConfig) -> Self {
        Self { constant: config.delay, trace: config.delays.clone(), bad: config.bad.delay }
    }

    /// The delay, if it never changes.
    pub(crate) const fn constant(&self) -> Duration {
        self.constant
    }

    /// The delay of a frame sent at `at` in this state.
    #[inline]
    pub(crate) fn at(&self, at: Instant, state: State) -> Duration {
        match (self.bad, &self.trace) {
            (Some(bad), _) if state == State::Bad => bad,
            (_, Some(trace)) => trace.at(at).unwrap_or(self.constant),
            (_, None) => self.constant,
        }
    }
}

impl DelayTrace {
    /// The delay at `at`; `None` before the first step.
    fn at(&self, at: Instant) -> Option<Duration> {
        let since = at.nanos();
        let since = match self.period {
            Some(period) => since.checked_rem(period.nanos()).unwrap_or(since),
            None => since,
        };
        let next = self.steps.partition_point(|(from, _)| from.nanos() <= since);
        next.checked_sub(1).map(|step| self.steps[step].1)
    }
}
