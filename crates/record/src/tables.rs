//! The tables of many runs in Arrow's format, one function a table. Columns are named here and
//! nowhere else; times are in seconds since the start of the run, sizes in bytes, sequence numbers
//! relative to the SYN.

use arrow_array::RecordBatch;
use rtolab_link::Direction;
use rtolab_tcp::{Flags, MAX_SACK_BLOCKS, Segment};
use rtolab_time::{Duration, Instant};

use crate::column::Table;
use crate::{ConnectionRow, LinkRow, Recording, SegmentRow, Truth};

/// `connections`: one row a connection. `needed` and `lost` are totals of what is next to them;
/// `goodput_bps` is what the application got, in bits a second, of a connection that ended.
pub fn connections(recordings: &[Recording]) -> RecordBatch {
    Table::of(recordings, |recording| &recording.connections)
        .column("flow", |row| &*row.flow)
        .column("flow_sender", |row| &*row.flow_sender)
        .column("start_s", |row| row.start.secs_f64())
        .column("end_s", |row| row.end.map(Instant::secs_f64))
        .column("elapsed_s", |row| elapsed(row).map(Duration::secs_f64))
        .column("completed", |row| row.end.is_some())
        .column("bytes", |row| row.bytes)
        .column("segments", |row| row.segments)
        .column("retransmissions", |row| row.retransmissions)
        .column("needed", |row| row.retransmissions - row.unneeded)
        .column("unneeded", |row| row.unneeded)
        .column("lost", |row| row.lost_queue + row.lost_error + row.lost_outage)
        .column("lost_queue", |row| row.lost_queue)
        .column("lost_error", |row| row.lost_error)
        .column("lost_outage", |row| row.lost_outage)
        .column("timeouts", |row| row.timeouts)
        .column("fast_retransmits", |row| row.fast_retransmits)
        .column("found_spurious", |row| row.found_spurious)
        .column("acks", |row| row.acks)
        .column("goodput_bps", goodput)
        .finish()
}

/// `timeouts`: one row a timeout or fast retransmit.
pub fn timeouts(recordings: &[Recording]) -> RecordBatch {
    Table::of(recordings, |recording| &recording.timeouts)
        .column("flow", |row| &*row.flow)
        .column("at_s", |row| row.at.secs_f64())
        .column("kind", |row| row.kind.name())
        .column("seq", |row| row.seq)
        .column("rto_s", |row| row.rto.secs_f64())
        .column("backoff", |row| row.backoff)
        .column("cwnd", |row| row.cwnd)
        .column("needed", |row| row.needed)
        .column("truth", |row| row.truth.map(Truth::name))
        .column("verdict", |row| row.verdict)
        .column("detector", |row| row.detector)
        .column("verdict_at_s", |row| row.verdict_at.map(Instant::secs_f64))
        .finish()
}

/// `segments`: one row a packet event, of traced runs.
pub fn segments(recordings: &[Recording]) -> RecordBatch {
    let table = Table::of(recordings, |recording| &recording.segments)
        .column("flow", |row| &*row.flow_name)
        .column("at_s", |row| row.at.secs_f64())
        .column("place", |row| row.place.name())
        .column("event", |row| row.event.name())
        .column("copy", |row| row.copy)
        .column("seq", |row| row.segment.seq.relative())
        .column("len", |row| row.segment.len)
        .column("ack", |row| ack(&row.segment))
        .column("window", |row| row.segment.window)
        .column("window_edge", |row| Some(ack(&row.segment)? + i64::from(row.segment.window)))
        .column("flags", |row| row.segment.flags.to_string());
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

/// `windows`: one row a change of a sender's windows, of runs that were asked for it.
pub fn windows(recordings: &[Recording]) -> RecordBatch {
    Table::of(recordings, |recording| &recording.windows)
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

/// `links`: one row a link direction. `mean_delay_s` is that of the frames delivered, null where
/// there was none.
pub fn links(recordings: &[Recording]) -> RecordBatch {
    Table::of(recordings, |recording| &recording.links)
        .column("link", |row| &*row.link)
        .column("direction", |row| direction(row.direction))
        .column("offered", |row| row.offered)
        .column("delivered", |row| row.delivered)
        .column("delivered_bytes", |row| row.delivered_bytes)
        .column("dropped_queue", |row| row.dropped_queue)
        .column("dropped_error", |row| row.dropped_error)
        .column("dropped_outage", |row| row.dropped_outage)
        .column("mean_delay_s", mean_delay)
        .column("max_delay_s", |row| row.max_delay.secs_f64())
        .column("max_queue", |row| row.max_queue)
        .finish()
}

/// `disturbances`: one row a stall, outage or spike, of traced runs.
pub fn disturbances(recordings: &[Recording]) -> RecordBatch {
    Table::of(recordings, |recording| &recording.disturbances)
        .column("link", |row| &*row.link)
        .column("direction", |row| row.direction.map(direction))
        .column("kind", |row| row.kind.name())
        .column("from_s", |row| row.from.secs_f64())
        .column("to_s", |row| row.to.secs_f64())
        .finish()
}

fn elapsed(row: &ConnectionRow) -> Option<Duration> {
    Some(row.end?.since(row.start))
}

fn goodput(row: &ConnectionRow) -> Option<f64> {
    let elapsed = elapsed(row).filter(|elapsed| !elapsed.is_zero())?;
    Some(row.bytes as f64 * 8.0 / elapsed.secs_f64())
}

fn mean_delay(row: &LinkRow) -> Option<f64> {
    (row.delivered > 0).then(|| row.total_delay.secs_f64() / row.delivered as f64)
}

fn ack(segment: &Segment) -> Option<i64> {
    segment.flags.has(Flags::ACK).then(|| segment.ack.relative())
}

fn sack_block(table: Table<'_, SegmentRow>, block: usize) -> Table<'_, SegmentRow> {
    let number = block + 1;
    table
        .column(&format!("sack_{number}_start"), |row| {
            Some(row.segment.sack_blocks().nth(block)?.start.relative())
        })
        .column(&format!("sack_{number}_end"), |row| {
            Some(row.segment.sack_blocks().nth(block)?.end.relative())
        })
}

fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "forward",
        Direction::Backward => "backward",
    }
}
