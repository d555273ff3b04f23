//! What a detector written in Python is told: as the engine has it, with times as nanoseconds since
//! the run began and sequence numbers counted from the SYN.

use pyo3::prelude::*;
use rtolab_tcp::spurious::{Episode, EpisodeKind};
use rtolab_tcp::{AckFacts, Cause, Sent, Seq};
use rtolab_time::Duration;

/// An acknowledgment.
#[pyclass(frozen, name = "Ack", module = "rtolab._rtolab")]
pub(crate) struct PyAck(pub AckFacts);

#[pymethods]
impl PyAck {
    #[getter]
    fn at(&self) -> u64 {
        self.0.at.nanos()
    }

    #[getter]
    fn ack(&self) -> i64 {
        self.0.ack.relative()
    }

    #[getter]
    fn una_before(&self) -> i64 {
        self.0.una_before.relative()
    }

    #[getter]
    fn max(&self) -> i64 {
        self.0.max.relative()
    }

    #[getter]
    fn advanced(&self) -> u64 {
        self.0.advanced
    }

    #[getter]
    fn is_new(&self) -> bool {
        self.0.is_new()
    }

    #[getter]
    fn oldest_acked(&self) -> Option<PySent> {
        self.0.oldest_acked.map(PySent)
    }

    #[getter]
    fn newest_acked(&self) -> Option<PySent> {
        self.0.newest_acked.map(PySent)
    }

    #[getter]
    fn acks_retransmission(&self) -> bool {
        self.0.acks_retransmission
    }

    #[getter]
    fn sacked_before(&self) -> u64 {
        self.0.sacked_before
    }

    #[getter]
    fn newly_sacked(&self) -> u64 {
        self.0.newly_sacked
    }

    #[getter]
    fn sacked_end(&self) -> Option<i64> {
        self.0.sacked_end.map(Seq::relative)
    }

    #[getter]
    fn original(&self) -> Option<i64> {
        self.0.original.map(Seq::relative)
    }

    #[getter]
    fn dsack(&self) -> Option<(i64, i64)> {
        self.0.dsack.map(|range| (range.start.relative(), range.end.relative()))
    }

    #[getter]
    fn duplicate(&self) -> bool {
        self.0.duplicate
    }

    #[getter]
    fn answers_retransmission(&self) -> bool {
        self.0.answers_retransmission
    }

    #[getter]
    fn echo(&self) -> Option<u32> {
        self.0.echo
    }

    fn __repr__(&self) -> String {
        format!("<Ack {} at {} ns>", self.ack(), self.at())
    }
}

/// A segment that was sent.
#[pyclass(frozen, name = "Sent", module = "rtolab._rtolab")]
pub(crate) struct PySent(pub Sent);

#[pymethods]
impl PySent {
    #[getter]
    fn seq(&self) -> i64 {
        self.0.seq.relative()
    }

    #[getter]
    fn end(&self) -> i64 {
        self.0.end().relative()
    }

    #[getter]
    fn first_sent(&self) -> u64 {
        self.0.first_sent.nanos()
    }

    #[getter]
    fn last_sent(&self) -> u64 {
        self.0.last_sent.nanos()
    }

    #[getter]
    fn timestamp(&self) -> u32 {
        self.0.timestamp
    }

    #[getter]
    fn first_timestamp(&self) -> u32 {
        self.0.first_timestamp
    }

    #[getter]
    fn transmissions(&self) -> u16 {
        self.0.transmissions
    }

    #[getter]
    fn was_retransmitted(&self) -> bool {
        self.0.was_retransmitted()
    }

    #[getter]
    fn is_sacked(&self) -> bool {
        self.0.is_sacked()
    }

    #[getter]
    fn marked(&self) -> bool {
        self.0.marked
    }

    #[getter]
    fn cause(&self) -> &'static str {
        match self.0.cause {
            Cause::New => "new",
            Cause::Timeout => "timeout",
            Cause::FastRetransmit => "fast_retransmit",
            Cause::Recovery => "recovery",
            Cause::GoBackN => "go_back_n",
            Cause::Probe => "probe",
            Cause::Answer => "answer",
            Cause::Unknown => "unknown",
        }
    }

    fn __repr__(&self) -> String {
        format!("<Sent {} to {}, {} times>", self.seq(), self.end(), self.transmissions())
    }
}

/// A timeout or fast retransmit, and what the sender did since.
#[pyclass(frozen, name = "Episode", module = "rtolab._rtolab")]
pub(crate) struct PyEpisode(pub Episode);

#[pymethods]
impl PyEpisode {
    #[getter]
    fn number(&self) -> u32 {
        self.0.number
    }

    #[getter]
    fn kind(&self) -> &'static str {
        match self.0.kind {
            EpisodeKind::Timeout => "timeout",
            EpisodeKind::FastRetransmit => "fast_retransmit",
        }
    }

    #[getter]
    fn began(&self) -> u64 {
        self.0.began.nanos()
    }

    #[getter]
    fn seq(&self) -> i64 {
        self.0.seq.relative()
    }

    #[getter]
    fn max(&self) -> i64 {
        self.0.max.relative()
    }

    #[getter]
    fn high(&self) -> i64 {
        self.0.high.relative()
    }

    #[getter]
    fn min_rtt(&self) -> Option<u64> {
        self.0.min_rtt.map(Duration::nanos)
    }

    #[getter]
    fn srtt(&self) -> Option<u64> {
        self.0.srtt.map(Duration::nanos)
    }

    #[getter]
    fn spacing(&self) -> Option<u64> {
        self.0.spacing.map(Duration::nanos)
    }

    #[getter]
    fn dsack_seen(&self) -> bool {
        self.0.dsack_seen
    }

    #[getter]
    fn sack(&self) -> bool {
        self.0.sack
    }

    #[getter]
    fn timeouts(&self) -> u32 {
        self.0.timeouts
    }

    #[getter]
    fn retransmissions(&self) -> u32 {
        self.0.retransmissions
    }

    #[getter]
    fn new_segments(&self) -> u32 {
        self.0.new_segments
    }

    fn __repr__(&self) -> String {
        format!(
            "<Episode {}: {} of {} at {} ns>",
            self.number(),
            self.kind(),
            self.seq(),
            self.began()
        )
    }
}
