//! The threads that are in a call of a prototype, so that Ctrl-C can end a call without end.

use std::cell::OnceCell;
use std::ffi::c_ulong;
use std::sync::{Mutex, PoisonError};

use pyo3::intern;
use pyo3::prelude::*;

/// The threads, by their `threading.get_ident`.
static CALLING: Mutex<Vec<c_ulong>> = Mutex::new(Vec::new());

thread_local! {
    static THREAD: OnceCell<c_ulong> = const { OnceCell::new() };
}

fn calling<T>(change: impl FnOnce(&mut Vec<c_ulong>) -> T) -> T {
    change(&mut CALLING.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A call of a prototype on this thread, until it is dropped.
pub(super) struct Call(Option<c_ulong>);

impl Call {
    pub fn begin(py: Python<'_>) -> Self {
        let thread = THREAD.with(|known| match known.get() {
            Some(thread) => Some(*thread),
            None => this_thread(py).ok().map(|thread| *known.get_or_init(|| thread)),
        });
        if let Some(thread) = thread {
            calling(|threads| threads.push(thread));
        }
        Self(thread)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        calling(|threads| {
            if let Some(at) = threads.iter().rposition(|one| Some(*one) == self.0) {
                threads.swap_remove(at);
            }
        });
    }
}

fn this_thread(py: Python<'_>) -> PyResult<c_ulong> {
    py.import(intern!(py, "threading"))?.call_method0(intern!(py, "get_ident"))?.extract()
}

/// Raises KeyboardInterrupt in all calls of prototypes that other threads are in.
#[pyfunction]
pub(crate) fn interrupt_prototypes(py: Python<'_>) -> PyResult<()> {
    let (threads, own) = (calling(|threads| threads.clone()), this_thread(py)?);
    if threads.iter().all(|thread| *thread == own) {
        return Ok(());
    }
    let ctypes = py.import("ctypes")?;
    let raised = py.get_type::<pyo3::exceptions::PyKeyboardInterrupt>();
    for thread in threads.into_iter().filter(|thread| *thread != own) {
        let thread = ctypes.call_method1("c_ulong", (thread,))?;
        let raised = ctypes.call_method1("py_object", (&raised,))?;
        ctypes.getattr("pythonapi")?.call_method1("PyThreadState_SetAsyncExc", (thread, raised))?;
    }
    Ok(())
}
