//! Packets of a flow at one host: when and why each was sent, and its fate.

use std::collections::HashMap;

use rtolab_record::{SegmentRow, TimeoutKind, TimeoutRow};
use rtolab_time::{Duration, Instant};
use serde_json::{Value, json};

use crate::packing::Packing;
use crate::request::{Request, RequestedPlace};
use crate::trace::{FlowTrace, is_usual};

/// Causes of a transmission: new data, a timer, a duplicate ACK, or the recovery after one.
pub(crate) const CAUSES: [&str; 8] = [
    "new",
    "timeout",
    "fast retransmit",
    "probe",
    "after a timeout",
    "after a fast retransmit",
    "after a probe",
    "retransmission",
];
const NEW: usize = 0;
/// The first of the codes of retransmissions that began a recovery.
const FIRST: usize = 1;
/// The first of the codes of retransmissions in a recovery.
const AFTER: usize = 4;
const RETRANSMISSION: usize = 7;

/// Fates of a packet.
const FATES: [&str; 11] = [
    "delivered",
    "underway",
    "queue",
    "error",
    "outage",
    "script",
    "early",
    "lifetime",
    "retries",
    "corrupt",
    "absorbed",
];

/// Kinds of copies.
pub(crate) const KINDS: [&str; 3] = ["first", "needed", "unneeded"];

/// A data segment at a host.
struct Packet<'a> {
    at: Instant,
    row: &'a SegmentRow,
    cause: usize,
    /// When the retransmission happened that began the recovery.
    cause_at: Option<Instant>,
    /// When the first cumulative ACK that covers it was at the host.
    acked: Option<Instant>,
}

impl Packet<'_> {
    const fn kind(&self) -> usize {
        match (self.row.retransmission, self.row.unneeded) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => 2,
        }
    }
}

/// Packets, ACKs and windows within the requested time; many are thinned out.
pub(crate) fn seen(trace: &FlowTrace<'_>, request: &Request, packing: &mut Packing) -> Value {
    let (start, end) = request.between.unwrap_or((0.0, trace.end_s()));
    let is_shown = |at: Instant| (start..=end).contains(&at.secs_f64());
    let acks = trace.acks(request.place);
    let mut packets = packets(trace, request.place);
    acknowledge(&mut packets, &acks);
    packets.retain(|packet| is_shown(packet.at));
    let mut acks: Vec<_> = acks.into_iter().filter(|row| is_shown(row.at)).collect();
    let mut windows: Vec<_> =
        trace.windows.iter().filter(|row| is_shown(row.at)).copied().collect();
    let longest = packets.len().max(acks.len()).max(windows.len()).max(1);
    let every = longest.div_ceil(request.packets);
    if every > 1 {
        // Keep retransmissions and lost packets, unless there are too many of them.
        let is_odd = |packet: &Packet<'_>| packet.kind() > 0 || !is_usual(packet.row.fate);
        packets = thinned(packets, |place, packet| {
            place % every == 0 || (is_odd(packet) && place % (every / 8 + 1) == 0)
        });
        acks = thinned(acks, |place, _| place % every == 0);
        windows = thinned(windows, |place, _| place % every == 0);
    }
    let seconds = |of: Option<Instant>| of.map(Instant::secs_f64);
    let column = |packing: &mut Packing, of: &dyn Fn(&Packet<'_>) -> Option<f64>| {
        packing.options(packets.iter().map(of))
    };
    let codes = |packing: &mut Packing, of: &dyn Fn(&Packet<'_>) -> usize| {
        packing.codes(packets.iter().map(of))
    };
    json!({
        "shown": [start, end],
        "every": every,
        "packets": {
            "at_s": column(packing, &|packet| seconds(Some(packet.at))),
            "seq": column(packing, &|packet| Some(packet.row.segment.seq.relative() as f64)),
            "len": column(packing, &|packet| Some(f64::from(packet.row.segment.len))),
            "sent_s": column(packing, &|packet| seconds(Some(packet.row.at))),
            "cause_s": column(packing, &|packet| seconds(packet.cause_at)),
            "fate_at_s": column(packing, &|packet| seconds(packet.row.fate_at)),
            "held_s": column(packing, &|packet| Some(packet.row.held.secs_f64())),
            "acked_s": column(packing, &|packet| seconds(packet.acked)),
            "kind": codes(packing, &|packet| packet.kind()),
            "cause": codes(packing, &|packet| packet.cause),
            "fate": codes(packing, &|packet| fate(packet.row)),
        },
        "acks": {
            "at_s": packing.numbers(acks.iter().map(|row| row.at.secs_f64())),
            "ack": packing.numbers(acks.iter().map(|row| row.segment.ack.relative() as f64)),
        },
        "sacks": sacks(&acks, packing),
        "windows": {
            "at_s": packing.numbers(windows.iter().map(|row| row.at.secs_f64())),
            "cwnd": packing.numbers(windows.iter().map(|row| row.cwnd as f64)),
            "ssthresh": packing.options(windows.iter().map(|row| row.ssthresh.map(|s| s as f64))),
            "srtt_s": packing.options(windows.iter().map(|row| row.srtt.map(Duration::secs_f64))),
            "rto_s": packing.numbers(windows.iter().map(|row| row.rto.secs_f64())),
        },
        "names": {"kind": KINDS, "cause": CAUSES, "fate": FATES},
    })
}

/// The data segments at a host.
fn packets<'a>(trace: &FlowTrace<'a>, place: RequestedPlace) -> Vec<Packet<'a>> {
    let sent = with_causes(&trace.sent_data(), &trace.timeouts);
    match place {
        RequestedPlace::Sender => sent,
        RequestedPlace::Receiver => {
            let copies: HashMap<_, _> =
                sent.iter().map(|packet| (packet.row.copy, packet)).collect();
            let arrived = trace.received_data().into_iter().filter_map(|row| {
                let Packet { row: sent, cause, cause_at, .. } = copies.get(&row.copy)?;
                Some(Packet {
                    at: row.at,
                    row: sent,
                    cause: *cause,
                    cause_at: *cause_at,
                    acked: None,
                })
            });
            arrived.collect()
        }
    }
}

/// The cause of each segment: a timeout at the same time, or the recovery after the last one. Both
/// lists are in order of time.
fn with_causes<'a>(sent: &[&'a SegmentRow], timeouts: &[&TimeoutRow]) -> Vec<Packet<'a>> {
    let mut timeouts = timeouts.to_vec();
    timeouts.sort_by_key(|row| row.at);
    let packet = |row: &&'a SegmentRow| {
        let before = timeouts.partition_point(|timeout| timeout.at <= row.at);
        let last = before.checked_sub(1).map(|place| timeouts[place]);
        let cause = match last {
            Some(last) if last.at == row.at && last.seq == row.segment.seq.relative() => {
                FIRST + code(last.kind)
            }
            _ if !row.retransmission => NEW,
            Some(last) => AFTER + code(last.kind),
            None => RETRANSMISSION,
        };
        let cause_at = last.filter(|_| cause != NEW).map(|last| last.at);
        Packet { at: row.at, row, cause, cause_at, acked: None }
    };
    sent.iter().map(packet).collect()
}

const fn code(kind: TimeoutKind) -> usize {
    match kind {
        TimeoutKind::Timeout => 0,
        TimeoutKind::FastRetransmit => 1,
        TimeoutKind::Probe => 2,
    }
}

/// Sets the times of the first cumulative ACKs that cover the packets.
fn acknowledge(packets: &mut [Packet<'_>], acks: &[&SegmentRow]) {
    let mut highest = i64::MIN;
    let ascending: Vec<_> = acks
        .iter()
        .map(|row| {
            highest = highest.max(row.segment.ack.relative());
            highest
        })
        .collect();
    for packet in packets {
        let end = packet.row.segment.seq.relative() + i64::from(packet.row.segment.len);
        let first = ascending.partition_point(|ack| *ack < end);
        packet.acked = acks.get(first).map(|row| row.at);
    }
}

/// The index of the packet's fate in [`FATES`].
fn fate(row: &SegmentRow) -> usize {
    FATES.iter().position(|name| *name == row.fate.name()).unwrap_or_default()
}

/// The SACK blocks, the first ones of all ACKs before the second ones.
fn sacks(acks: &[&SegmentRow], packing: &mut Packing) -> Value {
    let blocks: Vec<_> = (0..rtolab_tcp::MAX_SACK_BLOCKS)
        .flat_map(|place| {
            acks.iter().filter_map(move |row| Some((row.at, row.segment.sack_blocks().nth(place)?)))
        })
        .collect();
    json!({
        "at_s": packing.numbers(blocks.iter().map(|(at, _)| at.secs_f64())),
        "start": packing.numbers(blocks.iter().map(|(_, block)| block.start.relative() as f64)),
        "end": packing.numbers(blocks.iter().map(|(_, block)| block.end.relative() as f64)),
    })
}

/// The items that are `kept`, given their places.
fn thinned<T>(items: Vec<T>, kept: impl Fn(usize, &T) -> bool) -> Vec<T> {
    let numbered = items.into_iter().enumerate();
    numbered.filter(|(place, item)| kept(*place, item)).map(|(_, item)| item).collect()
}
