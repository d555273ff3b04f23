//! The measurement interval, with the counters at its beginning and at its end.

use rtolab_link::Direction;
use rtolab_record::Measured;
use rtolab_time::{Duration, Instant};

use super::Sim;
use crate::links::SimLink;

/// The measurement interval and the counters taken at its ends.
#[derive(Clone, Debug)]
pub struct Measure {
    from: Instant,
    to: Instant,
    begin: Option<Counts>,
    end: Option<Counts>,
}

/// All counters at one instant; empty while all are zero.
#[derive(Clone, Debug, Default)]
struct Counts {
    flows: Vec<Measured>,
    links: Vec<[CarriedBytes; 2]>,
}

/// The bytes that one direction of a link has carried.
#[derive(Clone, Copy, Debug, Default)]
struct CarriedBytes {
    transmitted: u64,
    delivered: u64,
}

/// The time at which a run pauses to take its counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Before the events of this instant.
    Before(Instant),
    /// After the events of this instant.
    After(Instant),
}

impl Pause {
    pub const fn at(self) -> Instant {
        match self {
            Self::Before(at) | Self::After(at) => at,
        }
    }

    /// The last instant whose events precede the pause, if there is one.
    pub fn last(self) -> Option<Instant> {
        match self {
            Self::After(at) => Some(at),
            Self::Before(at) => at.nanos().checked_sub(1).map(Instant::from_nanos),
        }
    }
}

impl Measure {
    /// An interval that includes both ends.
    pub const fn new((from, to): (Instant, Instant)) -> Self {
        Self { from, to, begin: None, end: None }
    }

    /// The next pause.
    pub const fn next(&self) -> Option<Pause> {
        match (&self.begin, &self.end) {
            (None, _) => Some(Pause::Before(self.from)),
            (_, None) => Some(Pause::After(self.to)),
            _ => None,
        }
    }
}

impl Sim {
    /// Takes the counters at a pause.
    pub(super) fn take_measurement(&mut self) {
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
        let flows = self.flows.iter().map(crate::flow::SimFlow::measured).collect();
        let now = self.now();
        let carried = |link: &SimLink| {
            Direction::BOTH.map(|direction| {
                let stats = link.stats(direction, &self.pipes, now);
                CarriedBytes { transmitted: stats.transmitted_bytes, delivered: stats.bytes }
            })
        };
        Counts { flows, links: self.links.iter().map(carried).collect() }
    }

    /// The counts of each flow within the interval, and the bytes that each link transmitted and
    /// delivered in each direction. If the run has not reached the interval's end, they are the
    /// counts so far.
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
            [0, 1].map(|direction| {
                let (end, begin): (CarriedBytes, CarriedBytes) = (end[direction], begin[direction]);
                (end.transmitted - begin.transmitted, end.delivered - begin.delivered)
            })
        });
        (flows.collect(), links.collect())
    }
}
