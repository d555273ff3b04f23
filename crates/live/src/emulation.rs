//! A scenario on real kernels.

use rtolab_record::{Recording, Run};
use rtolab_scenario::Scenario;

use crate::error::Error;
use crate::linux;
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

    /// Runs the scenario's flows to their end with the kernel's own sockets; `run` names the run.
    /// `interrupted` is asked ten times a second; once it says yes, what there is until then is
    /// given.
    ///
    /// # Errors
    /// When something is missing ([`Error`] says what), a kernel is not as the scenario wants it, or
    /// the system refuses. All is taken down then, too.
    pub fn run(&self, run: Run, interrupted: &mut dyn FnMut() -> bool) -> Result<Ran, Error> {
        linux::run(self, run, interrupted)
    }

    /// Runs `command` to its end, then takes all down again. The tables hold its connections, of
    /// TCP and UDP, as far as their packets were kept. `interrupted` is asked ten times a second
    /// and after every signal; once it says yes, the command is ended and its report given.
    ///
    /// It runs in the namespace of the first link's first host with the caller's standard streams.
    /// In its arguments `{peer}` stands for the address of the first link's second host, and any
    /// host's name in braces for its address. Its environment holds `RTOLAB_PEER`, the peer's
    /// address, `RTOLAB_PEER_NETNS`, the peer's namespace, where `ip netns exec` can run a server,
    /// and `RTOLAB_NETNS`, which with a host's name behind it is the namespace of that. Where the
    /// scenario leaves a host to a program, that attaches to the TUN device `stack0` there. A process
    /// runs one command at a time.
    ///
    /// # Errors
    /// As of [`Emulation::run`], and when there is no such command. What a killed process left
    /// behind is taken down by the next run, and by [`clean`](crate::clean).
    pub fn command(
        &self,
        command: &[String],
        keep: Keep,
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Result<Ran, Error> {
        linux::command(self, (command, keep), interrupted)
    }
}
