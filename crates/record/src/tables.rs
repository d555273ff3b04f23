//! The tables of runs , one function per table. Times are in seconds since
//! the start of the run, sizes are in bytes, and sequence numbers are relative to the SYN.

use std::borrow::Cow;

use rtolab_link::Stats;
use rtolab_table::{Table, TableBuilder};
use rtolab_tcp::{Flags, MAX_SACK_BLOCKS, Segment};
use rtolab_time::{Duration, Instant};

use crate::outages::outages;
use crate::runs::{of_recordings, of_runs};
use crate::{
    ConnectionRow, DisturbanceRow, DupackCause, LinkRow, Recording, Run, SegmentRow, Truth,
};

/// A table of the runs.
#[derive(Clone, Copy, Debug)]
pub struct TableKind {
    /// Its name.
    pub name: &'static str,
    /// The meaning of a row, and the condition under which the table is empty.
    pub about: &'static str,
    /// Builds the table.
    pub make: fn(&[Recording]) -> Table,
}

/// All tables.
pub const TABLES: &[TableKind] = &[
    TableKind {
        name: "connections",
        about: "One row per connection: times, bytes, losses by cause, needed and unneeded retransmissions.",
        make: connections,
    },
    TableKind {
        name: "timeouts",
        about: "One row per timeout or fast retransmit: its time, its segment, whether it was needed.",
        make: timeouts,
    },
    TableKind {
        name: "tasks",
        about: "One row per page, or per request with its response: due, start, end; bytes.",
        make: tasks,
    },
    TableKind {
        name: "segments",
        about: "One row per packet event at a host; empty unless the run is traced.",
        make: segments,
    },
    TableKind {
        name: "windows",
        about: "One row per change of a sender's windows or RTO; empty unless requested.",
        make: windows,
    },
    TableKind {
        name: "links",
        about: "One row per link direction: frames offered, delivered, dropped by cause; delays.",
        make: links,
    },
    TableKind {
        name: "disturbances",
        about: "One row per stall, outage or delay spike of a link; empty unless the run is traced.",
        make: disturbances,
    },
    TableKind {
        name: "outages",
        about: "One row per connection and outage on its way: how soon it resumed, and its probes.",
        make: outages,
    },
    TableKind {
        name: "verdicts",
        about: "One row per timeout or fast retransmit and passive detector: ground truth and verdict.",
        make: verdicts,
    },
    TableKind {
        name: "duplicates",
        about: "One row per duplicate ACK at a sender, with its cause; empty unless traced or scored.",
        make: duplicates,
    },
    TableKind {
        name: "what_if",
        about: "One row per timeout and alternative sender that continues from it; empty unless requested.",
        make: what_if,
    },
];

/// `connections`: one row per connection. `needed` and `lost` are derived from the columns next to
/// them. `goodput_bps` is null if the connection did not end; `delay_mean_s` and `delay_max_s` are
/// null if no data packet arrived.
pub fn connections(recordings: &[Recording]) -> Table {
    let table = of_recordings(recordings, |recording| &recording.connections)
        .column("flow", |row| &*row.flow)
        .column("flow_sender", |row| &*row.flow_sender)
        .column("set", |row| row.set.as_deref())
        .column("start_s", |row| row.start.secs_f64())
        .column("end_s", |row| row.end.map(Instant::secs_f64))
        .column("elapsed_s", |row| row.elapsed().map(Duration::secs_f64))
        .column("completed", |row| row.end.is_some())
        .column("bytes", |row| row.bytes)
        .column("segments", |row| row.segments)
        .column("header_bytes", |row| row.header_bytes)
        .column("acked_segments", |row| row.acked_segments)
        .column("retransmissions", |row| row.retransmissions)
        .column("needed", |row| row.retransmissions - row.unneeded)
        .column("unneeded", |row| row.unneeded);
    measured(losses(table))
}

fn losses(table: TableBuilder<'_, ConnectionRow, Run>) -> TableBuilder<'_, ConnectionRow, Run> {
    table
        .column("lost", |row| row.lost.total())
        .column("lost_queue", |row| row.lost.queue)
        .column("lost_error", |row| row.lost.error)
        .column("lost_outage", |row| row.lost.outage)
        .column("lost_early", |row| row.lost.early)
        .column("lost_lifetime", |row| row.lost.lifetime)
        .column("lost_retries", |row| row.lost.retries)
        .column("lost_corrupt", |row| row.lost.corrupt)
        .column("absorbed", |row| row.absorbed)
        .column("local", |row| row.local)
        .column("timeouts", |row| row.timeouts)
        .column("fast_retransmits", |row| row.fast_retransmits)
        .column("spurious_timeouts", |row| row.truths.map(|[timeouts, _]| timeouts.spurious))
        .column("ack_lost_timeouts", |row| row.truths.map(|[timeouts, _]| timeouts.ack_lost))
        .column("genuine_timeouts", |row| row.truths.map(|[timeouts, _]| timeouts.genuine))
        .column("spurious_fast_retransmits", |row| row.truths.map(|[_, fast]| fast.spurious))
        .column("ack_lost_fast_retransmits", |row| row.truths.map(|[_, fast]| fast.ack_lost))
        .column("genuine_fast_retransmits", |row| row.truths.map(|[_, fast]| fast.genuine))
        .column("found_spurious", |row| row.found_spurious)
        .column("acks", |row| row.acks)
        .column("dupacks", |row| row.dupacks)
        .column("goodput_bps", ConnectionRow::goodput_bps)
}

fn measured(table: TableBuilder<'_, ConnectionRow, Run>) -> Table {
    table
        .column("delay_packets", |row| row.delay.packets)
        .column("delay_mean_s", |row| row.delay.mean_s())
        .column("delay_max_s", |row| (row.delay.packets > 0).then(|| row.delay.max.secs_f64()))
        .column("measured_s", |row| row.measured.span.secs_f64())
        .column("measured_bytes", |row| row.measured.bytes)
        .column("measured_acked_segments", |row| row.measured.acked_segments)
        .column("measured_segments", |row| row.measured.segments)
        .column("measured_retransmissions", |row| row.measured.retransmissions)
        .column("measured_timeouts", |row| row.measured.timeouts)
        .column("measured_fast_retransmits", |row| row.measured.fast_retransmits)
        .column("measured_delay_packets", |row| row.measured.delay.packets)
        .column("measured_delay_mean_s", |row| row.measured.delay.mean_s())
        .finish()
}

/// `timeouts`: one row per timeout, fast retransmit or tail loss probe that retransmits.
pub fn timeouts(recordings: &[Recording]) -> Table {
    of_recordings(recordings, |recording| &recording.timeouts)
        .column("flow", |row| &*row.flow)
        .column("at_s", |row| row.at.secs_f64())
        .column("end", |row| row.end.name())
        .column("kind", |row| row.kind.name())
        .column("seq", |row| row.seq)
        .column("rto_s", |row| row.rto.secs_f64())
        .column("backoff", |row| row.backoff)
        .column("cwnd", |row| row.cwnd)
        .column("needed", |row| row.needed)
        .column("truth", |row| row.truth.map(Truth::name))
        .column("cost_s", |row| row.cost.and_then(|cost| cost.later_s()))
        .column("cost_segments", |row| row.cost.map(|cost| cost.more_segments()))
        .column("verdict", |row| row.verdict)
        .column("detector", |row| row.detector.map(|detector| detector.to_string()))
        .column("verdict_at_s", |row| row.verdict_at.map(Instant::secs_f64))
        .finish()
}

/// `verdicts`: one row per timeout or fast retransmit and detector.
pub fn verdicts(recordings: &[Recording]) -> Table {
    of_recordings(recordings, |recording| &recording.verdicts)
        .column("flow", |row| &*row.flow)
        .column("at_s", |row| row.at.secs_f64())
        .column("end", |row| row.end.name())
        .column("kind", |row| row.kind.name())
        .column("seq", |row| row.seq)
        .column("truth", |row| row.truth.map(Truth::name))
        .column("detector", |row| row.detector.to_string())
        .column("verdict", |row| row.verdict)
        .column("why", |row| row.why)
        .column("verdict_s", |row| row.verdict_at.map(Instant::secs_f64))
        .column("delay_s", |row| row.verdict_at.map(|at| at.since(row.at).secs_f64()))
        .finish()
}

/// `duplicates`: one row per duplicate ACK that reached a sender.
pub fn duplicates(recordings: &[Recording]) -> Table {
    of_recordings(recordings, |recording| &recording.duplicates)
        .column("flow", |row| &*row.flow)
        .column("at_s", |row| row.at.secs_f64())
        .column("ack", |row| row.ack)
        .column("cause", |row| row.cause.map(DupackCause::name))
        .finish()
}

/// `what_if`: one row per timeout and alternative sender.
pub fn what_if(recordings: &[Recording]) -> Table {
    of_recordings(recordings, |recording| &recording.what_ifs)
        .column("flow", |row| &*row.flow)
        .column("at_s", |row| row.at.secs_f64())
        .column("seq", |row| row.seq)
        .column("truth", |row| row.truth.map(Truth::name))
        .column("what_if", |row| &*row.sender)
        .column("end_s", |row| row.comparison.other.end.map(Instant::secs_f64))
        .column("original_end_s", |row| row.comparison.original.end.map(Instant::secs_f64))
        .column("segments", |row| row.comparison.other.segments)
        .column("original_segments", |row| row.comparison.original.segments)
        .column("bytes", |row| row.comparison.other.bytes)
        .column("original_bytes", |row| row.comparison.original.bytes)
        .finish()
}

/// `segments`: one row per packet event of traced runs.
pub fn segments(recordings: &[Recording]) -> Table {
    let rows = recordings.iter().map(|recording| (recording, &*recording.segments));
    let table = of_runs(TableBuilder::new(rows), |recording: &Recording| &recording.run)
        .with_owner("flow", Recording::flow_name)
        .column("at_s", |row| row.at.secs_f64())
        .column("place", |row| row.place.name())
        .column("event", |row| row.event.name())
        .column("copy", |row| row.copy)
        .column("seq", |row| row.segment.seq.relative())
        .column("len", |row| row.segment.len)
        .column("ack", |row| ack(&row.segment))
        .column("window", |row| row.segment.window)
        .column("window_edge", |row| Some(ack(&row.segment)? + i64::from(row.segment.window)))
        .column("flags", |row| letters(row.segment.flags));
    (0..MAX_SACK_BLOCKS)
        .fold(table, sack_block)
        .column("ts_value", |row| row.segment.timestamps().map(|timestamps| timestamps.value))
        .column("ts_echo", |row| row.segment.timestamps().map(|timestamps| timestamps.echo))
        .column("bytes", |row| row.bytes)
        .column("retransmission", |row| row.retransmission)
        .column("unneeded", |row| row.unneeded)
        .column("fate", |row| row.fate.name())
        .column("fate_at_s", |row| row.fate_at.map(Instant::secs_f64))
        .column("held_s", |row| row.held.secs_f64())
        .finish()
}

/// The letters of flags, without an allocation for those of nearly all segments.
fn letters(flags: Flags) -> Cow<'static, str> {
    match flags {
        Flags::ACK => Cow::Borrowed("A"),
        flags => Cow::Owned(flags.to_string()),
    }
}

/// `windows`: one row per change of a sender's windows.
pub fn windows(recordings: &[Recording]) -> Table {
    of_recordings(recordings, |recording| &recording.windows)
        .column("flow", |row| &*row.flow)
        .column("at_s", |row| row.at.secs_f64())
        .column("cwnd", |row| row.cwnd)
        .column("ssthresh", |row| row.ssthresh)
        .column("flight", |row| row.flight)
        .column("srtt_s", |row| row.srtt.map(Duration::secs_f64))
        .column("rttvar_s", |row| row.rttvar.map(Duration::secs_f64))
        .column("rto_s", |row| row.rto.secs_f64())
        .finish()
}

/// `links`: one row per link direction. `mean_delay_s` is null if no frame was delivered.
pub fn links(recordings: &[Recording]) -> Table {
    of_recordings(recordings, |recording| &recording.links)
        .column("link", |row| &*row.link)
        .column("direction", LinkRow::direction_name)
        .column("offered", |row| row.stats.offered)
        .column("delivered", |row| row.stats.delivered)
        .column("delivered_bytes", |row| row.stats.bytes)
        .column("dropped_queue", |row| row.stats.drops.queue)
        .column("dropped_error", |row| row.stats.drops.error)
        .column("dropped_outage", |row| row.stats.drops.outage)
        .column("dropped_script", |row| row.stats.drops.script)
        .column("dropped_early", |row| row.stats.drops.early)
        .column("dropped_lifetime", |row| row.stats.drops.lifetime)
        .column("dropped_retries", |row| row.stats.drops.retries)
        .column("mean_delay_s", |row| mean_delay(&row.stats))
        .column("max_delay_s", |row| row.stats.max_delay.secs_f64())
        .column("max_queue", |row| row.stats.max_queue)
        .column("duplicates", |row| row.stats.duplicates)
        .column("corrupted", |row| row.stats.corrupted)
        .column("marked", |row| row.stats.marked)
        .column("transmissions", |row| row.stats.transmissions)
        .column("transmitted_bytes", |row| row.stats.transmitted_bytes)
        .column("local_retransmissions", |row| row.stats.local_retransmissions)
        .column("reports", |row| row.stats.reports)
        .column("measured_transmitted_bytes", |row| row.measured_transmitted_bytes)
        .column("measured_delivered_bytes", |row| row.measured_delivered_bytes)
        .finish()
}

/// `tasks`: one row per page, or request with its response.
pub fn tasks(recordings: &[Recording]) -> Table {
    of_recordings(recordings, |recording| &recording.tasks)
        .column("flow", |row| &*row.flow)
        .column("number", |row| row.number)
        .column("due_s", |row| row.due.secs_f64())
        .column("start_s", |row| row.start.secs_f64())
        .column("end_s", |row| row.end.map(Instant::secs_f64))
        .column("bytes", |row| row.bytes)
        .finish()
}

/// `disturbances`: one row per stall, outage or spike of traced runs.
pub fn disturbances(recordings: &[Recording]) -> Table {
    of_recordings(recordings, |recording| &recording.disturbances)
        .column("link", |row| &*row.link)
        .column("direction", DisturbanceRow::direction_name)
        .column("kind", DisturbanceRow::kind_name)
        .column("from_s", |row| row.from.secs_f64())
        .column("to_s", |row| row.to.secs_f64())
        .finish()
}

fn mean_delay(stats: &Stats) -> Option<f64> {
    (stats.delivered > 0).then(|| stats.total_delay.secs_f64() / stats.delivered as f64)
}

fn ack(segment: &Segment) -> Option<i64> {
    segment.flags.has(Flags::ACK).then(|| segment.ack.relative())
}

fn sack_block(
    table: TableBuilder<'_, SegmentRow, Recording>,
    block: usize,
) -> TableBuilder<'_, SegmentRow, Recording> {
    let number = block + 1;
    table
        .column(&format!("sack_{number}_start"), move |row| {
            Some(row.segment.sack_blocks().nth(block)?.start.relative())
        })
        .column(&format!("sack_{number}_end"), move |row| {
            Some(row.segment.sack_blocks().nth(block)?.end.relative())
        })
}
