//! A run of each sender as data for the figures.

use std::collections::HashSet;

use rtolab_record::{ConnectionRow, Recording};
use rtolab_tcp::spurious::DETECTORS;
use rtolab_time::Duration;
use serde_json::{Value, json};

use crate::lab::Evaluation;
use crate::packing::Packing;
use crate::request::Request;
use crate::request_error::RequestError;
use crate::trace::FlowTrace;
use crate::{Explorer, packets, timeouts};

/// The most disturbances in an answer.
const MOST_DISTURBANCES: usize = 500;

impl Explorer<'_> {
    /// The packets, windows, timeouts and totals of each sender.
    pub(crate) fn run(&mut self, request: &Request) -> Result<Vec<u8>, RequestError> {
        let senders: Vec<_> = match &request.senders[..] {
            [] => vec![None],
            senders => senders.iter().map(|sender| Some(sender.as_str())).collect(),
        };
        let mut packing = Packing::default();
        let (mut seen, mut first) = (Vec::new(), None);
        // One sender at a time, since the packets of all would take much memory.
        for sender in senders {
            let evaluation = Evaluation::by_detectors(DETECTORS.len());
            let recording = self.recording(request, sender, &evaluation)?;
            let flow = shown_flow(&recording, request)?;
            first.get_or_insert_with(|| {
                (flow.clone(), flow_names(&recording), disturbances(&recording))
            });
            seen.push(sender_seen(&recording, (&flow, request), &mut packing)?);
        }
        let (flow, flows, disturbances) = first.unwrap_or_default();
        let head = json!({
            "flow": flow,
            "flows": flows,
            "disturbances": disturbances,
            "seed": request.seed,
            "place": request.place.name(),
            "end_s": latest_end(&seen),
            "senders": seen,
        });
        Ok(packing.answer(&head))
    }
}

/// The flow to show: the requested one, or the first.
pub(crate) fn shown_flow(recording: &Recording, request: &Request) -> Result<String, RequestError> {
    let flows = flow_names(recording);
    let requested = request.flow.as_ref().filter(|flow| flows.contains(flow));
    requested.or(flows.first()).cloned().ok_or_else(|| {
        let expected = "let one start earlier, or it last longer";
        RequestError::request(format!("no connection begins within the run; {expected}"))
    })
}

fn flow_names(recording: &Recording) -> Vec<String> {
    let mut known = HashSet::new();
    let names = recording.connections.iter().map(|row| row.flow.to_string());
    names.filter(|name| known.insert(name.clone())).collect()
}

/// The data of a flow's sender.
pub(crate) fn sender_seen(
    recording: &Recording,
    (flow, request): (&str, &Request),
    packing: &mut Packing,
) -> Result<Value, RequestError> {
    let trace = FlowTrace::of(recording, flow)
        .ok_or_else(|| RequestError::request(format!("no flow {flow:?} in this run")))?;
    let mut seen = packets::seen(&trace, request, packing);
    seen["name"] = json!(&*trace.connection.flow_sender);
    seen["end_s"] = json!(trace.end_s());
    seen["totals"] = totals(trace.connection);
    seen["timeouts"] = timeouts::timeouts(recording, &trace, request.timeouts);
    seen["all_timeouts"] = json!(trace.timeouts.len());
    Ok(seen)
}

/// The totals of a connection for the comparison of senders.
fn totals(row: &ConnectionRow) -> Value {
    let timeouts = row.truths.map(|[timeouts, _]| timeouts);
    json!({
        "completed": row.end.is_some(),
        "elapsed_s": row.elapsed().map(Duration::secs_f64),
        "goodput_bps": row.goodput_bps(),
        "segments": row.segments,
        "retransmissions": row.retransmissions,
        "needed": row.retransmissions - row.unneeded,
        "unneeded": row.unneeded,
        "lost": row.lost.total(),
        "timeouts": row.timeouts,
        "spurious_timeouts": timeouts.map(|timeouts| timeouts.spurious),
        "ack_lost_timeouts": timeouts.map(|timeouts| timeouts.ack_lost),
        "genuine_timeouts": timeouts.map(|timeouts| timeouts.genuine),
        "fast_retransmits": row.fast_retransmits,
        "found_spurious": row.found_spurious,
    })
}

/// Disturbances of the links, in order of time.
pub(crate) fn disturbances(recording: &Recording) -> Value {
    let mut known = HashSet::new();
    let key = |row: &&rtolab_record::DisturbanceRow| {
        known.insert((row.link.clone(), row.direction_name(), row.kind_name(), row.from, row.to))
    };
    let mut rows: Vec<_> = recording.disturbances.iter().filter(key).collect();
    rows.sort_by_key(|row| row.from);
    let shown = rows.iter().take(MOST_DISTURBANCES).map(|row| {
        json!({
            "link": &*row.link,
            "direction": row.direction_name(),
            "kind": row.kind_name(),
            "from_s": row.from.secs_f64(),
            "to_s": row.to.secs_f64(),
        })
    });
    shown.collect()
}

/// The latest end of the senders' runs, in seconds.
pub(crate) fn latest_end(seen: &[Value]) -> f64 {
    seen.iter().filter_map(|one| one["end_s"].as_f64()).fold(0.0, f64::max)
}
