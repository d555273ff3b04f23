//! Detectors, responses and stages written in Python: the engine asks them as any other.
//!
//! What one raises cannot pass through the engine. It is kept until the run is over, and nothing
//! more is asked meanwhile: a run is on one thread from its beginning to its end.

mod detector;
mod facts;
mod names;
mod object;
mod random;
mod response;
mod situation;
mod stage;
mod verdict;

use pyo3::prelude::*;
use rtolab_link::Staged;
use rtolab_scenario::Prototypes;
use rtolab_tcp::response::Prototype as Response;
use rtolab_tcp::spurious::CustomDetector;

use crate::error::PrototypeError;
use detector::PyDetector;
use object::{Kind, Object};
use response::PyResponse;
use stage::PyStage;

pub(crate) use facts::{PyAck, PyEpisode, PySent};
pub(crate) use object::unless_raised;
pub(crate) use random::PyRandom;
pub(crate) use situation::{PyPosture, PySituation};
pub(crate) use stage::PyFrame;

/// A class that is a prototype, as Python describes it.
#[derive(FromPyObject)]
pub(crate) struct Class {
    name: String,
    /// What it is: "detector", "response" or "stage".
    kind: String,
    /// Makes one that has seen nothing yet.
    make: Py<PyAny>,
    /// The methods that it has of those that it may do without.
    methods: Vec<String>,
}

impl Class {
    /// All of them, none under another's name.
    pub(crate) fn all(classes: Vec<Self>) -> PyResult<Prototypes> {
        let mut all = Prototypes::default();
        let mut taken = Vec::new();
        for Self { name, kind, make, methods } in classes {
            let name = names::name(&name)?;
            if taken.contains(&name) {
                let told = format!("found two prototypes `{name}`; expected one");
                return Err(PrototypeError::new_err(told));
            }
            taken.push(name);
            let object = Object::new(Kind { name, make, methods });
            match kind.as_str() {
                "stage" => all.stages.push(Staged::new(name, PyStage::new(object))),
                "response" => {
                    all.policies.responses.push(Response::new(name, PyResponse(object)));
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
