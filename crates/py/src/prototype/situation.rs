//! What a response written in Python is told.

use pyo3::prelude::*;
use rtolab_tcp::response::{Posture, Situation};
use rtolab_tcp::spurious::EpisodeKind;

use super::PyEpisode;

/// How a sender stands as a detector speaks.
#[pyclass(frozen, name = "Situation", module = "rtolab._rtolab")]
pub(crate) struct PySituation(pub Situation);

#[pymethods]
impl PySituation {
    #[getter]
    fn at(&self) -> u64 {
        self.0.at.nanos()
    }

    #[getter]
    fn detector(&self) -> String {
        self.0.detector.to_string()
    }

    #[getter]
    fn kind(&self) -> &'static str {
        match self.0.episode.map(|episode| episode.kind) {
            Some(EpisodeKind::FastRetransmit) => "fast_retransmit",
            Some(EpisodeKind::Timeout) | None => "timeout",
        }
    }

    #[getter]
    fn episode(&self) -> Option<PyEpisode> {
        self.0.episode.map(PyEpisode)
    }

    #[getter]
    fn now(&self) -> PyPosture {
        PyPosture(self.0.now)
    }

    #[getter]
    fn before(&self) -> PyPosture {
        PyPosture(self.0.before)
    }

    #[getter]
    fn flight_before_ack(&self) -> u64 {
        self.0.flight_before_ack
    }

    #[getter]
    fn acked(&self) -> u64 {
        self.0.acked
    }

    #[getter]
    fn smss(&self) -> u64 {
        self.0.smss
    }

    #[getter]
    fn initial_window(&self) -> u64 {
        self.0.initial_window
    }

    #[getter]
    fn granularity(&self) -> u64 {
        self.0.granularity.nanos()
    }

    #[getter]
    fn congestion_echoed(&self) -> bool {
        self.0.congestion_echoed
    }

    #[getter]
    fn outgrown(&self) -> bool {
        self.0.outgrown
    }

    #[getter]
    fn losses_under_way(&self) -> bool {
        self.0.losses_under_way
    }

    fn __repr__(&self) -> String {
        format!("<Situation: {} speaks of a {} at {} ns>", self.detector(), self.kind(), self.at())
    }
}

/// A sender's windows and estimates.
#[pyclass(frozen, name = "Posture", module = "rtolab._rtolab")]
pub(crate) struct PyPosture(pub Posture);

#[pymethods]
impl PyPosture {
    #[getter]
    fn cwnd(&self) -> u64 {
        self.0.cwnd
    }

    #[getter]
    fn ssthresh(&self) -> u64 {
        self.0.ssthresh
    }

    #[getter]
    fn flight(&self) -> u64 {
        self.0.flight
    }

    #[getter]
    fn estimate(&self) -> Option<(u64, u64)> {
        self.0.estimate.map(|estimate| (estimate.srtt.nanos(), estimate.rttvar.nanos()))
    }

    fn __repr__(&self) -> String {
        format!(
            "<Posture: cwnd {}, ssthresh {}, flight {}>",
            self.cwnd(),
            self.ssthresh(),
            self.flight()
        )
    }
}
