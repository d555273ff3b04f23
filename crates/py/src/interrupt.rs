//! The handling of Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pyo3::prelude::*;
use signal_hook::consts::SIGINT;
use signal_hook::flag;

/// The exit status of a program ended by Ctrl-C.
const INTERRUPTED: i32 = 128 + SIGINT;

/// Makes the second Ctrl-C end this process at once. Python handles the first one.
#[pyfunction]
pub(crate) fn end_at_second_interrupt() -> PyResult<()> {
    let interrupted = Arc::new(AtomicBool::new(false));
    flag::register_conditional_shutdown(SIGINT, INTERRUPTED, interrupted.clone())?;
    flag::register(SIGINT, interrupted)?;
    Ok(())
}
