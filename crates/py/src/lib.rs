//! The Python bindings: they convert arguments, call the engine, and return Arrow tables.
//!
//! `python/rtolab/_rtolab.pyi` declares them. Every function that computes calls `error::guard`, so
//! that a panic becomes an `rtolab.InternalError`.

#![expect(clippy::needless_pass_by_value, reason = "PyO3 converts Python's arguments to values")]

mod batch;
mod budget;
mod diagnose;
mod effort;
mod emulate;
mod error;
mod explorer;
mod gateway;
mod interrupt;
mod known;
mod outcome;
mod panic;
mod prototype;
mod rare;
mod script;
mod simulate;
mod table;
mod timer_watch;
mod watch;

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rtolab_scenario::Scenario;

use crate::error::{Error, ScenarioError, guard, raise};
use crate::prototype::PrototypeClass;
use crate::simulate::{Evaluation, loaded};

/// The JSON Schema of a scenario.
#[pyfunction]
fn schema() -> PyResult<String> {
    guard(|| Ok(format!("{:#}", Scenario::schema())))
}

/// The number of the line of each key in a TOML text.
#[pyfunction]
fn lines(text: &str, file: &str) -> PyResult<Vec<(Vec<String>, usize)>> {
    guard(|| rtolab_scenario::lines(text, file).map_err(|error| raise::<Error>(&error)))
}

/// The end of an error message about the name `found`: the five most similar of the names `known`.
#[pyfunction]
fn suggest(found: &str, known: Vec<String>) -> PyResult<String> {
    guard(|| Ok(rtolab_settings::names::suggest(found, known.iter().map(String::as_str))))
}

/// Raises the errors that `simulate` would raise for this scenario and these senders. Also raises
/// an error if no flow uses the senders, or, unless `may_override`, if the profiles of all senders
/// override a key.
#[pyfunction]
#[pyo3(signature = (
    path, set=Vec::new(), senders=Vec::new(), prototypes=Vec::new(), confined=false,
    may_override=false
))]
fn check(
    path: PathBuf,
    set: Vec<(String, String)>,
    senders: Vec<String>,
    prototypes: Vec<PrototypeClass>,
    confined: bool,
    may_override: bool,
) -> PyResult<()> {
    let evaluation =
        Evaluation { prototypes: PrototypeClass::all(prototypes)?, ..Evaluation::default() };
    let file = (&*path, simulate::file_access(confined));
    guard(|| {
        simulate::labs(file, &set, &senders, &evaluation)?;
        let keys = if may_override { &[][..] } else { &set };
        let checked = loaded(file, &set, &evaluation.prototypes)?.check_senders(&senders, keys);
        checked.map_err(|mut error| {
            if error.set.is_none() {
                error.file = path.display().to_string();
            }
            raise::<ScenarioError>(&error)
        })
    })
}

#[pymodule]
fn _rtolab(module: &Bound<'_, PyModule>) -> PyResult<()> {
    panic::silence();
    error::register(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("__commit__", env!("RTOLAB_COMMIT"))?;
    module.add_class::<table::Table>()?;
    module.add_class::<outcome::Outcome>()?;
    module.add_class::<diagnose::Diagnosis>()?;
    module.add_class::<explorer::Explorer>()?;
    module.add_class::<watch::Watcher>()?;
    module.add_class::<timer_watch::TimerWatcher>()?;
    module.add_class::<prototype::PyAck>()?;
    module.add_class::<prototype::PySent>()?;
    module.add_class::<prototype::PyEpisode>()?;
    module.add_class::<prototype::PyResponseContext>()?;
    module.add_class::<prototype::PySenderState>()?;
    module.add_class::<prototype::PyFrame>()?;
    module.add_class::<prototype::PyRandom>()?;
    let tables = rtolab_record::tables::TABLES.iter();
    let tables: Vec<_> = tables.map(|kind| (kind.name, kind.about)).collect();
    module.add("TABLES", PyTuple::new(module.py(), tables)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(lines, module)?)?;
    module.add_function(wrap_pyfunction!(suggest, module)?)?;
    module.add_function(wrap_pyfunction!(known::policies, module)?)?;
    module.add_function(wrap_pyfunction!(known::receivers, module)?)?;
    module.add_function(wrap_pyfunction!(known::detectors, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(rare::rare, module)?)?;
    module.add_function(wrap_pyfunction!(rare::rare_quantities, module)?)?;
    module.add_function(wrap_pyfunction!(diagnose::diagnose, module)?)?;
    module.add_function(wrap_pyfunction!(diagnose::diagnose_pair, module)?)?;
    module.add_function(wrap_pyfunction!(diagnose::annotate, module)?)?;
    module.add_function(wrap_pyfunction!(diagnose::trace, module)?)?;
    module.add_function(wrap_pyfunction!(diagnose::what_if, module)?)?;
    module.add_function(wrap_pyfunction!(diagnose::infer_scenario, module)?)?;
    module.add_function(wrap_pyfunction!(emulate::emulate, module)?)?;
    module.add_function(wrap_pyfunction!(emulate::emulate_flows, module)?)?;
    module.add_function(wrap_pyfunction!(emulate::emulate_programs, module)?)?;
    module.add_function(wrap_pyfunction!(emulate::clean_up, module)?)?;
    module.add_function(wrap_pyfunction!(gateway::gateway, module)?)?;
    module.add_function(wrap_pyfunction!(prototype::calls::interrupt_prototypes, module)?)?;
    module.add_function(wrap_pyfunction!(interrupt::end_at_second_interrupt, module)?)
}
