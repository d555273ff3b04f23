//! Emulation on Linux: network namespaces, TUN devices and the forwarding thread.

mod argv;
mod clock;
mod command;
mod connections;
mod counters;
mod emulated_network;
pub(crate) mod forwarder;
mod freezer;
mod guest;
pub(crate) mod host;
mod lateness;
mod log;
#[cfg(test)]
mod measurements;
mod namespace;
pub(crate) mod needs;
mod observed_packet;
mod packet;
mod paws;
mod reading;
mod recording;
mod routes;
mod scored;
mod sctp;
pub(crate) mod segment;
mod session;
mod settings;
pub(crate) mod sockets;
mod stop;
mod sys;
mod system_error;
mod tally;
mod truth;
mod watch;
mod withheld;
mod workload;

use rtolab_record::Run;

use crate::emulation::{EmulationResult, Emulator, PacketLogging};
use crate::error::Error;

pub(crate) use guest::{run as run_virtual, run_programs};
pub use namespace::clean;

/// Runs the scenario's flows.
pub(crate) fn run(
    emulation: &Emulator<'_>,
    run: Run,
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<EmulationResult, Error> {
    needs::check()?;
    workload::run(emulation, run, interrupted)
}

/// Runs a command.
pub(crate) fn command(
    emulation: &Emulator<'_>,
    (command, logging): (&[String], PacketLogging),
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<EmulationResult, Error> {
    let argv = argv::substitute(emulation.scenario, command);
    needs::check()?;
    needs::check_command(&argv)?;
    command::run(emulation, (&argv, logging), interrupted)
}
