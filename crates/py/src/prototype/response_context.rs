//! The arguments of a response in Python.

use pyo3::prelude::*;
use rtolab_tcp::response::{ResponseContext, SenderState};
use rtolab_tcp::spurious::EpisodeKind;

use super::PyEpisode;
use super::facts::getters;

/// The state of a sender when a detector decides.
#[pyclass(frozen, name = "ResponseContext", module = "rtolab._rtolab")]
pub(crate) struct PyResponseContext(pub ResponseContext);

getters! {
    PyResponseContext |it| {
        at: u64 = it.at.nanos();
        detector: String = it.detector.to_string();
        kind: &'static str = match it.episode.map(|episode| episode.kind) {
            Some(EpisodeKind::FastRetransmit) => "fast_retransmit",
            Some(EpisodeKind::Timeout) | None => "timeout",
        };
        episode: Option<PyEpisode> = it.episode.map(PyEpisode);
        now: PySenderState = PySenderState(it.now);
        before: PySenderState = PySenderState(it.before);
        flight_before_ack: u64 = it.flight_before_ack;
        acked: u64 = it.acked;
        smss: u64 = it.smss;
        initial_window: u64 = it.initial_window;
        granularity: u64 = it.granularity.nanos();
        congestion_echoed: bool = it.congestion_echoed;
        cwnd_has_regrown: bool = it.cwnd_has_regrown;
        losses_under_way: bool = it.losses_under_way;
    }
    "<ResponseContext: {} on a {} at {} ns>", detector, kind, at
}

/// A sender's windows and its estimate of the round-trip time.
#[pyclass(frozen, name = "SenderState", module = "rtolab._rtolab")]
pub(crate) struct PySenderState(pub SenderState);

getters! {
    PySenderState |it| {
        cwnd: u64 = it.cwnd;
        ssthresh: u64 = it.ssthresh;
        flight: u64 = it.flight;
        estimate: Option<(u64, u64)> = it.estimate.map(|estimate| (estimate.srtt.nanos(), estimate.rttvar.nanos()));
    }
    "<SenderState: cwnd {}, ssthresh {}, flight {}>", cwnd, ssthresh, flight
}
