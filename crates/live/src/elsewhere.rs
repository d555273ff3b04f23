//! What there is on other systems than Linux: a word that it needs Linux.

use rtolab_record::Run;

use crate::emulation::{Emulation, Keep, Ran};
use crate::error::Error;

pub(crate) fn run(_: &Emulation<'_>, _: Run, _: &mut dyn FnMut() -> bool) -> Result<Ran, Error> {
    Err(Error::NotLinux)
}

pub(crate) fn command(
    _: &Emulation<'_>,
    _: (&[String], Keep),
    _: &mut dyn FnMut() -> bool,
) -> Result<Ran, Error> {
    Err(Error::NotLinux)
}

/// Says that this is not Linux.
///
/// # Errors
/// Always.
pub fn clean() -> Result<Vec<String>, Error> {
    Err(Error::NotLinux)
}
