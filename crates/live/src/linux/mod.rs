//! Network namespaces, TUN devices and the thread between them.

mod argv;
mod carrier;
mod clock;
mod command;
mod counters;
#[cfg(test)]
mod figures;
pub(crate) mod forwarder;
mod found;
mod guest;
pub(crate) mod host;
mod lateness;
mod log;
mod namespace;
pub(crate) mod needs;
mod packet;
mod paws;
mod reading;
mod recording;
mod refused;
mod routes;
mod seen;
mod session;
mod settings;
pub(crate) mod sockets;
mod stop;
mod sys;
mod tally;
mod truth;
mod watch;
mod workload;

use rtolab_record::Run;

use crate::emulation::{Emulator, Keep, Ran};
use crate::error::Error;

pub(crate) use guest::{run as run_virtual, run_programs};
pub use namespace::clean;

/// The scenario's flows.
pub(crate) fn run(
    emulation: &Emulator<'_>,
    run: Run,
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<Ran, Error> {
    needs::check()?;
    workload::run(emulation, run, interrupted)
}

/// A command.
pub(crate) fn command(
    emulation: &Emulator<'_>,
    (command, keep): (&[String], Keep),
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<Ran, Error> {
    let argv = argv::filled(emulation.scenario, command);
    needs::check()?;
    needs::check_command(&argv)?;
    command::run(emulation, (&argv, keep), interrupted)
}
