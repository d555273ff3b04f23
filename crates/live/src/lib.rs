//! The wall clock: the same links that the simulator uses, between real kernels.
//!
//! [`Emulation`] makes a network namespace of each of a scenario's hosts and joins them by
//! [`Channel`]s. It runs the scenario's flows with the kernels' own sockets and leaves the tables
//! that a simulated run leaves, or it runs a command. Needs Linux, root, `/dev/net/tun` and
//! iproute2.
//!
//! [`Channel`]: rtolab_link::Channel

mod emulation;
mod error;
mod gateway;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
#[path = "elsewhere.rs"]
mod linux;
mod report;

use rtolab_record::Run;

pub use emulation::{Emulation, Keep, Ran};
pub use error::Error;
pub use gateway::{
    Device, Gateway, GatewayCounts, GatewayError, GatewayLimits, Refusal, SynAnswer, Takes,
    WithoutIpv6, behaviour,
};
pub use linux::clean;
pub use report::{Counts, Effective, Ended, HostReport, Lateness, LinkReport, Report};

impl Emulation<'_> {
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
