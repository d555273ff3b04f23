//! The reports of the sides of a connection, of which one counts.

use std::cmp::Reverse;
use std::collections::HashMap;

use ahash::RandomState;

use super::Relation;
use crate::report::{ConnectionReport, Translation};
use crate::vantage::Vantage;

/// The value of a report: has it verdicts of a second capture, has it both directions, did the
/// connection fail on this side, its vantage, the hop limit of the main sender's packets, and the
/// lower number. A translator that forgot a connection lets it fail on one side only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank(bool, bool, bool, u8, u8, Reverse<u64>);

impl Rank {
    pub fn of(report: &ConnectionReport, is_paired: bool, hops: u8) -> Self {
        let vantage = match report.vantage {
            Vantage::Sender => 3,
            Vantage::Between => 2,
            Vantage::Receiver => 1,
            Vantage::Unknown => 0,
        };
        let has_both = report.only_from.is_none();
        let has_failed = report.failure.is_some() || report.idle_timeout.is_some();
        Self(is_paired, has_both, has_failed, vantage, hops, Reverse(report.number))
    }
}

/// Connections that several sides show.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// The key in `groups` of each open connection that is in one.
    keys: HashMap<u64, u64, RandomState>,
    groups: HashMap<u64, Group, RandomState>,
}

/// The sides of one connection.
#[derive(Debug, Default)]
struct Group {
    /// The numbers of those that are open.
    open: Vec<u64>,
    /// The best report of those that are closed.
    best: Option<(Rank, ConnectionReport)>,
    others: Vec<Translation>,
    /// The packets of the others.
    packets: u64,
    /// The most packets of client and server that one of the others has.
    seen: [u64; 2],
}

impl Groups {
    /// Is this connection one of several sides?
    #[inline]
    pub fn contains(&self, number: u64) -> bool {
        !self.keys.is_empty() && self.keys.contains_key(&number)
    }

    /// Notes the relation of two open connections.
    pub fn relate(&mut self, number: u64, other: u64, relation: Relation) {
        let [key, other_key] = [number, other].map(|one| self.keys.get(&one).copied());
        match relation {
            Relation::Same if key.is_none() || key != other_key => {
                let mut group = self.take(number);
                let joined = self.take(other);
                group.open.extend(joined.open);
                group.others.extend(joined.others);
                group.packets += joined.packets;
                group.note_seen(joined.seen);
                if let Some((rank, report)) = joined.best {
                    group.add(rank, report);
                }
                self.insert(group);
            }
            Relation::Different if key.is_some() && key == other_key => {
                let mut group = self.take(number);
                group.open.retain(|&one| one != number);
                self.insert(group);
            }
            _ => {}
        }
    }

    /// Removes the group of this open connection. It may be the only one.
    fn take(&mut self, number: u64) -> Group {
        let alone = || Group { open: vec![number], ..Group::default() };
        let Some(key) = self.keys.get(&number) else { return alone() };
        let group = self.groups.remove(key).unwrap_or_else(alone);
        for one in &group.open {
            self.keys.remove(one);
        }
        group
    }

    /// Adds a group that has open connections.
    fn insert(&mut self, group: Group) {
        let Some(&key) = group.open.first() else { return };
        self.keys.extend(group.open.iter().map(|&one| (one, key)));
        self.groups.insert(key, group);
    }

    /// Adds the report of a connection that is over. Returns the best one of its group if that was
    /// the last, and the number of the other sides.
    pub fn close(
        &mut self,
        report: ConnectionReport,
        rank: Rank,
    ) -> Option<(ConnectionReport, u64)> {
        let number = report.number;
        let mut group = self.take(number);
        group.open.retain(|&one| one != number);
        group.add(rank, report);
        if group.open.is_empty() {
            return group.finish();
        }
        self.insert(group);
        None
    }
}

impl Group {
    fn add(&mut self, rank: Rank, report: ConnectionReport) {
        let worse = match self.best.take() {
            None => {
                self.best = Some((rank, report));
                return;
            }
            Some((best, kept)) if best > rank => {
                self.best = Some((best, kept));
                report
            }
            Some((_, worse)) => {
                self.best = Some((rank, report));
                worse
            }
        };
        self.packets += worse.packets + worse.captured_twice;
        self.note_seen(worse.seen);
        let ConnectionReport { number, client, server, .. } = worse;
        self.others.push(Translation { number, client, server });
    }

    fn note_seen(&mut self, others: [u64; 2]) {
        for (most, count) in self.seen.iter_mut().zip(others) {
            *most = (*most).max(count);
        }
    }

    fn finish(mut self) -> Option<(ConnectionReport, u64)> {
        let (_, mut report) = self.best?;
        let count = self.others.len() as u64;
        self.others.sort_by_key(|other| other.number);
        if count > 0 {
            report.captured_twice += self.packets;
            report.capture_points = 2;
            report.not_passed_on = not_passed_on(&report, self.seen);
            report.translations = self.others;
        }
        Some((report, count))
    }
}

/// The packets of the end without an answer that this side has and the others lack, if these are
/// at least its retransmissions.
fn not_passed_on(report: &ConnectionReport, others: [u64; 2]) -> u64 {
    let failure = report.failure.map(|failure| (failure.from, failure.unanswered() as u64));
    let idle = report.idle_timeout.map(|end| (end.from, end.retransmissions));
    let Some((from, retransmissions)) = failure.or(idle) else { return 0 };
    let end = usize::from(from == "server");
    let lacking = report.seen[end].saturating_sub(others[end]);
    if retransmissions > 0 && lacking >= retransmissions { lacking } else { 0 }
}
