//! Connections that a NAT gives another port: it forgot them, and takes the next packet for the
//! first one of a new connection.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use rtolab_capture::End;
use rtolab_tcp::{Flags, Seq};

use crate::connection::Connection;
use crate::half_connection::HalfConnection;
use crate::open_connections::OpenConnections;

/// The maximum number of packets of a connection that a reset ends at once.
const MAX_PACKETS: u64 = 8;
/// The maximum number of searches in a capture: each looks at all open connections.
const MAX_SEARCHES: u32 = 1000;

/// The connection that another one continues from another port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rebound {
    /// Its number.
    pub number: u64,
    /// The client's address and port there.
    pub client: String,
}

/// Finds such connections.
#[derive(Debug, Default)]
pub(crate) struct ReboundSearch {
    searches: u32,
    /// By the numbers of the connections that continue others.
    found: BTreeMap<u64, Rebound>,
}

/// The first packet of a connection that began without a SYN and that a reset ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rejected {
    number: u64,
    from: SocketAddr,
    to: SocketAddr,
    seq: u32,
}

impl Rejected {
    /// `None` for other connections.
    pub fn of(connection: &Connection) -> Option<Self> {
        let (number, first) = (connection.number, &connection.first);
        let is_answer = connection.reset.is_some_and(|reset| reset.ack.is_none());
        let is_short = connection.packets <= MAX_PACKETS && !first.segment.flags.has(Flags::SYN);
        let (from, to, seq) = (first.from(), first.to(), first.segment.seq);
        (is_answer && is_short).then_some(Self { number, from, to, seq })
    }
}

impl ReboundSearch {
    /// Searches the open connections for the one that a rejected connection continues.
    #[cold]
    pub fn note(&mut self, rejected: Option<Rejected>, open: &OpenConnections) {
        let Some(rejected) = rejected else { return };
        if let Some(found) = self.find(rejected, open) {
            self.found.insert(rejected.number, found);
        }
    }

    /// The connection that the one with this number continues.
    pub fn take(&mut self, number: u64) -> Option<Rebound> {
        if self.found.is_empty() { None } else { self.found.remove(&number) }
    }

    fn find(&mut self, rejected: Rejected, open: &OpenConnections) -> Option<Rebound> {
        if self.searches >= MAX_SEARCHES {
            return None;
        }
        self.searches += 1;
        let is_continued = |other: &&Connection| {
            other.number != rejected.number
                && other.first.to() == rejected.to
                && other.next_of_client().contains(&Some(rejected.seq))
        };
        // The other side of the NAT has the same sequence numbers.
        let order = |other: &&Connection| {
            let address = other.first.from().ip();
            (address != rejected.from.ip(), other.number)
        };
        let others = open.iter().map(|(_, other)| other).filter(is_continued);
        let other = others.min_by_key(order)?;
        Some(Rebound { number: other.number, client: other.first.from().to_string() })
    }
}

impl Connection {
    /// The client's oldest unacknowledged sequence number and its next one, as in its packets.
    fn next_of_client(&self) -> [Option<u32>; 2] {
        let flight = self.ends[End::Client as usize].as_deref().map(HalfConnection::flight);
        let raw = |seq: Seq| Some(self.isn?.wrapping_add(seq.since(Seq::FIRST) as u32));
        [flight.and_then(|flight| raw(flight.una())), flight.and_then(|flight| raw(flight.max()))]
    }
}
