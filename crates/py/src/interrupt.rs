//! Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pyo3::prelude::*;
use signal_hook::consts::SIGINT;
use signal_hook::flag;

/// How a program exits that Ctrl-C ended.
const INTERRUPTED: i32 = 128 + SIGINT;

/// From here on a second Ctrl-C ends this process at once, whatever it is doing; the first one is
/// Python's, as before.
#[pyfunction]
pub(crate) fn end_at_second_interrupt() -> PyResult<()> {
    let came = Arc::new(AtomicBool::new(false));
    flag::register_conditional_shutdown(SIGINT, INTERRUPTED, came.clone())?;
    flag::register(SIGINT, came)?;
    Ok(())
}
