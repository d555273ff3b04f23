//! The results of `simulate`: the recordings of all runs, converted to tables on demand.

use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rtolab_explorer::{pcapng, pcapng_of_headers};
use rtolab_record::tables::TABLES;
use rtolab_record::{Place, Recording};

use crate::effort::Effort;
use crate::error::{Error, guard, raise};
use crate::script::script;
use crate::table::Table;

/// The recordings of all runs of one call, and their tables.
#[pyclass(frozen, module = "rtolab._rtolab")]
#[derive(Default)]
pub(crate) struct Outcome {
    recordings: Vec<Recording>,
    traced: bool,
    effort: Effort,
    /// The tables in the order of [`TABLES`]. Each is built when it is first requested.
    tables: [OnceLock<Arc<rtolab_table::Table>>; TABLES.len()],
}

impl Outcome {
    pub(crate) fn new(recordings: Vec<Recording>, traced: bool, effort: Effort) -> Self {
        Self { recordings, traced, effort, ..Self::default() }
    }

    fn recording(&self, run: usize) -> PyResult<&Recording> {
        let runs = self.recordings.len();
        match self.recordings.get(run) {
            None => Err(Error::new_err(format!("no run {run}: there are {runs}, counted from 0"))),
            Some(_) if !self.traced => Err(Error::new_err("no packets were recorded: set `trace`")),
            Some(recording) => Ok(recording),
        }
    }
}

#[pymethods]
impl Outcome {
    /// The total cost of all runs: `set_up_s` and `run_s` in seconds of processor time, the counts
    /// `data_packets_delivered` and `events`, and `peak_memory_mb`, the peak resident memory of
    /// this process in MB.
    #[getter]
    fn effort<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.effort.document(py)
    }

    /// The table with this name. `TABLES` has the names.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        let kinds = TABLES.iter().zip(&self.tables);
        let kind = kinds.into_iter().find(|(kind, _)| kind.name == name);
        let (kind, slot) = kind.ok_or_else(|| Error::new_err(format!("no table `{name}`")))?;
        let table = || slot.get_or_init(|| Arc::new((kind.make)(&self.recordings))).clone();
        guard(|| Ok(Table(py.detach(table))))
    }

    /// The packets of a traced run as a pcapng file captured at `place`: `sender` or `receiver`;
    /// with `headers` without payload.
    #[pyo3(signature = (run, place, headers = false))]
    fn pcapng<'py>(
        &self,
        py: Python<'py>,
        run: usize,
        place: &str,
        headers: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        guard(|| {
            let place = [Place::Sender, Place::Receiver].into_iter().find(|p| p.name() == place);
            let place = place.ok_or_else(|| {
                Error::new_err("captures are taken at `sender` and at `receiver` only")
            })?;
            let recording = self.recording(run)?;
            let write = if headers { pcapng_of_headers } else { pcapng };
            let file = py.detach(|| write(recording, place));
            Ok(PyBytes::new(py, &file.map_err(|error| raise::<Error>(&error))?))
        })
    }

    /// The first flow of a traced run as a packetdrill script that tests its sender.
    fn packetdrill(&self, py: Python<'_>, run: usize) -> PyResult<String> {
        guard(|| {
            let recording = self.recording(run)?;
            Ok(py.detach(|| script(recording)))
        })
    }
}
