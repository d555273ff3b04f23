//! What an emulation leaves.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::process::ExitStatus;

use rtolab_link::{Direction, Stats};
use rtolab_time::Duration;

/// Counts of a kernel by name, such as `TcpExtTCPTimeouts`.
pub type Counts = BTreeMap<String, u64>;

/// What was found effective: names and values.
pub type Effective = Vec<(String, String)>;

/// How an emulation ended and what links and hosts did.
#[derive(Clone, Debug)]
pub struct Report {
    /// How it ended.
    pub ended: Ended,
    /// How long it took, from time 0 of the links.
    pub elapsed: Duration,
    /// The links, those of the scenario first, then the access links of flows.
    pub links: Vec<LinkReport>,
    /// The hosts, in the order of the scenario's nodes.
    pub hosts: Vec<HostReport>,
    /// What each flow's connection was found to be: names and values.
    pub connections: Vec<(String, Effective)>,
    /// Packets that came out of a link and that the kernel did not take.
    pub refused: u64,
    /// How much later than the links said packets came out.
    pub lateness: Lateness,
    /// How long packets may have waited in a host's device before the thread that carries them read
    /// them: since it had last found the device empty, or since it was ready to run again.
    pub waited: Lateness,
    /// How late one packet in a hundred may be without changing the result.
    pub allowed: Duration,
    /// The shortest round trip of a flow over idle links, without the time to send anything.
    pub round_trip: Duration,
    /// Did the thread that carries packets run before all others?
    pub real_time: bool,
}

impl Report {
    /// What happened to the packets of one direction of a link.
    pub fn stats(&self, link: usize, direction: Direction) -> &Stats {
        &self.links[link].stats[direction.index()]
    }
}

/// What a link did.
#[derive(Clone, Debug)]
pub struct LinkReport {
    /// Its name.
    pub name: String,
    /// The names of the nodes that it joins; of an access link none.
    pub ends: Option<[String; 2]>,
    /// What happened to the packets of either direction, the forward one first.
    pub stats: [Stats; 2],
    /// Packets still inside at the end.
    pub inside: [usize; 2],
}

/// A host: how it was set, and what its kernel counted.
#[derive(Clone, Debug)]
pub struct HostReport {
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: Ipv4Addr,
    /// What was found effective: names and values.
    pub effective: Effective,
    /// Its counters before.
    pub before: Counts,
    /// Its counters after.
    pub after: Counts,
}

impl HostReport {
    /// What its kernel counted during the run, without what it did not count.
    pub fn counted(&self) -> Counts {
        let grown = self.after.iter().filter_map(|(name, now)| {
            let grown = now.saturating_sub(self.before.get(name).copied().unwrap_or(0));
            (grown > 0).then(|| (name.clone(), grown))
        });
        grown.collect()
    }
}

/// Why an emulation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The command did.
    Exited(ExitStatus),
    /// All flows did.
    Over,
    /// The scenario's duration did, as it does where flows have no end.
    Duration,
    /// The caller wanted it.
    Interrupted,
}

/// How late this process was, to two digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// The packets measured.
    pub packets: u64,
    /// Half of them were not later than this.
    pub p50: Duration,
    /// 99 in 100 were not later than this.
    pub p99: Duration,
    /// None was later than this.
    pub max: Duration,
}
