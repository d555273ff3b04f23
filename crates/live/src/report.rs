//! The report of an emulation.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::process::ExitStatus;

use rtolab_link::{Direction, Stats};
use rtolab_record::{TimeoutKind, Truth};
use rtolab_time::{Duration, Instant};

/// A kernel's counters by name, for example `TcpExtTCPTimeouts`.
pub type Counts = BTreeMap<String, u64>;

/// The increments between two readings, without counts that did not grow.
pub(crate) fn since(before: &Counts, after: &Counts) -> Counts {
    let grown = after.iter().filter_map(|(name, now)| {
        let grown = now.saturating_sub(before.get(name).copied().unwrap_or(0));
        (grown > 0).then(|| (name.clone(), grown))
    });
    grown.collect()
}

/// The effective settings: names and values.
pub type EffectiveSettings = Vec<(String, String)>;

/// The end of an emulation, and the statistics of its links and hosts.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Report {
    pub ended: EndReason,
    /// Its duration, from time 0 of the links.
    pub elapsed: Duration,
    /// The links of the scenario, then the access links of flows.
    pub links: Vec<LinkReport>,
    /// The hosts, in the order of the scenario's nodes.
    pub hosts: Vec<HostReport>,
    /// The effective settings of each flow's connection.
    pub connections: Vec<(String, EffectiveSettings)>,
    /// Packets that left a link, but that the kernel refused.
    pub refused: u64,
    /// The lateness of packets that left links.
    pub lateness: Lateness,
    /// The longest times for which packets may have waited in a host's device before the forwarding
    /// thread read them: since the thread found the device empty, or since it was ready to run.
    pub waited: Lateness,
    /// The 99th percentile of lateness up to which the result counts as unaffected.
    pub allowed: Duration,
    /// The shortest round-trip time of a flow over idle links, without transmission times.
    pub round_trip: Duration,
    /// Did the forwarding thread have real-time priority?
    pub real_time: bool,
    /// The end of the server of programs on guests, if it ended before the client.
    pub server_end: Option<ServerEnd>,
    /// The retransmissions that repeated runs withheld, by flow and time.
    pub withheld: Vec<WithheldRetransmission>,
}

impl Report {
    /// The statistics of one direction of a link.
    pub fn stats(&self, link: usize, direction: Direction) -> &Stats {
        &self.links[link].stats[direction.index()]
    }
}

/// The ground truth about the retransmission of a timeout or fast retransmit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct WithheldRetransmission {
    pub flow: String,
    pub at: Instant,
    pub kind: TimeoutKind,
    /// The truth according to the fates of the run's packets.
    pub by_fates: Truth,
    /// The truth according to a repeated run without the retransmission.
    pub by_withholding: Truth,
}

/// The report of a link.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct LinkReport {
    pub name: String,
    /// The names of its nodes; `None` for an access link.
    pub ends: Option<[String; 2]>,
    /// The statistics of both directions, the forward one first.
    pub stats: [Stats; 2],
    /// The number of packets inside at the end.
    pub inside: [usize; 2],
}

/// A host: its settings and its kernel's counters.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct HostReport {
    pub name: String,
    pub address: Ipv4Addr,
    /// Its kernel, if it is a guest with a virtual clock.
    pub kernel: Option<String>,
    /// The exchange of time and packets with a guest.
    pub exchange: Option<Exchange>,
    pub effective: EffectiveSettings,
    /// Its counters before the run.
    pub before: Counts,
    /// Its counters after the run.
    pub after: Counts,
}

/// The exchange of time and packets between a guest kernel and this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Does it use shared memory? Linux 6.11 and later can; others exchange messages, which takes
    /// longer and has the same results.
    pub shared_memory: bool,
    /// The number of messages after the guest's start, besides those by which it runs and waits.
    /// With shared memory it is 0.
    pub messages: u64,
}

impl HostReport {
    /// The increments of its counters during the run.
    pub fn counted(&self) -> Counts {
        since(&self.before, &self.after)
    }
}

/// The end of a server while its client ran, or before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerEnd {
    /// Its exit code; 128 plus the number of the signal that ended it.
    pub code: i32,
    /// Did it end before it listened? Then the client did not start.
    pub before_client: bool,
}

/// The reason why an emulation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum EndReason {
    /// The command exited.
    Exited(ExitStatus),
    /// The server ended before it listened, so the client did not start.
    ServerEnded,
    /// All flows ended.
    FlowsCompleted,
    /// The scenario's duration ended.
    Duration,
    /// The client's time limit ended.
    TimedOut,
    Interrupted,
}

/// The lateness of packets, to two digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Lateness {
    pub packets: u64,
    pub p50: Duration,
    pub p99: Duration,
    pub max: Duration,
}
