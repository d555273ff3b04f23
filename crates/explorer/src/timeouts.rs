//! The timeouts of a flow with their ground truth and the verdicts of all detectors.

use std::collections::HashMap;

use rtolab_record::{Comparison, Place, Recording, TimeoutRow, Truth, VerdictRow};
use rtolab_time::Instant;
use serde_json::{Value, json};

use crate::trace::FlowTrace;

/// The first `most` timeouts of the sending host.
pub(crate) fn timeouts(recording: &Recording, trace: &FlowTrace<'_>, most: usize) -> Value {
    let mut verdicts: HashMap<_, Vec<Value>> = HashMap::new();
    let own =
        |row: &&VerdictRow| row.flow == trace.connection.flow && matches!(row.end, Place::Sender);
    for row in recording.verdicts.iter().filter(own) {
        let verdict = json!({
            "detector": row.detector.to_string(),
            "verdict": row.verdict,
            "why": row.why,
            "delay_s": row.verdict_at.map(|at| at.since(row.at).secs_f64()),
        });
        verdicts.entry((row.at, row.kind.name(), row.seq)).or_default().push(verdict);
    }
    let timeout = |row: &&TimeoutRow| {
        json!({
            "at_s": row.at.secs_f64(),
            "kind": row.kind.name(),
            "seq": row.seq,
            "rto_s": row.rto.secs_f64(),
            "backoff": row.backoff,
            "cwnd": row.cwnd,
            "needed": row.needed,
            "truth": row.truth.map(Truth::name),
            "cost_s": row.cost.and_then(|cost| cost.later_s()),
            "cost_segments": row.cost.as_ref().map(Comparison::more_segments),
            "verdict": row.verdict,
            "detector": row.detector.map(|detector| detector.to_string()),
            "verdict_at_s": row.verdict_at.map(Instant::secs_f64),
            "verdicts": verdicts.get(&(row.at, row.kind.name(), row.seq)).cloned().unwrap_or_default(),
        })
    };
    trace.timeouts.iter().take(most).map(timeout).collect()
}
