//! Connections that do not count in the totals of a watch: other sides of one that does, and those
//! that may be.

use rtolab_time::Instant;

use super::{MOST_HELD, Watch, Watched};
use crate::report::ConnectionReport;
use crate::translation::Relation;

/// A connection that does not count, or not yet.
#[derive(Debug)]
pub(super) struct Uncounted {
    since: Instant,
    /// The number of the earlier connection of which it is or may be another side.
    of: u64,
    /// Is it one? If not, this is still open.
    is_copy: bool,
    /// The reports of one of which this is open.
    held: Vec<ConnectionReport>,
}

impl Watch {
    /// Notes the relation of a connection to another. Of two sides, the later one does not count.
    /// If that is open, a new connection (`is_new`) does not count yet.
    pub(super) fn relate(
        &mut self,
        (number, is_new): (u64, bool),
        (other, relation): (u64, Relation),
    ) {
        let (earlier, later) = (number.min(other), number.max(other));
        match relation {
            Relation::Same => {
                let one = self.uncount(later, earlier);
                (one.of, one.is_copy, one.held) = (earlier, true, Vec::new());
            }
            Relation::Open if is_new && later == number => {
                self.uncount(later, earlier);
            }
            Relation::Open => {}
            Relation::Different => {
                if self.uncounted.get(&later).is_some_and(|one| one.of == earlier) {
                    self.count(later);
                }
            }
        }
    }

    /// The number of open connections that do not count.
    pub(super) fn open_uncounted(&self) -> usize {
        let is_uncounted =
            |one: &&Watched| one.is_open() && self.uncounted.contains_key(&one.connection.number);
        match self.uncounted.is_empty() {
            true => 0,
            false => self.connections.values().filter(is_uncounted).count(),
        }
    }

    fn uncount(&mut self, number: u64, of: u64) -> &mut Uncounted {
        let since = self.now;
        let new = || Uncounted { since, of, is_copy: false, held: Vec::new() };
        self.uncounted.entry(number).or_insert_with(new)
    }

    /// Counts a connection that did not count yet.
    fn count(&mut self, number: u64) {
        let Some(one) = self.uncounted.remove(&number) else { return };
        self.totals.connections += 1;
        for report in one.held {
            self.push(report);
        }
    }

    /// Counts connections of which it was open too long whether they are copies.
    pub(super) fn count_overdue(&mut self) {
        let is_overdue = |one: &Uncounted| !one.is_copy && self.now.since(one.since) > MOST_HELD;
        let overdue = self.uncounted.iter().filter(|(_, one)| is_overdue(one));
        let mut overdue: Vec<u64> = overdue.map(|(&number, _)| number).collect();
        overdue.sort_unstable();
        for number in overdue {
            self.count(number);
        }
    }

    /// Pushes the report of a connection if that counts.
    pub(super) fn push_if_counted(&mut self, report: ConnectionReport) {
        match self.uncounted.get_mut(&report.number) {
            Some(one) if one.is_copy => {}
            Some(one) => one.held.push(report),
            None => self.push(report),
        }
    }

    /// Ends a connection with its last report, if it has one.
    pub(super) fn end(&mut self, number: u64, report: Option<ConnectionReport>) {
        if let Some(report) = report {
            self.push_if_counted(report);
        }
        match self.uncounted.get(&number) {
            Some(one) if one.is_copy => drop(self.uncounted.remove(&number)),
            _ => self.count(number),
        }
    }
}
