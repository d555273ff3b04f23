//! Detectors written in Python: the engine asks them as any other.
//!
//! What such a detector raises cannot pass through the engine. It is kept until the run is over,
//! and nothing more is asked meanwhile: a run is on one thread from its beginning to its end.

mod facts;
mod names;
mod verdict;

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use rtolab_tcp::spurious::{Detector, Episode, Prototype, Verdict};
use rtolab_tcp::{AckFacts, Sent};

use crate::error::PrototypeError;

pub(crate) use facts::{PyAck, PyEpisode, PySent};

thread_local! {
    /// What a detector has raised in the run of this thread.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// The outcome of a run that may have asked detectors written in Python.
pub(crate) fn unless_raised<T>(run: impl FnOnce() -> T) -> PyResult<T> {
    RAISED.take();
    let outcome = run();
    RAISED.take().map_or(Ok(outcome), Err)
}

/// A class that is a detector, as Python describes it.
#[derive(FromPyObject)]
pub(crate) struct Class {
    name: String,
    /// Makes one that has seen nothing yet.
    make: Py<PyAny>,
    /// The methods that it has of its own: the others need no call.
    methods: Vec<String>,
}

impl Class {
    /// All of them, none under another's name.
    pub(crate) fn all(classes: Vec<Self>) -> PyResult<Vec<Prototype>> {
        let mut all: Vec<Prototype> = Vec::new();
        for class in classes {
            let prototype = class.prototype()?;
            if all.contains(&prototype) {
                let told = format!("found two prototypes `{}`; expected one", prototype.name);
                return Err(PrototypeError::new_err(told));
            }
            all.push(prototype);
        }
        Ok(all)
    }

    /// The detector, before it has seen anything.
    fn prototype(self) -> PyResult<Prototype> {
        let name = names::name(&self.name)?;
        let has = |method: &str| self.methods.iter().any(|own| own == method);
        let kind = Kind {
            name,
            hears_retransmissions: has("on_retransmission"),
            hears_probes: has("on_probe"),
            has_last_word: has("at_end"),
            make: self.make,
        };
        Ok(Prototype { name, detector: Box::new(PyDetector { kind: Arc::new(kind), state: None }) })
    }
}

struct Kind {
    name: &'static str,
    make: Py<PyAny>,
    hears_retransmissions: bool,
    hears_probes: bool,
    has_last_word: bool,
}

/// A detector whose state is a Python object. Copies share it until one of them is asked.
#[derive(Clone)]
struct PyDetector {
    kind: Arc<Kind>,
    /// `None`: it has not been asked anything yet.
    state: Option<Arc<Py<PyAny>>>,
}

impl fmt::Debug for PyDetector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PyDetector({})", self.kind.name)
    }
}

impl PyDetector {
    /// What `call` says of the object that is this detector's alone; `None` where it raises.
    fn ask<T>(
        &mut self,
        method: &str,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        if RAISED.with_borrow(Option::is_some) {
            return None;
        }
        Python::attach(|py| {
            let asked = self.own(py).and_then(|object| call(&object));
            asked.map_err(|error| self.keep(py, method, error)).ok()
        })
    }

    fn own<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let object = match &self.state {
            None => self.kind.make.call0(py)?,
            Some(state) if Arc::strong_count(state) > 1 => {
                let copy = py.import(intern!(py, "copy"))?;
                copy.call_method1(intern!(py, "deepcopy"), (state.bind(py),))?.unbind()
            }
            Some(state) => return Ok(state.bind(py).clone()),
        };
        Ok(self.state.insert(Arc::new(object)).bind(py).clone())
    }

    /// What ends a process, such as Ctrl-C, stays what it is.
    fn keep(&self, py: Python<'_>, method: &str, error: PyErr) {
        if !error.is_instance_of::<PyException>(py) {
            return RAISED.set(Some(error));
        }
        let place = place(py, &error).map_or(String::new(), |place| format!(" ({place})"));
        let raised =
            PrototypeError::new_err(format!("{}.{method}: {error}{place}", self.kind.name));
        raised.set_cause(py, Some(error));
        RAISED.set(Some(raised));
    }
}

impl Detector for PyDetector {
    fn on_retransmission(&mut self, sent: &Sent, episode: &Episode) {
        if self.kind.hears_retransmissions {
            self.ask("on_retransmission", |object| {
                let name = intern!(object.py(), "on_retransmission");
                object.call_method1(name, (PySent(*sent), PyEpisode(*episode))).map(drop)
            });
        }
    }

    fn on_probe(&mut self, sent: &Sent, episode: &Episode) {
        if self.kind.hears_probes {
            self.ask("on_probe", |object| {
                let name = intern!(object.py(), "on_probe");
                object.call_method1(name, (PySent(*sent), PyEpisode(*episode))).map(drop)
            });
        }
    }

    fn on_ack(&mut self, ack: &AckFacts, episode: &Episode) -> Verdict {
        let said = self.ask("on_ack", |object| {
            let name = intern!(object.py(), "on_ack");
            verdict::of(&object.call_method1(name, (PyAck(*ack), PyEpisode(*episode)))?)
        });
        said.unwrap_or(Verdict::Open)
    }

    fn at_end(&mut self, episode: &Episode) -> Verdict {
        if !self.kind.has_last_word {
            return Verdict::Open;
        }
        let said = self.ask("at_end", |object| {
            let name = intern!(object.py(), "at_end");
            verdict::of(&object.call_method1(name, (PyEpisode(*episode),))?)
        });
        said.unwrap_or(Verdict::Open)
    }
}

/// File and line of the innermost call that raised.
fn place(py: Python<'_>, error: &PyErr) -> Option<String> {
    let mut last = error.traceback(py)?.into_any();
    while let Some(next) = last.getattr("tb_next").ok().filter(|next| !next.is_none()) {
        last = next;
    }
    let file =
        last.getattr("tb_frame").ok()?.getattr("f_code").ok()?.getattr("co_filename").ok()?;
    Some(format!("{file}:{}", last.getattr("tb_lineno").ok()?))
}
