//! The rate of a transmitter as a function of time.

use alloc::vec::Vec;

use rtolab_time::{Duration, Instant, Rate};

use crate::config::{DirectionConfig, RateChange};
use crate::reseed::Visit;
use crate::timeline::{Interrupting, Timeline};

/// A rate that changes at given instants, and perhaps another rate in the link's bad state.
#[derive(Clone, Debug)]
pub(crate) struct Rates {
    /// In order; the first at time 0.
    steps: Vec<RateChange>,
    /// They repeat after this time.
    period: Option<Duration>,
    bad: Option<(Rate, Timeline)>,
}

/// A span of constant rate.
#[derive(Clone, Copy, Debug)]
struct ConstantRate {
    rate: Option<Rate>,
    until: Instant,
}

impl Rates {
    /// `None` if the rate is always `config.rate`.
    pub(crate) fn new(config: &DirectionConfig, states: Option<&Timeline>) -> Option<Self> {
        let bad = config.bad.rate.zip(states.cloned());
        (bad.is_some() || !config.rate_changes.is_empty())
            .then(|| Self { bad, ..Self::constant(config) })
    }

    /// The rate in the good state only.
    pub(crate) fn constant(config: &DirectionConfig) -> Self {
        let mut steps: Vec<_> = config.rate_changes.clone();
        steps.sort_by_key(|step| step.at);
        steps.insert(0, RateChange { at: Instant::START, rate: config.rate });
        Self { steps, period: config.rate_period, bad: None }
    }

    /// Passes the spans of the link's bad state to `visit`.
    pub(crate) fn visit(&mut self, visit: Visit<'_>) {
        if let Some((_, states)) = &mut self.bad {
            states.visit(visit);
        }
    }

    fn at(&mut self, at: Instant) -> ConstantRate {
        let since = at.since(Instant::START);
        // When the current repetition began, and when it ends.
        let (round, end) = match self.period {
            Some(period) if !period.is_zero() && at < Instant::NEVER => {
                let round =
                    Instant::START + (since - Duration::from_nanos(since.nanos() % period.nanos()));
                (round, round + period)
            }
            _ => (Instant::START, Instant::NEVER),
        };
        let since = Instant::START + at.since(round);
        let next = self.steps.partition_point(|step| step.at <= since);
        let until = self.steps.get(next).map_or(end, |step| round + step.at.since(Instant::START));
        let good = ConstantRate { rate: self.steps[next - 1].rate, until };
        let Some((rate, states)) = &mut self.bad else { return good };
        let change = states.next_change(at);
        match states.covers(at) {
            true => ConstantRate { rate: Some(*rate), until: change },
            false => ConstantRate { until: good.until.min(change), ..good },
        }
    }

    /// When a transmission that begins at `start` and stops during pauses ends; exact, rounded up
    /// to a nanosecond only at the end.
    pub(crate) fn send(
        &mut self,
        bytes: u32,
        start: Instant,
        pauses: &mut impl Interrupting,
    ) -> Instant {
        // In billionths of a bit, as in `Rate::time_for`.
        let mut left = u128::from(bytes) * 8_000_000_000;
        let mut at = start;
        loop {
            at = pauses.release(at);
            if at == Instant::NEVER {
                return at;
            }
            let ConstantRate { rate: Some(rate), until } = self.at(at) else { return at };
            let until = until.min(pauses.next_change(at));
            let rate = u128::from(rate.bits_per_second());
            let (needed, length) = (left.div_ceil(rate), u128::from(until.since(at).nanos()));
            if needed <= length || until == Instant::NEVER {
                return at + Duration::from_nanos(u64::try_from(needed).unwrap_or(u64::MAX));
            }
            left -= length * rate;
            at = until;
        }
    }

    /// Discards the past before `at`.
    pub(crate) fn forget_before(&mut self, at: Instant) {
        if let Some((_, states)) = &mut self.bad {
            states.forget_before(at);
        }
    }
}
