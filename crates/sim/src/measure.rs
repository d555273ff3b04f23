//! The part of a run that is measured: the counters at its beginning and at its end.

use rtolab_link::Direction;
use rtolab_record::Measured;
use rtolab_time::{Duration, Instant};

use crate::links::Link;
use crate::sim::Sim;

/// When the counters are looked at, and what they said.
#[derive(Clone, Debug)]
pub struct Measure {
    from: Instant,
    to: Instant,
    begin: Option<Counts>,
    end: Option<Counts>,
}

/// All counters at one instant; none of any flow or link where all are zero.
#[derive(Clone, Debug, Default)]
struct Counts {
    flows: Vec<Measured>,
    links: Vec<[Carried; 2]>,
}

/// What a link has carried one way, in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Carried {
    transmitted: u64,
    delivered: u64,
}

/// A run pauses for a look at its counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Before all that happens then.
    Before(Instant),
    /// Behind it.
    Behind(Instant),
}

impl Pause {
    pub const fn at(self) -> Instant {
        match self {
            Self::Before(at) | Self::Behind(at) => at,
        }
    }

    /// The last instant whose events come before the pause; `None`: there is none.
    pub fn last(self) -> Option<Instant> {
        match self {
            Self::Behind(at) => Some(at),
            Self::Before(at) => at.nanos().checked_sub(1).map(Instant::from_nanos),
        }
    }
}

impl Measure {
    /// What happens from one instant to another, both included.
    pub const fn new((from, to): (Instant, Instant)) -> Self {
        Self { from, to, begin: None, end: None }
    }

    /// When the counters are to be looked at next.
    pub const fn next(&self) -> Option<Pause> {
        match (&self.begin, &self.end) {
            (None, _) => Some(Pause::Before(self.from)),
            (_, None) => Some(Pause::Behind(self.to)),
            _ => None,
        }
    }
}

impl Sim {
    /// Takes down the counters for the pause that was due.
    pub(crate) fn look(&mut self) {
        let counts = match self.counters().events {
            0 => Counts::default(),
            _ => self.counts(),
        };
        match self.measure.begin {
            None => self.measure.begin = Some(counts),
            Some(_) => self.measure.end = Some(counts),
        }
    }

    fn counts(&self) -> Counts {
        let flows = self.flows.iter().map(crate::flow::Flow::measured).collect();
        let now = self.now();
        let carried = |link: &Link| {
            Direction::BOTH.map(|way| {
                let stats = link.stats(way, &self.pipes, now);
                Carried { transmitted: stats.transmitted_bytes, delivered: stats.bytes }
            })
        };
        Counts { flows, links: self.links.iter().map(carried).collect() }
    }

    /// What was measured of each flow, and the bytes that each link transmitted and delivered
    /// either way; up to now in a run that has not come to the end of the measured part.
    pub(crate) fn measured(&self) -> (Vec<Measured>, Vec<[(u64, u64); 2]>) {
        let Measure { from, to, begin, end } = &self.measure;
        let now = self.counts();
        let begin = begin.as_ref().unwrap_or(&now);
        let (until, end) = match end {
            Some(end) => (*to, end),
            None => (self.now().min(*to), &now),
        };
        let span = Duration::from_nanos(until.nanos().saturating_sub(from.nanos()));
        let flows = end.flows.iter().enumerate().map(|(flow, end)| {
            let begin = begin.flows.get(flow).copied().unwrap_or_default();
            end.since(&begin, span)
        });
        let links = end.links.iter().enumerate().map(|(link, end)| {
            let begin = begin.links.get(link).copied().unwrap_or_default();
            [0, 1].map(|way| {
                let (end, begin): (Carried, Carried) = (end[way], begin[way]);
                (end.transmitted - begin.transmitted, end.delivered - begin.delivered)
            })
        });
        (flows.collect(), links.collect())
    }
}
