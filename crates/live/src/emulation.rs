//! A scenario on real kernels.

use rtolab_record::Recording;
use rtolab_scenario::Scenario;

use crate::report::Report;

/// A scenario's hosts and links in real time.
///
/// Each node is a host: a network namespace with a TUN device `link0` and an address of its own,
/// from 10.83.0.1 on. IPv4 packets between hosts pass the links between them; all others are
/// silently dropped. Hosts, devices and connections of [`Emulator::run`] have no name anywhere, so
/// they disappear with this process, however it ends.
#[derive(Clone, Copy, Debug)]
pub struct Emulator<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The seed of the run.
    pub seed: u64,
}

/// What to keep of a command's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Keep {
    Nothing,
    /// The headers of the first two million packets, and the fate of each.
    Packets,
}

/// The results of a run.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Ran {
    /// The tables of a simulated run, with every packet.
    pub recording: Recording,
    pub report: Report,
}
