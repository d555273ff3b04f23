//! The part of a run that is measured: the counters at its beginning and at its end.

use rtolab_link::{Direction, Stats};
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

/// All counters at one instant.
#[derive(Clone, Debug)]
struct Counts {
    flows: Vec<Measured>,
    links: Vec<[Stats; 2]>,
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
        let counts = self.counts();
        match self.measure.begin {
            None => self.measure.begin = Some(counts),
            Some(_) => self.measure.end = Some(counts),
        }
    }

    fn counts(&self) -> Counts {
        let flows = self.flows.iter().map(crate::flow::Flow::measured).collect();
        let now = self.now();
        let stats = |link: &Link| Direction::BOTH.map(|way| link.stats(way, &self.pipes, now));
        Counts { flows, links: self.links.iter().map(stats).collect() }
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
        let flows = end.flows.iter().zip(&begin.flows);
        let links = end.links.iter().zip(&begin.links);
        let bytes = |(end, begin): (&[Stats; 2], &[Stats; 2])| {
            [0, 1].map(|way| {
                let (end, begin): (&Stats, &Stats) = (&end[way], &begin[way]);
                let transmitted = end.transmitted_bytes - begin.transmitted_bytes;
                (transmitted, end.bytes - begin.bytes)
            })
        };
        (flows.map(|(end, begin)| end.since(begin, span)).collect(), links.map(bytes).collect())
    }
}
