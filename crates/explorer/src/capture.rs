//! Diagnoses of captures as data for the figures, with the packets of the worst connections.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::io::Read;

use rtolab_capture::unpacked;
use rtolab_diagnose::{
    ConnectionReport, Document, EpisodeReport, Necessity, RetransmissionReport, TimeoutReport,
    TracedPacket, Trigger,
};
use serde_json::{Value, json};

use crate::packets::{CAUSES, KINDS};
use crate::packing::Packing;
use crate::request_error::RequestError;

/// The number of connections with a figure, the worst first.
const DRAWN: usize = 8;
/// The number of connections in the list, and of retransmissions and timeouts of each.
const LISTED: usize = 200;
/// The only fate of a captured packet.
const FATE: &str = "does not show";
/// The kinds of copies.
const COPIES: [&str; 4] = [KINDS[0], KINDS[1], KINDS[2], "unknown"];

/// The retransmissions of a capture with their causes, as data for the figures. `open` opens the
/// capture, and is called twice; `name` is its name in the answer. At most `packets` of a
/// connection are drawn.
///
/// # Errors
/// The capture cannot be opened, or `keep_running`, which is called regularly, returns `false`.
pub fn diagnose<R: Read + Send + 'static>(
    open: impl Fn() -> std::io::Result<R>,
    (name, packets): (&str, usize),
    keep_running: &mut dyn FnMut() -> bool,
) -> Result<Vec<u8>, RequestError> {
    let input = || {
        let opened = open().and_then(unpacked);
        opened.map_err(|error| RequestError::request(format!("{name}: {error}")))
    };
    let watch = |_| if keep_running() { Ok(()) } else { Err(RequestError::stopped()) };
    let Document { summary, skipped, error, connections, .. } =
        rtolab_diagnose::diagnose(input()?, watch)?;
    let skipped = skipped.other
        + skipped.fragments
        + skipped.overlapping
        + skipped.malformed
        + skipped.untimed
        + skipped.unknown_link;
    if let Some(error) = error.as_ref().filter(|_| summary.packets == 0 && skipped == 0) {
        return Err(RequestError::request(format!("{name}: {error}")));
    }
    let mut worst: Vec<_> = connections.iter().collect();
    worst.sort_by(|one, other| suffering(other, one));
    let has_findings =
        |one: &&&ConnectionReport| !one.retransmissions.is_empty() || !one.findings.is_empty();
    let mut drawn: Vec<_> = worst.iter().filter(has_findings).take(DRAWN).copied().collect();
    if drawn.is_empty() {
        // A capture without retransmissions is drawn all the same.
        drawn.extend(worst.first());
    }
    let numbers: Vec<_> = drawn.iter().map(|one| one.number).collect();
    let traces = rtolab_diagnose::trace(input()?, &numbers, packets);
    let mut packing = Packing::default();
    let mut pictures = Vec::new();
    for one in drawn {
        let trace = traces.get(&one.number).map_or(&[][..], |rows| &rows[..]);
        pictures.push(connection(one, trace, &mut packing));
    }
    let head = json!({
        "name": name,
        "error": error,
        "summary": summary,
        "connections": worst.iter().take(LISTED).map(|one| listed(one)).collect::<Vec<_>>(),
        "pictures": pictures,
    });
    Ok(packing.answer(&head))
}

/// The order by what connections lost: time, then retransmissions.
fn suffering(one: &ConnectionReport, other: &ConnectionReport) -> Ordering {
    let unneeded = |report: &ConnectionReport| -> u64 {
        let unneeded =
            report.retransmissions.iter().filter(|row| row.verdict == Necessity::Unneeded);
        unneeded.map(|row| u64::from(row.len)).sum()
    };
    let lost = |report: &ConnectionReport| report.time_lost.unwrap_or(0.0);
    lost(one)
        .total_cmp(&lost(other))
        .then(one.retransmissions.len().cmp(&other.retransmissions.len()))
        .then_with(|| unneeded(one).cmp(&unneeded(other)))
        .then(one.timeouts.len().cmp(&other.timeouts.len()))
        .then(other.number.cmp(&one.number))
}

/// A line of the list of connections.
fn listed(one: &ConnectionReport) -> Value {
    json!({
        "number": one.number,
        "client": one.client,
        "server": one.server,
        "vantage": one.vantage,
        "sender": one.sender,
        "packets": one.packets,
        "retransmissions": one.retransmissions.len(),
        "timeouts": one.timeouts.len(),
    })
}

/// A connection in the form of a run.
fn connection(one: &ConnectionReport, trace: &[TracedPacket], packing: &mut Packing) -> Value {
    let end_s = trace.last().map_or(0.0, |packet| packet.t);
    let timeouts: Vec<_> = one.timeouts.iter().filter(|row| row.from == one.sender).collect();
    let mut sender = packets(one, trace, packing);
    sender["name"] = json!(format!("{} and {}", one.client, one.server));
    sender["end_s"] = json!(end_s);
    sender["timeouts"] = timeouts.iter().take(LISTED).map(|row| timeout(row)).collect();
    sender["all_timeouts"] = json!(timeouts.len());
    let findings = one.findings.iter().map(|found| format!("The {} {}.", found.from, found.about));
    json!({
        "number": one.number,
        "vantage": one.vantage,
        "from": one.sender,
        "packets": one.packets,
        "drawn": trace.len(),
        "end_s": end_s,
        "disturbances": one.episodes.iter().filter_map(stall).collect::<Vec<_>>(),
        "episodes": one.episodes.iter().map(description).collect::<Vec<_>>(),
        "findings": findings.collect::<Vec<_>>(),
        "retransmissions": one.retransmissions.iter().take(LISTED).map(retransmission)
            .collect::<Vec<_>>(),
        "senders": [sender],
    })
}

/// The columns of the packets.
fn packets(one: &ConnectionReport, trace: &[TracedPacket], packing: &mut Packing) -> Value {
    let own = one.retransmissions.iter().filter(|row| row.from == one.sender);
    let copies: HashMap<_, _> = own.map(|row| (row.frame, row)).collect();
    let data: Vec<_> =
        trace.iter().filter(|packet| packet.from == one.sender && packet.len > 0).collect();
    let acks: Vec<_> = trace
        .iter()
        .filter(|packet| packet.from != one.sender)
        .filter_map(|packet| Some((packet.t, packet.ack?, packet)))
        .collect();
    let sacks: Vec<_> =
        acks.iter().flat_map(|(t, _, packet)| packet.sack.iter().map(|sack| (*t, *sack))).collect();
    let times = |packing: &mut Packing| packing.numbers(data.iter().map(|packet| packet.t));
    let unknown = |packing: &mut Packing| packing.options(data.iter().map(|_| None));
    let empty = |packing: &mut Packing| packing.numbers(std::iter::empty());
    json!({
        "packets": {
            "at_s": times(packing),
            "seq": packing.numbers(data.iter().map(|packet| packet.seq as f64)),
            "len": packing.numbers(data.iter().map(|packet| f64::from(packet.len))),
            "cause_s": unknown(packing),
            "acked_s": packing.options(acknowledged(&data, &acks)),
            "sent_s": times(packing),
            "fate_at_s": unknown(packing),
            "held_s": unknown(packing),
            "kind": packing.codes(data.iter().map(|packet| kind(copies.get(&packet.frame)))),
            "cause": packing.codes(data.iter().map(|packet| cause(copies.get(&packet.frame)))),
            "fate": packing.codes(data.iter().map(|_| 0)),
        },
        "acks": {
            "at_s": packing.numbers(acks.iter().map(|(t, ..)| *t)),
            "ack": packing.numbers(acks.iter().map(|(_, ack, _)| *ack as f64)),
        },
        "sacks": {
            "at_s": packing.numbers(sacks.iter().map(|(t, _)| *t)),
            "start": packing.numbers(sacks.iter().map(|(_, [start, _])| *start as f64)),
            "end": packing.numbers(sacks.iter().map(|(_, [_, end])| *end as f64)),
        },
        "windows": {
            "at_s": empty(packing),
            "cwnd": empty(packing),
            "ssthresh": empty(packing),
            "srtt_s": empty(packing),
            "rto_s": empty(packing),
        },
        "names": {"kind": COPIES, "cause": CAUSES, "fate": [FATE]},
    })
}

/// The times of the first cumulative ACKs that cover the packets.
fn acknowledged(
    data: &[&TracedPacket],
    acks: &[(f64, i64, &TracedPacket)],
) -> impl Iterator<Item = Option<f64>> {
    let mut highest = i64::MIN;
    let ascending: Vec<_> = acks
        .iter()
        .map(|(_, ack, _)| {
            highest = highest.max(*ack);
            highest
        })
        .collect();
    data.iter().map(move |packet| {
        let end = packet.seq + i64::from(packet.len);
        acks.get(ascending.partition_point(|ack| *ack < end)).map(|(t, ..)| *t)
    })
}

/// The code of a packet's kind in [`COPIES`].
fn kind(copy: Option<&&RetransmissionReport>) -> usize {
    match copy.map(|row| row.verdict) {
        None => 0,
        Some(Necessity::Needed) => 1,
        Some(Necessity::Unneeded) => 2,
        Some(Necessity::Unknown) => 3,
    }
}

/// The code of a packet's cause in [`CAUSES`].
fn cause(copy: Option<&&RetransmissionReport>) -> usize {
    let name = match copy.map(|row| row.trigger) {
        None => "new",
        Some(Trigger::Timeout(_)) => "timeout",
        Some(Trigger::FastRetransmit) => "fast retransmit",
        Some(Trigger::TailLossProbe) => "probe",
        Some(Trigger::Recovery) => "after a fast retransmit",
        Some(Trigger::AfterTimeout) => "after a timeout",
        Some(_) => "retransmission",
    };
    CAUSES.iter().position(|cause| *cause == name).unwrap_or_default()
}

/// A timeout in the form of a run's; what a capture cannot show is null.
fn timeout(row: &TimeoutReport) -> Value {
    let verdict = |(name, verdict): (&&str, &&str)| json!({"detector": name, "verdict": verdict, "why": null, "delay_s": null});
    json!({
        "at_s": row.t,
        "kind": "timeout",
        "seq": row.seq,
        "rto_s": row.after,
        "truth": row.class,
        "verdict": null,
        "detector": null,
        "verdict_at_s": null,
        "cost_s": null,
        "cost_segments": null,
        "verdicts": row.verdicts.iter().map(verdict).collect::<Vec<_>>(),
    })
}

fn stall(episode: &EpisodeReport) -> Option<Value> {
    let [from_s, to_s] = episode.stalled?;
    Some(json!({
        "link": "path",
        "direction": "both",
        "kind": "stall",
        "from_s": from_s,
        "to_s": to_s,
    }))
}

fn description(episode: &EpisodeReport) -> Value {
    json!({
        "at_s": episode.start,
        "frame": episode.frames[0],
        "description": episode.description,
    })
}

fn retransmission(row: &RetransmissionReport) -> Value {
    json!({
        "frame": row.frame,
        "t": row.t,
        "from": row.from,
        "len": row.len,
        "trigger": row.trigger,
        "verdict": row.verdict,
        "confidence": row.confidence,
        "evidence": row.evidence.iter().map(|found| found.kind).collect::<Vec<_>>(),
    })
}
