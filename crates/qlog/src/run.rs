//! Diagnoses a log, or two logs of one connection.

use std::io::Read;

use serde::Serialize;

use crate::answer::LogAnswer;
use crate::connection::Connection;
use crate::log::Log;
use crate::pair::Peer;
use crate::reader::LogReadError;
use crate::report::{LogReport, report};
use crate::totals::{LogSummary, LogTotals};

/// The diagnosis of a log, as far as it could be read.
#[derive(Debug, Serialize)]
pub struct LogDocument {
    /// The answer in words.
    pub answer: LogAnswer,
    /// The totals.
    pub summary: LogSummary,
    /// The error that ended the reading before the end of the log.
    pub error: Option<String>,
    /// The index of the log at the end that sends more, 0 or 1, if there are two logs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender_capture: Option<usize>,
    /// Connections in the order of their first events.
    pub connections: Vec<LogReport>,
}

/// Does a file that begins with these bytes look like a log? Captures never do.
pub fn is_log(start: &[u8]) -> bool {
    let start = start.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(start);
    matches!(start.trim_ascii_start().first(), Some(b'{' | 0x1e))
}

/// Diagnoses a log. Calls `progress` regularly with the number of bytes read.
///
/// # Errors
/// The error of `progress`, which ends the diagnosis.
pub fn diagnose<R: Read, E>(
    input: R,
    progress: impl FnMut(u64) -> Result<(), E>,
) -> Result<LogDocument, E> {
    let (log, error) = Log::read(input, false, progress)?;
    let reports = log.connections.iter().map(|connection| report(connection, None)).collect();
    Ok(document(&log, error.as_ref().map(ToString::to_string), reports))
}

/// Diagnoses two logs of the same connections, one at each end. The document is that of the end
/// that sends more; `None` if the logs have no connection in common. Memory grows with the packets.
///
/// # Errors
/// The error of `progress`, which ends the diagnosis.
pub fn diagnose_pair<R: Read, E>(
    inputs: [R; 2],
    mut progress: impl FnMut(u64) -> Result<(), E>,
) -> Result<Option<LogDocument>, E> {
    let [first, second] = inputs;
    let (first, first_error) = Log::read(first, true, &mut progress)?;
    let (second, second_error) = Log::read(second, true, &mut progress)?;
    let sent = |log: &Log| log.connections.iter().map(|one| one.ack_eliciting).sum::<u64>();
    let is_second = sent(&second) > sent(&first);
    let (sender, receiver) = if is_second { (&second, &first) } else { (&first, &second) };
    let is_alone = sender.connections.len() == 1 && receiver.connections.len() == 1;
    let main = [sender, receiver].map(main_connection);
    let mut common = 0;
    let reports = sender.connections.iter().map(|connection| {
        let is_same = |other: &&Connection| {
            let are_main = main[0].is_some_and(|one| std::ptr::eq(one, connection))
                && main[1].is_some_and(|one| std::ptr::eq(one, *other));
            is_alone || are_main || (connection.group.is_some() && connection.group == other.group)
        };
        let mut peers = receiver.connections.iter().filter(is_same);
        let peer = peers.find_map(|other| Peer::new(connection, other));
        common += usize::from(peer.is_some());
        report(connection, peer.as_ref())
    });
    let reports: Vec<LogReport> = reports.collect();
    if common == 0 {
        return Ok(None);
    }
    let named = |error: Option<LogReadError>, which| error.map(|error| format!("{which}: {error}"));
    let errors = [named(first_error, "the first log"), named(second_error, "the second log")];
    let errors: Vec<String> = errors.into_iter().flatten().collect();
    let mut document = document(sender, Some(errors.join("; ")), reports);
    document.error = document.error.filter(|error| !error.is_empty());
    document.sender_capture = Some(usize::from(is_second));
    Ok(Some(document))
}

/// The connection that has most packets of a log. quinn names another group at each end, and at the
/// client a second one after the handshake.
fn main_connection(log: &Log) -> Option<&Connection> {
    let packets = |one: &Connection| one.sent + one.received;
    let all: u64 = log.connections.iter().map(packets).sum();
    log.connections.iter().find(|one| packets(one) > all / 4 * 3)
}

fn document(log: &Log, error: Option<String>, connections: Vec<LogReport>) -> LogDocument {
    let mut totals = LogTotals::default();
    for one in &connections {
        totals.add(one);
    }
    let end = connections.iter().map(|one| one.end).fold(0.0, f64::max);
    let summary = LogSummary {
        qlog_version: log.version.clone(),
        began: log.began,
        ended: log.began + end,
        events: log.events,
        packets: connections.iter().flat_map(|one| one.packets).sum(),
        connections: connections.len() as u64,
        malformed: log.malformed,
        first_malformed: log.first_malformed.clone(),
        out_of_order: log.out_of_order,
        first_out_of_order: log.first_out_of_order,
        totals,
    };
    let answer = LogAnswer::of(&summary, &connections);
    LogDocument { answer, summary, error, sender_capture: None, connections }
}
