//! What `simulate` returns: the recordings of all runs, shown as tables when asked for.

use std::sync::OnceLock;

use arrow_array::RecordBatch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rtolab_record::{Place, Recording, tables};

use crate::effort::Effort;
use crate::error::{Error, guard, raise};
use crate::pcapng::pcapng;
use crate::script::script;
use crate::table::Table;

/// The tables of all runs of one `simulate`, run by run.
#[pyclass(frozen, module = "rtolab._rtolab")]
#[derive(Default)]
pub(crate) struct Outcome {
    recordings: Vec<Recording>,
    traced: bool,
    effort: Effort,
    connections: OnceLock<RecordBatch>,
    timeouts: OnceLock<RecordBatch>,
    segments: OnceLock<RecordBatch>,
    windows: OnceLock<RecordBatch>,
    links: OnceLock<RecordBatch>,
    disturbances: OnceLock<RecordBatch>,
    tasks: OnceLock<RecordBatch>,
    verdicts: OnceLock<RecordBatch>,
    duplicates: OnceLock<RecordBatch>,
    what_if: OnceLock<RecordBatch>,
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

    /// The table that `make` makes, which is kept in `place`: made once, and only if asked for.
    fn table(
        &self,
        py: Python<'_>,
        place: &OnceLock<RecordBatch>,
        make: fn(&[Recording]) -> RecordBatch,
    ) -> PyResult<Table> {
        let table = || place.get_or_init(|| make(&self.recordings)).clone();
        guard(|| Ok(Table(py.detach(table))))
    }
}

#[pymethods]
impl Outcome {
    /// What all runs took together: `set_up_s` and `run_s` in s of the processors, the counts
    /// `data_packets_delivered` and `events`, and `peak_memory_mb`, the most memory that this
    /// process has had resident, in MB.
    #[getter]
    fn effort<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.effort.document(py)
    }

    /// One row a connection.
    #[getter]
    fn connections(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, &self.connections, tables::connections)
    }

    /// One row a timeout or fast retransmit.
    #[getter]
    fn timeouts(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, &self.timeouts, tables::timeouts)
    }

    /// One row a packet event; empty without `trace`.
    #[getter]
    fn segments(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, &self.segments, tables::segments)
    }

    /// One row a change of a sender's windows; empty without `windows`.
    #[getter]
    fn windows(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, &self.windows, tables::windows)
    }

    /// One row a link direction.
    #[getter]
    fn links(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, &self.links, tables::links)
    }

    /// One row a stall, outage or spike; empty without `trace`.
    #[getter]
    fn disturbances(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, &self.disturbances, tables::disturbances)
    }

    /// One row a page, or a question with its answer.
    #[getter]
    fn tasks(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, &self.tasks, tables::tasks)
    }

    /// One row a timeout or fast retransmit and judge; empty without judges.
    #[getter]
    fn verdicts(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, &self.verdicts, tables::verdicts)
    }

    /// One row a duplicate ACK that reached a sender; empty without `trace` and judges.
    #[getter]
    fn duplicates(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, &self.duplicates, tables::duplicates)
    }

    /// One row a timeout and sender that went on from there; empty unless asked for.
    #[getter]
    fn what_if(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, &self.what_if, tables::what_if)
    }

    /// The packets of a traced run as a capture at one side, `sender` or `receiver`, would show
    /// them: a pcapng file.
    fn pcapng<'py>(
        &self,
        py: Python<'py>,
        run: usize,
        place: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        guard(|| {
            let place = [Place::Sender, Place::Receiver].into_iter().find(|p| p.name() == place);
            let place = place.ok_or_else(|| {
                Error::new_err("captures are taken at `sender` and at `receiver` only")
            })?;
            let recording = self.recording(run)?;
            let file = py.detach(|| pcapng(recording, place));
            Ok(PyBytes::new(py, &file.map_err(|error| raise::<Error>(&error))?))
        })
    }

    /// The first flow of a traced run as a script of packetdrill for its sender.
    fn packetdrill(&self, py: Python<'_>, run: usize) -> PyResult<String> {
        guard(|| {
            let recording = self.recording(run)?;
            Ok(py.detach(|| script(recording)))
        })
    }
}
