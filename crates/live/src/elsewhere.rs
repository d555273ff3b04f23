//! Emulation on systems other than Linux: every call is an error.

use rtolab_record::Run;

use crate::emulation::{EmulationResult, Emulator, PacketLogging};
use crate::error::Error;
use crate::guest_kernel::VirtualHosts;
use crate::programs::{OnOutput, Programs};

pub(crate) fn run(
    _: &Emulator<'_>,
    _: Run,
    _: &mut dyn FnMut() -> bool,
) -> Result<EmulationResult, Error> {
    Err(Error::NotLinux)
}

pub(crate) fn run_virtual(
    _: &Emulator<'_>,
    _: &VirtualHosts<'_>,
    _: Run,
    _: &mut dyn FnMut() -> bool,
) -> Result<EmulationResult, Error> {
    Err(Error::NotLinux)
}

pub(crate) fn run_programs(
    _: &Emulator<'_>,
    _: &VirtualHosts<'_>,
    _: (&Programs<'_>, &mut OnOutput<'_>),
    _: &mut dyn FnMut() -> bool,
) -> Result<EmulationResult, Error> {
    Err(Error::NotLinux)
}

pub(crate) fn command(
    _: &Emulator<'_>,
    _: (&[String], PacketLogging),
    _: &mut dyn FnMut() -> bool,
) -> Result<EmulationResult, Error> {
    Err(Error::NotLinux)
}

/// Not supported on this system.
///
/// # Errors
/// Always.
pub fn clean() -> Result<Vec<String>, Error> {
    Err(Error::NotLinux)
}
