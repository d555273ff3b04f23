//! A run of each sender as data for the figures.

use std::collections::HashSet;

use rtolab_record::{ConnectionRow, Recording};
use rtolab_scenario::{Scenario, Workload};
use rtolab_time::{Duration, Instant};
use serde_json::{Value, json};

use crate::lab::WatchedRun;
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
            let WatchedRun { scenario, lab, recording, path } = self.watched(request, sender)?;
            let flow = shown_flow(&recording, request)?;
            first.get_or_insert_with(|| {
                (flow.clone(), flow_names(&recording), disturbances(&recording))
            });
            let mut one = sender_seen(&recording, (&flow, request), &mut packing)?;
            one["path"] = path.seen((&scenario, &lab), (&flow, &recording), &mut packing);
            complete_totals(&mut one["totals"], (&recording, &flow), (&scenario, lab.end()));
            seen.push(one);
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

/// Adds whether a transfer has no end, when its run was cut, and the goodput until then.
pub(crate) fn complete_totals(
    totals: &mut Value,
    (recording, flow): (&Recording, &str),
    (scenario, end): (&Scenario, Instant),
) {
    let workload = scenario.flows.iter().find(|one| one.name == flow).map(|one| &one.workload);
    totals["endless"] = json!(workload.is_some_and(is_endless));
    let Some(row) = recording.connections.iter().find(|row| &*row.flow == flow) else { return };
    if row.end.is_none() {
        totals["cut_s"] = json!(end.secs_f64());
        let elapsed = end.since(row.start).secs_f64();
        totals["goodput_bps"] = json!((elapsed > 0.0).then(|| row.bytes as f64 * 8.0 / elapsed));
    }
}

/// Does a flow of this workload go on as long as the run?
const fn is_endless(workload: &Workload) -> bool {
    match workload {
        Workload::Bulk { bytes } => bytes.is_none(),
        Workload::Pages { count, .. } | Workload::Requests { count, .. } => count.is_none(),
        Workload::OnOff { .. } | Workload::Datagrams { .. } => true,
    }
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
