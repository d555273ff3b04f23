//! Detectors, responses and stages written in Python. The engine calls them like its own.
//!
//! An exception cannot propagate through the engine. It is stored until the run ends, and no
//! prototype is called after it. A run stays on one thread, so the exception is thread-local.

pub(crate) mod calls;
mod detector;
mod facts;
mod names;
mod object;
mod random;
mod response;
mod response_context;
mod stage;
mod verdict;

use pyo3::prelude::*;
use rtolab_link::NamedStage;
use rtolab_scenario::Prototypes;
use rtolab_tcp::response::CustomResponse;
use rtolab_tcp::spurious::CustomDetector;

use crate::error::PrototypeError;
use detector::PyDetector;
use object::{Kind, Object};
use response::PyResponse;
use stage::PyStage;

pub(crate) use facts::{PyAck, PyEpisode, PySent};
pub(crate) use object::unless_raised;
pub(crate) use random::PyRandom;
pub(crate) use response_context::{PyResponseContext, PySenderState};
pub(crate) use stage::PyFrame;

/// A prototype class.
#[derive(FromPyObject)]
pub(crate) struct PrototypeClass {
    name: String,
    /// Its kind: "detector", "response" or "stage".
    kind: String,
    /// Makes a new object.
    make: Py<PyAny>,
    /// The optional methods that it defines.
    methods: Vec<String>,
}

impl PrototypeClass {
    /// The prototypes of all classes. Raises an error if a name is invalid or occurs twice.
    pub(crate) fn all(classes: Vec<Self>) -> PyResult<Prototypes> {
        let mut all = Prototypes::default();
        let mut names = Vec::new();
        for Self { name, kind, make, methods } in classes {
            let name = names::new_name(&name)?;
            if names.contains(&name) {
                let message = format!("found two prototypes `{name}`; expected one");
                return Err(PrototypeError::new_err(message));
            }
            names.push(name);
            let object = Object::new(Kind { name, make, methods });
            match kind.as_str() {
                "stage" => all.stages.push(NamedStage::new(name, PyStage::new(object))),
                "response" => {
                    all.policies.responses.push(CustomResponse::new(name, PyResponse(object)));
                }
                _ => {
                    let detector = Box::new(PyDetector(object));
                    all.policies.detectors.push(CustomDetector { name, detector });
                }
            }
        }
        Ok(all)
    }
}
