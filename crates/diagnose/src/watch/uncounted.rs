//! Connections that do not count in the totals of a watch: other sides of one that does, and those
//! that may be.

use std::collections::HashMap;

use ahash::RandomState;
use rtolab_time::{Duration, Instant};

use crate::report::ConnectionReport;
use crate::translation::Relation;

/// The connections that do not count, or not yet, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Uncounted(HashMap<u64, One, RandomState>);

#[derive(Debug)]
struct One {
    since: Instant,
    /// The number of the earlier connection of which it is or may be another side.
    of: u64,
    /// Is it one? If not, this is still open.
    is_copy: bool,
    /// The reports of one of which this is open.
    held: Vec<ConnectionReport>,
}

impl Uncounted {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn contains(&self, number: u64) -> bool {
        self.0.contains_key(&number)
    }

    /// Notes the relation of a connection to another. Of two sides, the later one does not count.
    /// If that is open, a new connection (`is_new`) does not count yet. Returns the number of a
    /// connection that is to be counted.
    pub fn relate(
        &mut self,
        (number, is_new): (u64, bool),
        (other, relation): (u64, Relation),
        now: Instant,
    ) -> Option<u64> {
        let (earlier, later) = (number.min(other), number.max(other));
        let new = || One { since: now, of: earlier, is_copy: false, held: Vec::new() };
        match relation {
            Relation::Same => {
                let one = self.0.entry(later).or_insert_with(new);
                (one.of, one.is_copy, one.held) = (earlier, true, Vec::new());
            }
            Relation::Open if is_new && later == number => {
                self.0.entry(later).or_insert_with(new);
            }
            Relation::Open => {}
            Relation::Different => {
                let one = self.0.get_mut(&later).filter(|one| one.of == earlier)?;
                one.is_copy = false;
                return Some(later);
            }
        }
        None
    }

    /// Removes a connection that did not count yet, or whose other side counts. Returns the reports
    /// held for it if it counts from now on.
    pub fn remove(&mut self, number: u64) -> Option<Vec<ConnectionReport>> {
        self.0.remove(&number).filter(|one| !one.is_copy).map(|one| one.held)
    }

    /// The connections of which it was open for longer than this whether they are copies.
    pub fn overdue(&self, now: Instant, longest: Duration) -> Vec<u64> {
        let is_overdue = |one: &One| !one.is_copy && now.since(one.since) > longest;
        let overdue = self.0.iter().filter(|(_, one)| is_overdue(one));
        let mut overdue: Vec<u64> = overdue.map(|(&number, _)| number).collect();
        overdue.sort_unstable();
        overdue
    }

    /// Returns the report of a connection if that counts; keeps it if that is open.
    pub fn hold(&mut self, report: ConnectionReport) -> Option<ConnectionReport> {
        match self.0.get_mut(&report.number) {
            None => return Some(report),
            Some(one) if one.is_copy => {}
            Some(one) => one.held.push(report),
        }
        None
    }
}
