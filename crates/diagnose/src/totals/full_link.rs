//! Whether losses are those of a full link.

use std::collections::BTreeMap;

use super::CaptureTotals;
use crate::report::ConnectionReport;

/// The link was full if unrelated losses meet as many long round trips with at most this
/// probability.
const MAX_CHANCE: f64 = 0.02;
/// The link was probably full up to this probability.
const MAX_CHANCE_PROBABLY: f64 = 0.1;
/// Fast retransmits within a span of this length, in seconds, count once: their losses may have one
/// cause.
const SPAN: f64 = 0.1;
/// The minimum number of spans that show that a queue is not the cause.
const MIN_SPANS: u64 = 5;

/// Was a link full when data was lost?
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FullLink {
    /// The round trips at most losses are unknown.
    Unknown,
    /// Hardly any data waited.
    NoQueue,
    /// Data waited, but losses do not depend on how much.
    NotCause,
    /// Data waited, but round trips do not tell whether that is the cause.
    Undecided,
    /// With this number of bytes in its queue.
    Probably(u64),
    /// With this number of bytes in its queue.
    Yes(u64),
}

impl FullLink {
    /// The bytes in its queue.
    pub const fn queue(self) -> Option<u64> {
        match self {
            Self::Probably(queue) | Self::Yes(queue) => Some(queue),
            _ => None,
        }
    }
}

/// What is known of queues when data was lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Queues {
    /// The losses of connections with a known round trip, in segments.
    known: u64,
    /// Those of connections with a long queue.
    long: u64,
    /// Those of connections whose losses depend on the queue.
    caused: u64,
    /// The bytes in the queues of the latter, weighted by losses.
    weighted: u64,
    /// Did packets arrive between the lost ones of a window?
    is_interleaved: bool,
    /// By span, the fast retransmits after long round trips, less the others.
    spans: BTreeMap<u64, i64>,
}

impl Queues {
    pub fn add(&mut self, report: &ConnectionReport, lost: u64) {
        let Some(queue) = report.queue else { return };
        let at_losses = &report.queue_at_losses;
        self.known += lost;
        self.long += if at_losses.is_long { lost } else { 0 };
        self.caused += if queue > 0 { lost } else { 0 };
        self.weighted += lost * queue;
        self.is_interleaved |= at_losses.is_interleaved;
        for &(at, is_long) in &at_losses.fast_retransmits {
            *self.spans.entry((at / SPAN) as u64).or_default() += if is_long { 1 } else { -1 };
        }
    }
}

impl CaptureTotals {
    /// Was a link full when data was lost?
    pub(crate) fn full_link(&self) -> FullLink {
        let Queues { known, long, caused, weighted, is_interleaved, .. } = self.queues;
        if known * 2 < self.lost || known == 0 {
            return FullLink::Unknown;
        }
        let [after_long, all] = self.spans_of_fast_retransmits();
        if caused * 2 >= known && caused > 0 {
            let queue = weighted / caused;
            return match chance([after_long, all]) {
                ..=MAX_CHANCE => FullLink::Yes(queue),
                ..=MAX_CHANCE_PROBABLY => FullLink::Probably(queue),
                _ if is_interleaved => FullLink::Probably(queue),
                _ => FullLink::Undecided,
            };
        }
        if long * 2 <= known {
            FullLink::NoQueue
        } else if all >= MIN_SPANS && after_long * 2 <= all {
            FullLink::NotCause
        } else {
            FullLink::Undecided
        }
    }

    /// The spans whose fast retransmits mostly follow long round trips, and all spans.
    pub(crate) fn spans_of_fast_retransmits(&self) -> [u64; 2] {
        let spans = &self.queues.spans;
        let after_long = spans.values().filter(|sum| **sum > 0).count();
        [after_long as u64, spans.len() as u64]
    }
}

/// The probability that at least `long` of `all` losses follow long round trips, if losses have
/// nothing to do with the queue: a quarter of all round trips are long.
fn chance([long, all]: [u64; 2]) -> f64 {
    // More do not change the decision, and binomial coefficients stay finite.
    let (long, all) = if all > 100 { (long * 100 / all, 100) } else { (long, all) };
    let mut term = (0..all).fold(1.0, |term, _| term * 0.75);
    let mut chance = 0.0;
    for count in 0..=all {
        if count >= long {
            chance += term;
        }
        term *= (all - count) as f64 / (count + 1) as f64 / 3.0;
    }
    chance
}

#[cfg(test)]
mod tests {
    use super::chance;

    /// Binomial tails, from tables.
    #[test]
    fn few_losses_may_follow_long_round_trips_by_chance() {
        for (long, all, expected) in
            [(0, 0, 1.0), (1, 1, 0.25), (2, 2, 0.0625), (3, 3, 0.015_625), (5, 10, 0.078_127)]
        {
            assert!((chance([long, all]) - expected).abs() < 1e-6, "{long} of {all}");
        }
        assert!(chance([500, 1000]) < 1e-6);
        assert!(chance([250, 1000]) > 0.4);
    }
}
