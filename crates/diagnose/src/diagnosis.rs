//! Diagnosis of all connections of a capture.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use rtolab_capture::Captured;
use rtolab_tcp::Flags;
use rtolab_time::{Duration, Instant};

use crate::capture_points::CapturePoint;
use crate::closing::CloseState;
use crate::connection::Connection;
use crate::connection_key::{ConnectionKey, key};
use crate::open_connections::OpenConnections;
use crate::pair::Pair;
use crate::paired_verdict::PairedVerdicts;
use crate::rebound::{ReboundSearch, Rejected};
use crate::report::{self, ConnectionReport};
use crate::summary::Summary;
use crate::translation::{Groups, Rank, Translations};

/// The time without packets after which a connection counts as closed: longer than the two hours
/// after which keep-alives begin (RFC 9293 section 3.8.4).
const IDLE: Duration = Duration::from_secs(3 * 3600);
/// The time during which a closed connection may still retransmit its last segments.
const LINGER: Duration = Duration::from_secs(60);
/// The maximum number of open connections. At the limit, the quarter that has been idle longest
/// counts as closed.
const MAX_OPEN: usize = 1 << 17;
/// The number of packets between two searches for closed connections.
const SWEEP: u64 = 1 << 16;
/// The longest capture in nanoseconds: later times, of a wrong clock, count as this.
const MAX_DURATION: u64 = 1 << 58;
/// The maximum number of connections without a retransmission that are reported.
const MAX_CLEAN_REPORTED: u64 = 10_000;
/// The number of retransmissions after which no further connections are reported.
const MAX_REPORTED: u64 = 2_000_000;

/// Diagnoses the packets of a capture, connection by connection.
#[derive(Debug, Default)]
pub struct Diagnosis {
    open: OpenConnections,
    done: VecDeque<ConnectionReport>,
    clean: u64,
    /// The number of the latest connection.
    number: u64,
    translations: Translations,
    groups: Groups,
    rebound_search: ReboundSearch,
    origin: Option<Instant>,
    now: Instant,
    summary: Summary,
    /// The verdicts that a capture at the other end gives.
    paired_verdicts: PairedVerdicts,
    /// Are the timers of other minimum RTOs replayed?
    replays_timers: bool,
}

impl Diagnosis {
    /// An empty diagnosis.
    pub fn new() -> Self {
        Self::default()
    }

    /// A diagnosis with what a capture at the other end shows.
    pub(crate) fn with_pair(pair: &mut Pair) -> Self {
        let paired_verdicts = std::mem::take(&mut pair.paired_verdicts);
        let mut diagnosis = Self { paired_verdicts, ..Self::default() };
        diagnosis.summary.totals.paired = Some(Box::new(pair.directions.clone()));
        diagnosis
    }

    /// A diagnosis that replays the timers of other minimum RTOs, too.
    pub fn with_timers() -> Self {
        Self { replays_timers: true, ..Self::default() }
    }

    /// Processes the next packet. Returns the number of its connection.
    pub fn packet(&mut self, captured: &Captured) -> u64 {
        self.packet_at(captured).0
    }

    /// Processes the next packet. Returns the number of its connection and its capture point;
    /// `None` instead of the point if it is a copy.
    pub(crate) fn packet_at(&mut self, captured: &Captured) -> (u64, Option<CapturePoint>) {
        let packet = &captured.packet;
        let origin = *self.origin.get_or_insert_with(|| {
            self.summary.began = packet.at.secs_f64();
            packet.at
        });
        let at = Instant::from_nanos(packet.at.since(origin).nanos().min(MAX_DURATION));
        self.now = self.now.max(at);
        self.summary.packets += 1;
        if self.summary.packets % SWEEP == 0 {
            self.sweep();
        }
        let key = key(packet);
        if let Some(connection) = self.open.get_mut(&key) {
            if !connection.is_followed_by(packet, at) {
                let capture_point = connection.on_packet(captured, at);
                let number = connection.number;
                if packet.segment.flags.has(Flags::RST) {
                    let rejected = Rejected::of(connection);
                    self.rebound_search.note(rejected, &self.open);
                    return (number, capture_point);
                }
                if let Some(isn) = connection.isn_of(packet) {
                    self.note_isn((number, isn), captured, at);
                }
                return (number, capture_point);
            }
        }
        if let Some(connection) = self.open.remove(&key) {
            self.close(connection);
        }
        if self.open.len() >= MAX_OPEN {
            self.make_room();
        }
        self.summary.connections += 1;
        self.number += 1;
        let number = self.number;
        let mut connection = Box::new(Connection::begun_by(packet, number, at));
        connection.replays_timers = self.replays_timers;
        let capture_point = connection.on_packet(captured, at);
        let isn = connection.isn_of(packet);
        self.open.insert(key, connection);
        if let Some(isn) = isn {
            self.note_isn((number, isn), captured, at);
        }
        (number, capture_point)
    }

    /// Notes the client's initial sequence number of a packet with SYN: other connections may be
    /// sides of the same one.
    #[cold]
    fn note_isn(&mut self, (number, isn): (u64, u32), captured: &Captured, at: Instant) {
        for (other, relation) in self.translations.on_syn((number, isn), captured, at) {
            self.groups.relate(number, other, relation);
        }
    }

    /// The next connection whose report is complete.
    pub fn poll(&mut self) -> Option<ConnectionReport> {
        self.done.pop_front()
    }

    /// Closes all connections at the end of the capture. Returns the totals.
    pub fn finish(&mut self) -> Summary {
        let open = self.open.iter().map(|(key, connection)| (connection.number, *key)).collect();
        self.close_all(open);
        self.summary.ended = self.summary.began + self.now.secs_f64();
        self.summary.clone()
    }

    fn sweep(&mut self) {
        let now = self.now;
        let is_over = |connection: &Connection| {
            let idle = now.since(connection.last);
            idle > IDLE || connection.close_state == CloseState::Closed && idle > LINGER
        };
        let over = self.open.iter().filter(|(_, connection)| is_over(connection));
        let over = over.map(|(key, connection)| (connection.number, *key)).collect();
        self.close_all(over);
    }

    fn make_room(&mut self) {
        let mut idle: Vec<(Instant, u64, ConnectionKey)> =
            self.open.iter().map(|(key, one)| (one.last, one.number, *key)).collect();
        idle.sort_unstable();
        idle.truncate(MAX_OPEN / 4);
        self.summary.given_up += idle.len() as u64;
        self.close_all(idle.into_iter().map(|(_, number, key)| (number, key)).collect());
    }

    /// Closes connections in the order of their numbers.
    fn close_all(&mut self, mut over: Vec<(u64, ConnectionKey)>) {
        over.sort_unstable();
        for (_, key) in over {
            if let Some(connection) = self.open.remove(&key) {
                self.close(connection);
            }
        }
    }

    fn close(&mut self, mut connection: Box<Connection>) {
        connection.finish();
        self.translations.forget(connection.number, connection.isn);
        let mut report = report::report(&connection, &self.paired_verdicts);
        report.rebound = self.rebound_search.take(connection.number);
        if self.groups.contains(report.number) {
            let rank = self.rank(&connection, &report);
            if let Some((report, others)) = self.groups.close(report, rank) {
                self.summary.connections -= others;
                self.add(report);
            }
        } else {
            self.add(report);
        }
    }

    fn rank(&self, connection: &Connection, report: &ConnectionReport) -> Rank {
        let (at_sender, _) = connection.at_sender();
        let hops = at_sender.turnarounds.hops(at_sender.main_sender());
        let mut frames = report.retransmissions.iter().map(|one| one.frame);
        let is_paired = frames.any(|frame| self.paired_verdicts.contains_key(&frame));
        Rank::of(report, is_paired, hops)
    }

    fn add(&mut self, report: ConnectionReport) {
        let count = report.retransmissions.len() as u64;
        self.clean += u64::from(count == 0);
        let has_room = self.summary.retransmissions <= MAX_REPORTED;
        self.summary.retransmissions += count;
        self.summary.totals.add(&report);
        if has_room && (count > 0 || self.clean <= MAX_CLEAN_REPORTED) {
            self.done.push_back(report);
        } else {
            self.summary.left_out += 1;
        }
    }
}
