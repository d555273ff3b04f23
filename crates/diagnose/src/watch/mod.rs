//! Diagnoses packets while they pass, in bounded memory.
//!
//! Every connection is judged as in a capture. What has settled is reported at once and forgotten,
//! and connections end when they are idle or beyond a limit.

mod limits;
mod line;
mod settle;
mod totals;
mod uncounted;

use std::collections::{BTreeMap, HashMap, VecDeque};

use ahash::RandomState;
use rtolab_capture::Captured;
use rtolab_time::{Duration, Instant};

pub use limits::WatchLimits;
pub use line::{SettledLine, SettledRow};
pub use totals::WatchTotals;
use uncounted::Uncounted;

use crate::closing::CloseState;
use crate::connection::Connection;
use crate::connection_key::{ConnectionKey, key};
use crate::report::ConnectionReport;
use crate::translation::Translations;

/// A closed connection may still retransmit its last segments for this time.
const LINGER: Duration = Duration::from_secs(10);
/// How often settled verdicts are searched.
const EVERY: Duration = Duration::from_millis(250);
/// How often connections that are over are searched.
const SWEEP: Duration = Duration::from_secs(5);
/// Settled verdicts wait for at most this time for others of their connection that have not.
const MOST_HELD: Duration = Duration::from_secs(10);
/// The same by number.
const MOST_SETTLED: usize = 4096;
/// Forgotten connections among the closed ones are searched from this number on.
const MOST_FORGOTTEN: usize = 1 << 10;
/// The most reports that wait for [`Watch::poll`].
const MOST_DONE: usize = 1 << 14;
/// A clock that jumps back by more than this was set. [`Watch::advance`] is less late than this.
const CLOCK_SET: Duration = Duration::from_secs(1);

/// A connection that is watched.
#[derive(Debug)]
struct Watched {
    connection: Connection,
    /// Its size when it was last measured.
    size: usize,
    /// Is it in the list of those that have something to settle?
    is_pending: bool,
}

impl Watched {
    /// Has neither an end sent a RST, nor both a FIN?
    fn is_open(&self) -> bool {
        self.connection.close_state != CloseState::Closed
    }
}

/// Is the connection with this number still the one with this key?
fn is_known(
    connections: &HashMap<ConnectionKey, Watched, RandomState>,
    number: u64,
    key: &ConnectionKey,
) -> bool {
    connections.get(key).is_some_and(|one| one.connection.number == number)
}

/// A connection that has something to settle.
#[derive(Debug)]
struct Pending {
    key: ConnectionKey,
    since: Instant,
}

/// Diagnoses packets while they pass.
#[derive(Debug)]
pub struct Watch {
    limits: WatchLimits,
    /// Open connections, and closed ones of which late packets may come.
    connections: HashMap<ConnectionKey, Watched, RandomState>,
    /// The closed ones with their numbers, the one first that was closed first, and some that were
    /// forgotten since.
    closed: VecDeque<(u64, ConnectionKey)>,
    /// The number of closed ones.
    lingering: usize,
    /// The number of the latest connection.
    number: u64,
    translations: Translations,
    uncounted: Uncounted,
    /// By the connections' numbers.
    pending: BTreeMap<u64, Pending>,
    done: VecDeque<ConnectionReport>,
    /// The size of all connections.
    size: usize,
    /// The clock of the packets at time zero, corrected when it is set.
    origin: Option<Instant>,
    now: Instant,
    settles: Instant,
    sweeps: Instant,
    totals: WatchTotals,
}

impl Watch {
    /// A watch that has seen nothing.
    pub fn new(limits: WatchLimits) -> Self {
        Self {
            limits,
            connections: HashMap::default(),
            closed: VecDeque::new(),
            lingering: 0,
            number: 0,
            translations: Translations::default(),
            uncounted: Uncounted::default(),
            pending: BTreeMap::new(),
            done: VecDeque::new(),
            size: 0,
            origin: None,
            now: Instant::START,
            settles: Instant::START + EVERY,
            sweeps: Instant::START + SWEEP,
            totals: WatchTotals::default(),
        }
    }

    /// Processes the next packet.
    pub fn packet(&mut self, captured: &Captured) {
        self.advance(captured.packet.at);
        self.totals.packets += 1;
        let at = self.now;
        let key = key(&captured.packet);
        if let Some(watched) = self.connections.get(&key) {
            if watched.connection.is_followed_by(&captured.packet, at) {
                self.close(&key);
            }
        }
        let is_new = !self.connections.contains_key(&key);
        if is_new {
            self.begin(captured, key);
        }
        let Some(watched) = self.connections.get_mut(&key) else { return };
        let number = watched.connection.number;
        let was_open = watched.is_open();
        watched.connection.on_packet(captured, at);
        let isn = watched.connection.isn_of(&captured.packet);
        let has_closed = was_open && !watched.is_open();
        let size = settle::size(&watched.connection);
        self.size = self.size - watched.size + size;
        watched.size = size;
        if !watched.is_pending && settle::has_news(&watched.connection) {
            watched.is_pending = true;
            self.pending.insert(number, Pending { key, since: at });
        }
        if let Some(isn) = isn {
            for relation in self.translations.on_syn((number, isn), captured, at) {
                if let Some(counts) = self.uncounted.relate((number, is_new), relation, at) {
                    self.count(counts);
                }
            }
        }
        if is_new && !self.uncounted.contains(number) {
            self.totals.connections += 1;
        }
        if has_closed {
            self.on_closed(number, key);
        }
        self.make_room();
    }

    /// Begins a connection with its first packet.
    fn begin(&mut self, captured: &Captured, key: ConnectionKey) {
        self.number += 1;
        let connection = Connection::begun_by(&captured.packet, self.number, self.now);
        let size = settle::size(&connection);
        self.size += size;
        self.connections.insert(key, Watched { connection, size, is_pending: false });
    }

    fn on_closed(&mut self, number: u64, key: ConnectionKey) {
        self.lingering += 1;
        self.closed.push_back((number, key));
        if self.closed.len() > 2 * self.lingering + MOST_FORGOTTEN {
            let connections = &self.connections;
            self.closed.retain(|(number, key)| is_known(connections, *number, key));
        }
    }

    /// It is this time now, since 1970-01-01 00:00 UTC, whether or not packets pass. A time up to a
    /// second before that of a packet changes nothing.
    pub fn advance(&mut self, now: Instant) {
        let origin = *self.origin.get_or_insert_with(|| {
            self.totals.began = now.secs_f64();
            now
        });
        let at = Instant::from_nanos(now.since(origin).nanos());
        if self.now.since(at) > CLOCK_SET {
            // Time goes on from where it was.
            self.origin = Some(Instant::from_nanos(now.nanos().saturating_sub(self.now.nanos())));
            return;
        }
        self.now = self.now.max(at);
        if self.now >= self.settles {
            self.settles = self.now + EVERY;
            self.settle();
        }
        if self.now >= self.sweeps {
            self.sweeps = self.now + SWEEP;
            self.sweep();
        }
    }

    /// The next verdicts that have settled: the part of a connection since its previous report.
    pub fn poll(&mut self) -> Option<ConnectionReport> {
        self.done.pop_front()
    }

    /// The totals so far.
    pub fn totals(&self) -> WatchTotals {
        WatchTotals {
            ended: self.totals.began + self.now.secs_f64(),
            open: (self.connections.len() - self.lingering - self.open_uncounted()) as u64,
            ..self.totals.clone()
        }
    }

    /// The number of open connections that do not count.
    fn open_uncounted(&self) -> usize {
        let is_uncounted =
            |one: &&Watched| one.is_open() && self.uncounted.contains(one.connection.number);
        match self.uncounted.is_empty() {
            true => 0,
            false => self.connections.values().filter(is_uncounted).count(),
        }
    }

    /// Ends the watch, and with it all connections; [`poll`](Self::poll) returns their verdicts.
    pub fn finish(&mut self) {
        let mut open: Vec<(u64, ConnectionKey)> = self
            .connections
            .iter()
            .map(|(key, watched)| (watched.connection.number, *key))
            .collect();
        open.sort_unstable();
        for (_, key) in open {
            self.close(&key);
        }
    }

    fn settle(&mut self) {
        let now = self.now;
        let mut over = Vec::new();
        let mut reports = Vec::new();
        for (&number, pending) in &mut self.pending {
            let Some(watched) = self.connections.get_mut(&pending.key) else { continue };
            let connection = &mut watched.connection;
            settle::settle_due(connection, now);
            let held = now.since(pending.since) >= MOST_HELD;
            let is_quiet = settle::is_quiet(connection);
            if is_quiet || held || settle::settled(connection) > MOST_SETTLED {
                reports.extend(settle::report(connection));
                pending.since = now;
            }
            if !settle::has_news(connection) {
                watched.is_pending = false;
                over.push(number);
            }
        }
        for number in over {
            self.pending.remove(&number);
        }
        for report in reports {
            self.push_if_counted(report);
        }
    }

    fn sweep(&mut self) {
        for number in self.uncounted.overdue(self.now, MOST_HELD) {
            self.count(number);
        }
        let (now, idle) = (self.now, self.limits.idle);
        let is_over = |connection: &Connection| {
            let waited = now.since(connection.last);
            waited > idle || connection.close_state == CloseState::Closed && waited > LINGER
        };
        let over = self.connections.iter().filter(|(_, watched)| is_over(&watched.connection));
        let mut over: Vec<(u64, ConnectionKey)> =
            over.map(|(key, watched)| (watched.connection.number, *key)).collect();
        over.sort_unstable();
        for (_, key) in over {
            self.close(&key);
        }
    }

    fn is_over_limit(&self) -> bool {
        self.connections.len() > self.limits.connections || self.size > self.limits.memory
    }

    /// If a limit is exceeded, forgets closed connections, and without these evicts the quarter of
    /// the open ones that has been idle longest.
    fn make_room(&mut self) {
        while self.is_over_limit() {
            let Some((number, key)) = self.closed.pop_front() else { return self.evict() };
            if is_known(&self.connections, number, &key) {
                self.close(&key);
            }
        }
    }

    fn evict(&mut self) {
        let mut idle: Vec<(Instant, u64, ConnectionKey)> = self
            .connections
            .iter()
            .map(|(key, one)| (one.connection.last, one.connection.number, *key))
            .collect();
        idle.sort_unstable();
        idle.truncate((idle.len() / 4).max(1));
        self.totals.evicted += idle.len() as u64;
        for (_, _, key) in idle {
            self.close(&key);
        }
    }

    fn close(&mut self, key: &ConnectionKey) {
        let Some(mut watched) = self.connections.remove(key) else { return };
        self.size -= watched.size;
        self.lingering -= usize::from(!watched.is_open());
        self.pending.remove(&watched.connection.number);
        watched.connection.finish();
        let number = watched.connection.number;
        self.translations.forget(number, watched.connection.isn);
        if let Some(report) = settle::last_report(&watched.connection) {
            self.push_if_counted(report);
        }
        self.count(number);
    }

    /// Counts a connection that did not count yet, if it is no side of another one.
    fn count(&mut self, number: u64) {
        let Some(held) = self.uncounted.remove(number) else { return };
        self.totals.connections += 1;
        for report in held {
            self.push(report);
        }
    }

    fn push_if_counted(&mut self, report: ConnectionReport) {
        if let Some(report) = self.uncounted.hold(report) {
            self.push(report);
        }
    }

    fn push(&mut self, report: ConnectionReport) {
        self.totals.add(&report);
        if self.done.len() < MOST_DONE {
            self.done.push_back(report);
        } else {
            self.totals.unreported += report.retransmissions.len() as u64;
        }
    }
}
