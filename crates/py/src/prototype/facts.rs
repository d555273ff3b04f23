//! The arguments of a detector in Python. They are those of the engine, but times are nanoseconds
//! since the beginning of the run, and sequence numbers are relative to the SYN.

use pyo3::prelude::*;
use rtolab_tcp::spurious::{Episode, EpisodeKind};
use rtolab_tcp::{AckFacts, Cause, Sent, Seq};
use rtolab_time::Duration;

/// Declares the getters of a Python class, whose wrapped value is `$it`, and its `__repr__`.
macro_rules! getters {
    (
        $class:ident |$it:ident| { $($name:ident: $type:ty = $value:expr;)* }
        $repr:literal, $($shown:ident),*
    ) => {
        #[pymethods]
        impl $class {
            $(
                #[getter]
                fn $name(&self) -> $type {
                    let $it = &self.0;
                    $value
                }
            )*

            fn __repr__(&self) -> String {
                format!($repr, $(self.$shown()),*)
            }
        }
    };
}
pub(super) use getters;

/// An acknowledgment.
#[pyclass(frozen, name = "Ack", module = "rtolab._rtolab")]
pub(crate) struct PyAck(pub AckFacts);

getters! {
    PyAck |it| {
        at: u64 = it.at.nanos();
        ack: i64 = it.ack.relative();
        una_before: i64 = it.una_before.relative();
        max: i64 = it.max.relative();
        advanced: u64 = it.advanced;
        is_new: bool = it.is_new();
        oldest_acked: Option<PySent> = it.oldest_acked.map(PySent);
        newest_acked: Option<PySent> = it.newest_acked.map(PySent);
        acks_retransmission: bool = it.acks_retransmission;
        sacked_before: u64 = it.sacked_before;
        newly_sacked: u64 = it.newly_sacked;
        sacked_end: Option<i64> = it.sacked_end.map(Seq::relative);
        original: Option<i64> = it.original.map(Seq::relative);
        dsack: Option<(i64, i64)> =
            it.dsack.map(|range| (range.start.relative(), range.end.relative()));
        duplicate: bool = it.duplicate;
        answers_retransmission: bool = it.answers_retransmission;
        echo: Option<u32> = it.echo;
    }
    "<Ack {} at {} ns>", ack, at
}

/// A sent segment.
#[pyclass(frozen, name = "Sent", module = "rtolab._rtolab")]
pub(crate) struct PySent(pub Sent);

getters! {
    PySent |it| {
        seq: i64 = it.seq.relative();
        end: i64 = it.end().relative();
        first_sent: u64 = it.first_sent.nanos();
        last_sent: u64 = it.last_sent.nanos();
        timestamp: u32 = it.timestamp;
        first_timestamp: u32 = it.first_timestamp;
        transmissions: u16 = it.transmissions;
        was_retransmitted: bool = it.was_retransmitted();
        is_sacked: bool = it.is_sacked();
        marked: bool = it.marked;
        cause: &'static str = match it.cause {
            Cause::New => "new",
            Cause::Timeout => "timeout",
            Cause::FastRetransmit => "fast_retransmit",
            Cause::Recovery => "recovery",
            Cause::GoBackN => "go_back_n",
            Cause::Probe => "probe",
            Cause::SynAnswer => "answer",
            Cause::Unknown => "unknown",
        };
    }
    "<Sent {} to {}, {} times>", seq, end, transmissions
}

/// A timeout or fast retransmit, and the sender's actions since then.
#[pyclass(frozen, name = "Episode", module = "rtolab._rtolab")]
pub(crate) struct PyEpisode(pub Episode);

getters! {
    PyEpisode |it| {
        number: u32 = it.number;
        kind: &'static str = match it.kind {
            EpisodeKind::Timeout => "timeout",
            EpisodeKind::FastRetransmit => "fast_retransmit",
        };
        began: u64 = it.began.nanos();
        seq: i64 = it.seq.relative();
        max: i64 = it.max.relative();
        high: i64 = it.high.relative();
        min_rtt: Option<u64> = it.min_rtt.map(Duration::nanos);
        srtt: Option<u64> = it.srtt.map(Duration::nanos);
        spacing: Option<u64> = it.spacing.map(Duration::nanos);
        dsack_seen: bool = it.dsack_seen;
        sack: bool = it.sack;
        timeouts: u32 = it.timeouts;
        retransmissions: u32 = it.retransmissions;
        new_segments: u32 = it.new_segments;
    }
    "<Episode {}: {} of {} at {} ns>", number, kind, seq, began
}
