//! The wall clock: the simulator's links between real kernels.
//!
//! [`Emulator`] makes a network namespace for each host of a scenario and joins them by
//! [`Channel`]s. It runs the scenario's flows on the kernels' own sockets and returns the tables of
//! a simulated run, or it runs a command. It needs Linux, root, `/dev/net/tun` and iproute2.
//!
//! [`Channel`]: rtolab_link::Channel

mod emulation;
mod error;
mod gateway;
mod guest_kernel;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
#[path = "elsewhere.rs"]
mod linux;
mod packet_socket;
mod programs;
mod report;

use rtolab_record::Run;

pub use emulation::{Emulator, Keep, Ran};
pub use error::Error;
pub use gateway::{
    Device, Gateway, GatewayCounts, GatewayError, GatewayLimits, Refusal, SynAnswer, Takes,
    WithoutIpv6, behaviour,
};
pub use guest_kernel::GuestKernel;
pub use linux::clean;
pub use packet_socket::{KernelCounts, PacketFilter, PacketSocket, PacketSocketError};
pub use programs::{OnOutput, Output, Programs};
pub use report::{Counts, Effective, Ended, HostReport, Lateness, LinkReport, Report};

impl Emulator<'_> {
    /// Runs the scenario's flows to their end on the kernel's own sockets; `run` names the run.
    /// `interrupted` is called ten times a second; once it returns true, the results so far are
    /// returned.
    ///
    /// # Errors
    /// Something is missing ([`Error`] says what), a kernel does not have a setting of the
    /// scenario, or the system returns an error. Everything is taken down then, too.
    pub fn run(&self, run: Run, interrupted: &mut dyn FnMut() -> bool) -> Result<Ran, Error> {
        linux::run(self, run, interrupted)
    }

    /// Runs the scenario's flows on guest kernels on a virtual clock: a kernel of its own for every
    /// host. It needs Linux, but neither root nor devices. The same scenario, seed and kernel give
    /// the same packets at the same times.
    ///
    /// # Errors
    /// A kernel cannot be started, ends by itself or lets no time pass, or it does not have a
    /// setting of the scenario.
    pub fn run_virtual(
        &self,
        kernel: &GuestKernel,
        run: Run,
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Result<Ran, Error> {
        linux::run_virtual(self, kernel, run, interrupted)
    }

    /// Runs programs on guest kernels on a virtual clock until the client ends, then takes
    /// everything down. The tables hold their TCP and UDP connections, as far as their packets were
    /// kept. `output` is called with what they write.
    ///
    /// The programs have this process's environment, with `RTOLAB_PEER`, the server's address, its
    /// working folder and its user. They see this machine's files and cannot change them: what they
    /// write to /tmp and /var/tmp is gone in the end. Their only network is the scenario's.
    ///
    /// # Errors
    /// Those of [`Emulator::run_virtual`], and if a program cannot be run or waits for ever.
    pub fn run_programs(
        &self,
        kernel: &GuestKernel,
        programs: &Programs<'_>,
        output: &mut OnOutput<'_>,
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Result<Ran, Error> {
        linux::run_programs(self, kernel, (programs, output), interrupted)
    }

    /// Runs `command` to its end, then takes everything down. The tables hold its TCP and UDP
    /// connections, as far as their packets were kept. `interrupted` is called ten times a second
    /// and after every signal; once it returns true, the command is ended and its report returned.
    ///
    /// The command runs in the namespace of the first link's first host with the caller's standard
    /// streams. In its arguments `{peer}` stands for the address of the first link's second host,
    /// and the name of a host in braces for its address. Its environment has `RTOLAB_PEER`, the
    /// peer's address, `RTOLAB_PEER_NETNS`, the peer's namespace, in which `ip netns exec` can run
    /// a server, and `RTOLAB_NETNS`, the prefix of every host's namespace before its name. If the
    /// scenario leaves a host to a program, that program attaches to the TUN device `stack0` there.
    /// A process runs one command at a time.
    ///
    /// # Errors
    /// Those of [`Emulator::run`], and if the command cannot be run. The next run and
    /// [`clean`](crate::clean) take down what a killed process left behind.
    pub fn command(
        &self,
        command: &[String],
        keep: Keep,
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Result<Ran, Error> {
        linux::command(self, (command, keep), interrupted)
    }
}
