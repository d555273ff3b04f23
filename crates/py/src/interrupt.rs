//! Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pyo3::prelude::*;
use signal_hook::consts::SIGINT;
use signal_hook::flag;

/// The exit status of a program that Ctrl-C ended.
const INTERRUPTED: i32 = 128 + SIGINT;

/// From now on a second Ctrl-C ends this process at once; Python handles the first one.
#[pyfunction]
pub(crate) fn end_at_second_interrupt() -> PyResult<()> {
    let came = Arc::new(AtomicBool::new(false));
    flag::register_conditional_shutdown(SIGINT, INTERRUPTED, came.clone())?;
    flag::register(SIGINT, came)?;
    Ok(())
}
