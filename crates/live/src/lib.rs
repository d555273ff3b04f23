//! Emulation: the simulator's links between real kernels, in real time.
//!
//! [`Emulator`] makes a network namespace for each host of a scenario and connects them by
//! [`Channel`]s. It runs the scenario's flows on the kernel's own sockets and returns the tables of
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

pub use emulation::{EmulationResult, Emulator, PacketLogging};
pub use error::Error;
pub use gateway::{
    AddressFamilies, Device, Gateway, GatewayCounts, GatewayError, GatewayLimits, Ipv6Fallback,
    Refusal, SynAnswer, behaviour,
};
pub use guest_kernel::{GuestKernel, VirtualHosts};
pub use linux::clean;
pub use packet_socket::{KernelCounts, PacketFilter, PacketSocket, PacketSocketError};
pub use programs::{OnOutput, Output, Programs};
pub use report::{
    Counts, EffectiveSettings, EndReason, Exchange, HostReport, Lateness, LinkReport, Report,
    ServerEnd, WithheldRetransmission,
};

impl Emulator<'_> {
    /// Runs the scenario's flows to their end on the kernel's own sockets. `run` is the description
    /// of the run in the recording. `interrupted` is called ten times a second; if it returns true,
    /// the results so far are returned.
    ///
    /// # Errors
    /// A prerequisite is missing, a kernel lacks a setting of the scenario, or the system returns
    /// an error. All namespaces and devices are removed in that case, too.
    pub fn run(
        &self,
        run: Run,
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Result<EmulationResult, Error> {
        linux::run(self, run, interrupted)
    }

    /// Runs the scenario's flows between guest kernels, or between guests and the engine, on a
    /// virtual clock. It needs Linux, but neither root nor devices. The same scenario, seed and
    /// kernel give the same packets at the same times.
    ///
    /// # Errors
    /// A kernel cannot be started, exits early or does not let time pass, it lacks a setting of the
    /// scenario, or a repeated run differs from the first.
    pub fn run_virtual(
        &self,
        hosts: &VirtualHosts<'_>,
        run: Run,
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Result<EmulationResult, Error> {
        linux::run_virtual(self, hosts, run, interrupted)
    }

    /// Runs programs on guest kernels with a virtual clock until the client ends, then ends all
    /// guests. The tables contain the programs' TCP and UDP connections, as far as their packets
    /// were recorded. `output` is called with the output of the programs.
    ///
    /// The programs run as this process's user, in its working folder and with its environment,
    /// plus `RTOLAB_PEER` (the server's address). They see the files of this machine and cannot
    /// change them; files that they write to /tmp and /var/tmp are discarded at the end. Their only
    /// network is the scenario's.
    ///
    /// # Errors
    /// As for [`Emulator::run_virtual`], or a program cannot be run or waits forever, or some hosts
    /// are the engine.
    pub fn run_programs(
        &self,
        hosts: &VirtualHosts<'_>,
        programs: &Programs<'_>,
        output: &mut OnOutput<'_>,
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Result<EmulationResult, Error> {
        linux::run_programs(self, hosts, (programs, output), interrupted)
    }

    /// Runs `command` to its end, then removes all namespaces and devices. The tables contain its
    /// TCP and UDP connections, as far as their packets were recorded. `interrupted` is called ten
    /// times a second and after every signal; if it returns true, the command is ended and the
    /// results so far are returned.
    ///
    /// The command runs in the namespace of the first link's first host with the caller's standard
    /// streams. In its arguments `{peer}` is replaced by the address of the first link's second
    /// host, and the name of a host in braces by its address. Its environment has `RTOLAB_PEER`
    /// (the peer's address), `RTOLAB_PEER_NETNS` (the peer's namespace, in which `ip netns exec`
    /// can run a server) and `RTOLAB_NETNS` (the prefix of the hosts' namespaces, which the host's
    /// name follows). If the scenario leaves a host to a program, that program opens the TUN device
    /// `stack0` there. A process runs one command at a time.
    ///
    /// # Errors
    /// As for [`Emulator::run`], or the command cannot be run. The namespaces of a killed process
    /// remain; the next run and [`clean`](crate::clean) remove them.
    pub fn command(
        &self,
        command: &[String],
        logging: PacketLogging,
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Result<EmulationResult, Error> {
        linux::command(self, (command, logging), interrupted)
    }
}
