//! The packets of selected connections, to plot them.

use std::collections::HashMap;
use std::io::Read;

use rtolab_capture::{Captured, Conversation, End, Reader};
use rtolab_tcp::{Flags, Segment};
use rtolab_time::Instant;
use serde::Serialize;

use crate::capture_points::CapturePoint;
use crate::connection::name;
use crate::diagnosis::Diagnosis;
use crate::report::ConnectionReport;

/// A packet of a connection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TracedPacket {
    /// Its number in the capture.
    pub frame: u64,
    /// The capture point, if the capture was made at two.
    #[serde(skip)]
    pub(crate) capture_point: CapturePoint,
    /// In seconds since the capture's first packet.
    pub t: f64,
    /// `client` or `server`.
    pub from: &'static str,
    /// Its first sequence number, relative to the SYN or to the first byte seen.
    pub seq: i64,
    /// The number of sequence numbers that it occupies.
    pub len: u32,
    /// Its acknowledgment number, likewise relative.
    pub ack: Option<i64>,
    /// The right edge of its advertised window, likewise relative.
    pub window_edge: Option<i64>,
    /// The SACK blocks, likewise relative.
    pub sack: Vec<[i64; 2]>,
    /// TSval and TSecr.
    pub stamps: Option<[u32; 2]>,
}

/// Reports and packets by connection number.
type Found = HashMap<u64, (Option<ConnectionReport>, Vec<TracedPacket>)>;

/// The packets of the connections with these numbers, counted as by [`crate::diagnose`]. There are
/// at most `limit` packets per connection, and none after a damaged part of the file.
pub fn trace<R: Read>(input: R, numbers: &[u64], limit: usize) -> HashMap<u64, Vec<TracedPacket>> {
    reports_and_packets(input, numbers, limit)
        .into_iter()
        .map(|(number, (_, rows))| (number, rows))
        .collect()
}

/// The packets and the reports of these connections, as for [`trace`].
pub(crate) fn reports_and_packets<R: Read>(input: R, numbers: &[u64], limit: usize) -> Found {
    let mut found: Found = numbers.iter().map(|&number| (number, (None, Vec::new()))).collect();
    let mut conversations = HashMap::new();
    let mut diagnosis = Diagnosis::new();
    let mut origin = None;
    let Ok(reader) = Reader::new(input) else { return HashMap::new() };
    for captured in reader.without_checksums().in_order().map_while(Result::ok) {
        let (number, capture_point) = diagnosis.packet_at(&captured);
        let at =
            Instant::START + captured.packet.at.since(*origin.get_or_insert(captured.packet.at));
        let Some((_, rows)) = found.get_mut(&number) else { continue };
        let conversation = conversations
            .entry(number)
            .or_insert_with(|| Conversation::from_first_packet(&captured.packet));
        if let (Some((from, segment)), Some(capture_point)) =
            (conversation.segment(&captured.packet), capture_point)
        {
            if rows.len() < limit {
                rows.push(TracedPacket { capture_point, ..row(&captured, at, from, &segment) });
            }
        }
    }
    diagnosis.finish();
    while let Some(report) = diagnosis.poll() {
        if let Some((kept, rows)) = found.get_mut(&report.number) {
            rows.retain(|row| row.capture_point == report.capture_point);
            *kept = Some(report);
        }
    }
    found
}

fn row(captured: &Captured, at: Instant, from: End, segment: &Segment) -> TracedPacket {
    let acks = segment.flags.has(Flags::ACK);
    let window_edge = segment.ack.relative() + i64::from(segment.window);
    let ranges = segment.sack_blocks();
    TracedPacket {
        capture_point: CapturePoint::Near,
        frame: captured.number,
        t: at.secs_f64(),
        from: name(from),
        seq: segment.seq.relative(),
        len: segment.sequence_length(),
        ack: acks.then_some(segment.ack.relative()),
        window_edge: acks.then_some(window_edge),
        sack: ranges.map(|range| [range.start.relative(), range.end.relative()]).collect(),
        stamps: segment.timestamps().map(|stamps| [stamps.value, stamps.echo]),
    }
}
