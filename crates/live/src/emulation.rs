//! Emulation of a scenario on real kernels.

use rtolab_record::Recording;
use rtolab_scenario::Scenario;
use rtolab_tcp::spurious::{Detector, DetectorId};

use crate::report::Report;

/// A scenario's hosts and links in real time.
///
/// Each node is a host: a network namespace with a TUN device `link0` and an address, from
/// 10.83.0.1 on. IPv4 packets between hosts pass the links between them; other packets are silently
/// dropped. The namespaces of [`Emulator::run`] have no name, so they disappear with this process,
/// even if it is killed.
#[derive(Clone, Copy, Debug)]
pub struct Emulator<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The seed of the run.
    pub seed: u64,
    /// Passive detectors at the sender of every TCP flow of the scenario. After the run they see
    /// its segments and the decisions of its TCP to retransmit.
    pub judges: &'a [(DetectorId, Box<dyn Detector>)],
}

/// The packets of a command that are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum PacketLogging {
    Off,
    /// The headers of the first two million packets, and the fate of each.
    Headers,
}

/// The result of an emulation.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct EmulationResult {
    /// The tables of a simulated run, with every packet.
    pub recording: Recording,
    pub report: Report,
}
