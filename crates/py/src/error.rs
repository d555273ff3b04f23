//! What Python sees when something is wrong: one tree under `rtolab.Error`.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(rtolab, Error, PyException, "The base of every error that rtolab raises.");
create_exception!(rtolab, ScenarioError, Error, "The scenario cannot be read, or cannot be run.");
create_exception!(rtolab, SenderError, Error, "A sender's name is no sum of known policies.");
create_exception!(rtolab, InternalError, Error, "A defect in rtolab itself. Please report it.");

/// Adds the tree to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("Error", py.get_type::<Error>())?;
    module.add("ScenarioError", py.get_type::<ScenarioError>())?;
    module.add("SenderError", py.get_type::<SenderError>())?;
    module.add("InternalError", py.get_type::<InternalError>())
}

thread_local! {
    static LAST_PANIC: Cell<Option<String>> = const { Cell::new(None) };
}

/// Keeps what a panic says for [`guard`], instead of printing it.
pub(crate) fn remember_panics() {
    panic::set_hook(Box::new(|info| LAST_PANIC.set(Some(describe(info)))));
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let message = payload.downcast_ref::<&str>().copied();
    let message = message.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let place = info.location().map(|place| format!(" at {place}")).unwrap_or_default();
    format!("{}{place}", message.unwrap_or("panic"))
}

/// Runs `entry`; a panic in it becomes an `InternalError`.
pub(crate) fn guard<T>(entry: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    panic::catch_unwind(AssertUnwindSafe(entry)).unwrap_or_else(|_| {
        let what = LAST_PANIC.take().unwrap_or_else(|| "panic".into());
        Err(InternalError::new_err(format!("defect in rtolab, please report it: {what}")))
    })
}
