//! Sentences about the end of connections, and about connections without data.

use serde_json::json;

use super::sentence::Sentence;
use super::words::{counted, seconds};
use crate::totals::CaptureTotals;

/// A receiver that closed a connection after a silence, and got no answer.
pub(super) fn stopped_at_end(totals: &CaptureTotals) -> Option<Sentence> {
    let waits = totals.stopped_at_end;
    let (end, number) = totals.stopped_first?;
    let closer = if end == "client" { "server" } else { "client" };
    let longest = seconds(waits.longest);
    let text = match totals.is_single() {
        true => format!(
            "Nothing more came from the {end} for {longest}, until the {closer} closed the \
             connection, and nothing answered that: the {end}, its application or the path \
             stopped. A capture at the {end} would show which."
        ),
        false => format!(
            "In {}, such as number {number}, nothing more came for up to {longest}, until the \
             receiving end closed the connection, and nothing answered that: the other end, its \
             application or the path stopped. A capture there would show which.",
            counted(waits.count, "connection")
        ),
    };
    let basis = format!("{} without an answer", counted(waits.count, "FIN"));
    let figures = [
        ("connections", json!(waits.count)),
        ("seconds", json!(waits.seconds)),
        ("longest", json!(waits.longest)),
    ];
    Some(Sentence::new(text, basis, &figures))
}

/// A connection that was idle before an end closed it.
pub(super) fn idle_before_close(totals: &CaptureTotals) -> Option<Sentence> {
    let waits = totals.closing;
    let is_usual = totals.is_single() && totals.segments > 0 && totals.stopped_at_end.count == 0;
    // It waited for what never arrived.
    let is_usual = is_usual && totals.never_arrived.connections == 0;
    let idle = seconds(waits.longest);
    let text = format!("The connection was idle for {idle} before an end closed it.");
    let figures = [("seconds", json!(waits.seconds))];
    (is_usual && waits.count > 0).then(|| Sentence::new(text, "", &figures))
}

/// Connections in which no end sent data.
pub(super) fn no_data(totals: &CaptureTotals) -> Option<Sentence> {
    let may_be_lost = match totals.away_from_client {
        0 => "",
        _ => ", or it was lost before this capture",
    };
    let reason = match (totals.is_single(), totals.stopped_at_end.count) {
        (true, 0) => ": the connection carried none, as that of a health check",
        (false, 0) => ": the connections carried none, as those of health checks",
        _ => "",
    };
    let reason = match reason {
        "" => String::new(),
        _ => format!("{reason}{may_be_lost}"),
    };
    let text = format!("No data was captured{reason}. Without data no loss or delay can show.");
    let basis = counted(totals.connections, "connection") + ", 0 data segments";
    let figures = [("connections", json!(totals.connections)), ("segments", json!(0))];
    let has_none = totals.connections > 0 && totals.segments == 0;
    (has_none && totals.failures.is_empty()).then(|| Sentence::new(text, basis, &figures))
}
