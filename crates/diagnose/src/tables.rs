//! The tables of a diagnosis in Arrow's format, one function per table. The columns have the names
//! of the JSON keys; the name of a nested key follows that of its parent. Times are in seconds
//! since the capture's first packet, sizes in bytes.

use rtolab_table::{Cell, Table, TableBuilder};

use crate::class::TimeoutClass;
use crate::evidence::Necessity;
use crate::failure::ConnectionFailure;
use crate::report::{
    ConnectionReport, Cost, EpisodeReport, EvidenceReport, Options, RetransmissionReport,
    TimeoutReport,
};
use crate::silence::{IdleTimeout, Silence};
use crate::stack::Guess;
use crate::{ConformanceFinding, Document, TimerReport};

/// Makes a table of a diagnosis.
type MakeTable = fn(&Document) -> Table;

/// All tables of a diagnosis, by name.
pub const TABLES: [(&str, MakeTable); 6] = [
    ("connections", connections),
    ("retransmissions", retransmissions),
    ("timeouts", timeouts),
    ("episodes", episodes),
    ("silences", silences),
    ("findings", findings),
];

/// `connections`: one row per connection. The options are null if the capture lacks the handshake,
/// the columns of the sender's system if there is no guess, and those of the idle timeout unless
/// the path forgot the connection.
fn connections(document: &Document) -> Table {
    fn agreed<C>(of: impl Fn(&Options) -> C) -> impl Fn(&ConnectionReport) -> Option<C> {
        move |row| row.options.as_ref().map(&of)
    }
    fn guessed<'a, C>(of: impl Fn(&'a Guess) -> C) -> impl Fn(&'a ConnectionReport) -> Option<C> {
        move |row| row.stack.as_ref().map(&of)
    }
    fn forgotten<C>(of: impl Fn(&IdleTimeout) -> C) -> impl Fn(&ConnectionReport) -> Option<C> {
        move |row| row.idle_timeout.as_ref().map(&of)
    }
    fn failed<C>(of: impl Fn(&ConnectionFailure) -> C) -> impl Fn(&ConnectionReport) -> Option<C> {
        move |row| row.failure.as_ref().map(&of)
    }
    TableBuilder::new(document.connections.iter().map(|row| (row, std::slice::from_ref(row))))
        .column("number", |row| row.number)
        .column("client", |row| &*row.client)
        .column("server", |row| &*row.server)
        .column("vantage", |row| row.vantage.name())
        .column("sender", |row| row.sender)
        .column("start", |row| row.start)
        .column("end", |row| row.end)
        .column("packets", |row| row.packets)
        .column("capture_points", |row| u32::from(row.capture_points))
        .column("captured_twice", |row| row.captured_twice)
        .column("duplicated", |row| row.duplicated)
        .column("missed_bytes", |row| row.missed_bytes)
        .column("unreported", |row| row.unreported)
        .column("only_from", |row| row.only_from)
        .column("segments", |row| list(row.segments))
        .column("time_lost", |row| row.time_lost)
        .column("queue", |row| row.queue)
        .column("bytes", |row| list(row.bytes))
        .column("options_mss", agreed(|o| o.mss.map(|mss| mss.map(u32::from)).to_vec()))
        .column(
            "options_window_scale",
            agreed(|o| o.window_scale.map(|shift| shift.map(u32::from)).to_vec()),
        )
        .column("options_timestamps", agreed(|o| o.timestamps))
        .column("options_sack", agreed(|o| o.sack))
        .column("options_dsack", agreed(|o| o.dsack))
        .column("min_rtt", |row| row.min_rtt)
        .column(
            "stack_systems",
            guessed(|g| g.systems.iter().copied().map(Some).collect::<Vec<_>>()),
        )
        .column("stack_confidence", guessed(|g| g.confidence))
        .column(
            "stack_grounds",
            guessed(|g| g.grounds.iter().map(|s| Some(&**s)).collect::<Vec<_>>()),
        )
        .column("stack_frame", guessed(|g| g.frame))
        .column("idle_timeout_from", forgotten(|end| end.from))
        .column("idle_timeout_idle", forgotten(|end| end.idle))
        .column("idle_timeout_frame", forgotten(|end| end.frame))
        .column("idle_timeout_retransmissions", forgotten(|end| end.retransmissions))
        .column("idle_timeout_reset", forgotten(|end| end.reset))
        .column("failure_kind", failed(|failure| failure.kind.name()))
        .column("failure_from", failed(|failure| failure.from))
        .column("failure_repeats", failed(|failure| failure.repeats))
        .column("failure_silent", failed(|failure| failure.silent))
        .column("failure_outstanding", failed(|failure| failure.outstanding))
        .column("failure_full_size_only", failed(|failure| failure.full_size_only))
        .column("failure_foreign_hops", |row| {
            row.failure.and_then(|failure| failure.foreign_hops).map(|[reset, _]| u32::from(reset))
        })
        .finish()
}

/// `retransmissions`: one row per retransmission, with the kinds of evidence.
fn retransmissions(document: &Document) -> Table {
    let kinds = |evidence: &[EvidenceReport]| list(evidence.iter().map(|piece| piece.kind));
    of_connections(document, |connection| &connection.retransmissions)
        .column("frame", |row: &RetransmissionReport| row.frame)
        .column("t", |row| row.t)
        .column("from", |row| row.from)
        .column("ip_id", |row| u32::from(row.ip_id))
        .column("seq", |row| row.seq)
        .column("len", |row| row.len)
        .column("segments", |row| row.segments)
        .column("trigger", |row| row.trigger.name())
        .column("backoff", |row| row.backoff)
        .column("verdict", |row| Necessity::name(row.verdict))
        .column("confidence", |row| row.confidence)
        .column("evidence", |row| kinds(&row.evidence))
        .column("against", |row| kinds(&row.against))
        .finish()
}

/// `timeouts`: one row per timeout; `verdicts` is a JSON object of the detectors' verdicts by name.
fn timeouts(document: &Document) -> Table {
    of_connections(document, |connection| &connection.timeouts)
        .column("frame", |row: &TimeoutReport| row.frame)
        .column("t", |row| row.t)
        .column("from", |row| row.from)
        .column("seq", |row| row.seq)
        .column("backoff", |row| row.backoff)
        .column("after", |row| row.after)
        .column("handshake", |row| row.handshake)
        .column("class", |row| TimeoutClass::name(row.class))
        .column("confidence", |row| row.confidence)
        .column("verdicts", |row| serde_json::json!(row.verdicts).to_string())
        .finish()
}

/// `episodes`: one row per episode, with its cost.
fn episodes(document: &Document) -> Table {
    fn cost<C: Cell>(of: impl Fn(&Cost) -> C) -> impl Fn(&EpisodeReport) -> C {
        move |row| of(&row.cost)
    }
    of_connections(document, |connection| &connection.episodes)
        .column("from", |row| row.from)
        .column("start", |row| row.start)
        .column("end", |row| row.end)
        .column("frames", |row| list(row.frames))
        .column("class", |row| TimeoutClass::name(row.class))
        .column("stalled", |row| row.stalled.map(|times| times.map(Some).to_vec()))
        .column("description", |row| &*row.description)
        .column("cost_stall", cost(|cost| cost.stall))
        .column("cost_time_lost", cost(|cost| cost.time_lost))
        .column("cost_unneeded_bytes", cost(|cost| cost.unneeded_bytes))
        .column("cost_timeouts", cost(|cost| cost.timeouts))
        .column("cost_spurious_fast_retransmits", cost(|cost| cost.spurious_fast_retransmits))
        .column("cost_flight", cost(|cost| list(cost.flight)))
        .finish()
}

/// `silences`: one row a time of a second and more without a packet.
fn silences(document: &Document) -> Table {
    of_connections(document, |connection| &connection.silences)
        .column("for", |row: &Silence| row.end)
        .column("start", |row| row.start)
        .column("length", |row| row.length)
        .column("frame", |row| row.frame)
        .column("wait", |row| row.wait.name())
        .finish()
}

/// `findings`: one row per conformance finding.
fn findings(document: &Document) -> Table {
    of_connections(document, |connection| &connection.findings)
        .column("from", |row: &ConformanceFinding| row.from)
        .column("kind", |row| row.kind)
        .column("about", |row| &*row.about)
        .column("frames", |row| list(row.frames.iter().copied()))
        .finish()
}

/// `timers`: one row per direction and minimum RTO, if the diagnosis replays timers.
pub fn timers(document: &Document) -> Table {
    of_connections(document, |connection| &connection.timers)
        .owner("start", |one| one.start)
        .owner("end", |one| one.end)
        .owner("only_from", |one| one.only_from)
        .owner("timestamps", |one| one.options.as_ref().map(|options| options.timestamps))
        .column("from", |row: &TimerReport| row.from)
        .column("to", |row| &*row.to)
        .column("vantage", |row| row.vantage.name())
        .column("min_rtt", |row| row.min_rtt)
        .column("srtt", |row| row.srtt)
        .column("minimum", |row| row.minimum)
        .column("waits", |row| row.waits)
        .column("single_waits", |row| row.single_waits)
        .column("late", |row| row.late)
        .column("spurious_probes", |row| row.spurious_probes)
        .column("spurious", |row| row.spurious)
        .column("spurious_single", |row| row.spurious_single)
        .column("genuine", |row| row.genuine)
        .column("saved", |row| row.saved)
        .column("probed", |row| row.probed)
        .column("probes_saved", |row| row.probes_saved)
        .column("preempted", |row| row.preempted)
        .column("unknown", |row| row.unknown)
        .finish()
}

/// The rows of all connections, each with its connection's number.
fn of_connections<R>(
    document: &Document,
    rows: fn(&ConnectionReport) -> &Vec<R>,
) -> TableBuilder<'_, R, ConnectionReport> {
    let connections = document.connections.iter();
    TableBuilder::new(connections.map(|one| (one, &**rows(one))))
        .owner("connection", |one| one.number)
}

#[allow(clippy::unnecessary_wraps, reason = "only an optional list is a cell")]
fn list<I>(items: impl IntoIterator<Item = I>) -> Option<Vec<Option<I>>> {
    Some(items.into_iter().map(Some).collect())
}
