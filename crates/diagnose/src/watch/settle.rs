//! What of a connection has settled.

use rtolab_time::Instant;

use crate::connection::Connection;
use crate::half_connection::HalfConnection;
use crate::paired_verdict::PairedVerdicts;
use crate::report::{self, ConnectionReport};

/// The size of a connection without what it follows, in bytes.
const CONNECTION: usize = size_of::<Connection>();
/// The size of a direction without segments, in bytes: its detectors count, too.
const DIRECTION: usize = size_of::<HalfConnection>() + 2048;
/// The size of a segment, of a retransmission or of a packet that is remembered, in bytes.
const ITEM: usize = 128;

/// Both directions of a connection, at each capture point.
fn directions(connection: &Connection) -> impl Iterator<Item = &HalfConnection> {
    let far = connection.far.iter().flat_map(|far| &far.ends);
    connection.ends.iter().chain(far).filter_map(Option::as_deref)
}

/// A rough size in bytes.
pub(super) fn size(connection: &Connection) -> usize {
    let of = |sending: &HalfConnection| DIRECTION + ITEM * sending.memory_items();
    CONNECTION + directions(connection).map(of).sum::<usize>() + ITEM * connection.waiting_packets()
}

/// Is there anything to report, now or later?
pub(super) fn has_news(connection: &Connection) -> bool {
    let has = |sending: &HalfConnection| {
        !sending.history.is_empty()
            || !sending.settled.is_empty()
            || sending.episodes.is_open()
            || !sending.episodes.closed.is_empty()
    };
    !connection.silences.is_empty() || directions(connection).any(has)
}

/// Can nothing more be said of what is known?
pub(super) fn is_quiet(connection: &Connection) -> bool {
    directions(connection).all(|one| one.history.is_empty() && !one.episodes.is_open())
}

/// The number of settled ranges.
pub(super) fn settled(connection: &Connection) -> usize {
    directions(connection).map(|one| one.settled.len()).sum()
}

/// Settles what time alone settles.
pub(super) fn settle_due(connection: &mut Connection, now: Instant) {
    let far = connection.far.iter_mut().flat_map(|far| &mut far.ends);
    for sending in connection.ends.iter_mut().chain(far).flatten() {
        sending.settle_due(now);
    }
}

/// The verdicts that have settled; the connection forgets them.
pub(super) fn report(connection: &mut Connection) -> Option<ConnectionReport> {
    conclude(connection);
    if let Some(far) = &mut connection.far {
        conclude(far);
    }
    let report = last_report(connection);
    forget(connection);
    if let Some(far) = &mut connection.far {
        forget(far);
    }
    report
}

/// The report of a connection that is over.
pub(super) fn last_report(connection: &Connection) -> Option<ConnectionReport> {
    let report = report::report(connection, &PairedVerdicts::new());
    let has_any = !report.retransmissions.is_empty()
        || !report.episodes.is_empty()
        || !report.silences.is_empty();
    has_any.then_some(report)
}

fn conclude(connection: &mut Connection) {
    use rtolab_capture::End::{Client, Server};
    for end in [Client, Server] {
        let vantage = connection.turnarounds.vantage(end);
        if let Some(sending) = &mut connection.ends[end as usize] {
            sending.conclude(vantage);
        }
    }
}

fn forget(connection: &mut Connection) {
    connection.silences.clear();
    for sending in connection.ends.iter_mut().flatten() {
        sending.forget_settled();
    }
}
