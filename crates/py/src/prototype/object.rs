//! Python objects that the engine calls. They are copied with the run.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use pyo3::exceptions::{PyException, PySystemExit};
use pyo3::intern;
use pyo3::prelude::*;

use super::calls::Call;
use crate::error::PrototypeError;

thread_local! {
    /// The exception of a prototype in the run of this thread.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// The result of `run`. Raises the exception of a prototype that it called, if any.
pub(crate) fn unless_raised<T: Send>(run: impl FnOnce() -> T + Send) -> PyResult<T> {
    RAISED.take();
    // The thread keeps its Python thread state during the run. Otherwise each call of a prototype
    // creates and destroys one, which takes several times as long as the call.
    let outcome = Python::attach(|py| py.detach(run));
    RAISED.take().map_or(Ok(outcome), Err)
}

/// The properties of a class of prototypes, which its objects share.
pub(super) struct Kind {
    pub name: &'static str,
    /// Makes a new object.
    pub make: Py<PyAny>,
    /// The optional methods that it defines. Others are not called.
    pub methods: Vec<String>,
}

/// A Python object. Copies share it until one of them is called (copy on write).
#[derive(Clone)]
pub(super) struct Object {
    kind: Arc<Kind>,
    /// `None` until the first call.
    state: Option<Arc<Py<PyAny>>>,
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Object({})", self.kind.name)
    }
}

impl Object {
    /// A new object.
    pub fn new(kind: Kind) -> Self {
        Self { kind: Arc::new(kind), state: None }
    }

    /// Does it define this optional method?
    pub fn has(&self, method: &str) -> bool {
        self.kind.methods.iter().any(|own| own == method)
    }

    /// The result of `call` on the object of this copy; `None` if it raises an exception. `method`
    /// is its name in messages.
    pub fn call<T>(
        &mut self,
        method: &str,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        if RAISED.with_borrow(Option::is_some) {
            return None;
        }
        Python::attach(|py| {
            let _call = Call::begin(py);
            let object = self.unshare(py)?;
            call(&object).map_err(|error| self.store(py, method, Some(&object), error)).ok()
        })
    }

    /// The object of this copy, which is created or copied if necessary; `None` if that raises an
    /// exception.
    fn unshare<'py>(&mut self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let object = match &self.state {
            None => {
                let made = self.kind.make.call0(py);
                made.map_err(|error| self.store(py, "__init__", None, error)).ok()?
            }
            Some(state) if Arc::strong_count(state) > 1 => {
                let copied = py
                    .import(intern!(py, "copy"))
                    .and_then(|copy| copy.call_method1(intern!(py, "deepcopy"), (state.bind(py),)));
                let copied = copied.map_err(|error| self.store(py, "__deepcopy__", None, error));
                copied.ok()?.unbind()
            }
            Some(state) => return Some(state.bind(py).clone()),
        };
        Some(self.state.insert(Arc::new(object)).bind(py).clone())
    }

    /// Stores an exception. Those of signals that end a process, such as Ctrl-C, are stored
    /// unchanged; `sys.exit` in a prototype is an error like any other. Of a wrong result of a
    /// method of `object`, the place is that of the method.
    fn store(&self, py: Python<'_>, method: &str, object: Option<&Bound<'_, PyAny>>, error: PyErr) {
        let is_exit = error.get_type(py).is(py.get_type::<PySystemExit>());
        if !is_exit && !error.is_instance_of::<PyException>(py) {
            return RAISED.set(Some(error));
        }
        let place = place(py, &error).or_else(|| definition(object?, method));
        let place = place.map_or(String::new(), |place| format!(" ({place})"));
        let hint = match method {
            "__deepcopy__" => {
                "; expected attributes that copy.deepcopy copies, because a run can continue twice"
            }
            _ => "",
        };
        let raised =
            PrototypeError::new_err(format!("{}.{method}: {error}{hint}{place}", self.kind.name));
        raised.set_cause(py, Some(error));
        RAISED.set(Some(raised));
    }
}

/// The file and the line of the definition of a method.
fn definition(object: &Bound<'_, PyAny>, method: &str) -> Option<String> {
    let code = object.getattr(method).ok()?.getattr("__code__").ok()?;
    let file = code.getattr("co_filename").ok()?;
    Some(format!("{file}:{}", code.getattr("co_firstlineno").ok()?))
}

/// The file and the line of the innermost call that raised `error`.
fn place(py: Python<'_>, error: &PyErr) -> Option<String> {
    let mut last = error.traceback(py)?.into_any();
    while let Some(next) = last.getattr("tb_next").ok().filter(|next| !next.is_none()) {
        last = next;
    }
    let file =
        last.getattr("tb_frame").ok()?.getattr("f_code").ok()?.getattr("co_filename").ok()?;
    Some(format!("{file}:{}", last.getattr("tb_lineno").ok()?))
}
