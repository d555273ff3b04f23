//! A scenario on real kernels.

use rtolab_record::Recording;
use rtolab_scenario::Scenario;

use crate::report::Report;

/// A scenario's hosts and links in real time.
///
/// Each node is a host: a network namespace with a TUN device `link0` and an address of its own,
/// [`Emulation::address`]. IPv4 packets that one sends to another pass the links between them; the
/// rest is dropped in silence. Hosts, devices and connections of [`Emulation::run`] have no name
/// anywhere, so that they go with this process, however it ends.
#[derive(Clone, Copy, Debug)]
pub struct Emulation<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The seed of the run.
    pub seed: u64,
}

/// What is kept of a command's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Only what the links count.
    Nothing,
    /// The headers of two million packets, and what became of each.
    Packets,
}

/// What a run leaves.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The same tables as of a simulated run, with every packet.
    pub recording: Recording,
    /// The rest.
    pub report: Report,
}

impl Emulation<'_> {
    /// The address of the host of this number: that of its node, from 0.
    pub fn address(host: usize) -> std::net::Ipv4Addr {
        let [high, low] = (host as u16 + 1).to_be_bytes();
        std::net::Ipv4Addr::new(10, 83, high, low)
    }
}
