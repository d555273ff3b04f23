//! The tables of a log's diagnosis in Arrow's format, one function per table. The columns have the
//! names of the JSON keys. Times are in seconds since the log's first event, sizes in bytes.

use rtolab_diagnose::EvidenceReport;
use rtolab_table::{Table, TableBuilder};

use crate::report::{LogReport, LossReport, ProbeReport, RecoveryReport};
use crate::run::LogDocument;

/// Makes a table of a diagnosis.
type MakeTable = fn(&LogDocument) -> Table;

/// All tables of a log's diagnosis, by name.
pub const TABLES: [(&str, MakeTable); 4] = [
    ("connections", connections),
    ("losses", losses),
    ("timeouts", timeouts),
    ("episodes", episodes),
];

/// `connections`: one row per connection.
fn connections(document: &LogDocument) -> Table {
    TableBuilder::new(document.connections.iter().map(|row| (row, std::slice::from_ref(row))))
        .column("number", |row: &LogReport| row.number)
        .column("group", |row| row.group.clone())
        .column("vantage", |row| row.vantage)
        .column("implementation", |row| row.implementation.clone())
        .column("start", |row| row.start)
        .column("end", |row| row.end)
        .column("events", |row| row.events)
        .column("packets", |row| Some(row.packets.map(Some).to_vec()))
        .column("ack_eliciting", |row| row.ack_eliciting)
        .column("bytes_sent", |row| row.bytes_sent)
        .column("is_receiver", |row| row.is_receiver)
        .column("has_acks", |row| row.has_acks)
        .column("min_rtt", |row| row.min_rtt)
        .column("stream_bytes", |row| row.stream_bytes)
        .column("stream_bytes_received", |row| row.stream_bytes_received)
        .column("retransmitted_bytes", |row| row.retransmitted_bytes)
        .column("unneeded_bytes", |row| row.unneeded_bytes)
        .column("needed_bytes", |row| row.needed_bytes)
        .column("time_in_recovery", |row| row.time_in_recovery)
        .column("time_in_spurious_recovery", |row| row.time_in_spurious_recovery)
        .column("time_lost", |row| row.time_lost)
        .finish()
}

/// `losses`: one row per packet that was declared lost.
fn losses(document: &LogDocument) -> Table {
    of_connections(document, |connection| &connection.losses)
        .column("event", |row: &LossReport| row.event)
        .column("t", |row| row.t)
        .column("sent", |row| row.sent)
        .column("space", |row| row.space)
        .column("packet_number", |row| row.packet_number)
        .column("size", |row| row.size)
        .column("trigger", |row| row.trigger.clone())
        .column("verdict", |row| row.verdict.name())
        .column("confidence", |row| row.confidence)
        .column("evidence", |row| kinds(&row.evidence))
        .column("late", |row| row.late)
        .column("retransmitted_bytes", |row| row.retransmitted_bytes)
        .finish()
}

/// `timeouts`: one row per probe timeout.
fn timeouts(document: &LogDocument) -> Table {
    of_connections(document, |connection| &connection.timeouts)
        .column("event", |row: &ProbeReport| row.event)
        .column("t", |row| row.t)
        .column("space", |row| row.space)
        .column("backoff", |row| row.backoff)
        .column("after", |row| row.after)
        .column("class", |row| row.class.name())
        .column("confidence", |row| row.confidence)
        .column("evidence", |row| kinds(&row.evidence))
        .column("retransmitted_bytes", |row| row.retransmitted_bytes)
        .finish()
}

/// `episodes`: one row per recovery episode.
fn episodes(document: &LogDocument) -> Table {
    of_connections(document, |connection| &connection.episodes)
        .column("event", |row: &RecoveryReport| row.event)
        .column("start", |row| row.start)
        .column("end", |row| row.end)
        .column("class", |row| row.class.name())
        .column("losses", |row| row.losses)
        .column("spurious", |row| row.spurious)
        .column("cwnd", |row| Some(row.cwnd.to_vec()))
        .column("retransmitted_bytes", |row| row.retransmitted_bytes)
        .finish()
}

/// The rows of all connections, each with its connection's number.
fn of_connections<R>(
    document: &LogDocument,
    rows: fn(&LogReport) -> &Vec<R>,
) -> TableBuilder<'_, R, LogReport> {
    let connections = document.connections.iter();
    TableBuilder::new(connections.map(|one| (one, &**rows(one))))
        .owner("connection", |one| one.number)
}

#[allow(clippy::unnecessary_wraps, reason = "only an optional list is a cell")]
fn kinds(evidence: &[EvidenceReport]) -> Option<Vec<Option<&'static str>>> {
    Some(evidence.iter().map(|piece| Some(piece.kind)).collect())
}
