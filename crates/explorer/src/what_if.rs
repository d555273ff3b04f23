//! The outcome of a transfer without one timeout, and with other senders from it on.

use rtolab_record::{Comparison, TimeoutKind, TimeoutRow, Truth, WhatIfRow};
use rtolab_time::Instant;
use serde_json::{Value, json};

use crate::branch::no_timeout;
use crate::lab::Evaluation;
use crate::request::Request;
use crate::request_error::RequestError;
use crate::run::shown_flow;
use crate::{Explorer, json as text};

impl Explorer<'_> {
    /// The cost of the requested timeout, and the end of the transfer with each other sender.
    pub(crate) fn what_if(&mut self, request: &Request) -> Result<Vec<u8>, RequestError> {
        let sender = request.sender()?;
        let original = self.recording(request, Some(sender), &Evaluation::by_detectors(1))?;
        let flow = shown_flow(&original, request)?;
        let is_it = |row: &&TimeoutRow| {
            (&*row.flow, row.seq, row.kind) == (&flow, request.seq, TimeoutKind::Timeout)
                && is_at(row.at, request)
        };
        let timeout = original.timeouts.iter().find(is_it);
        let timeout = timeout.ok_or_else(|| no_timeout(request.at_s))?;
        let connection = original.connections.iter().find(|row| *row.flow == *flow);
        let end = connection.and_then(|row| row.end);
        let mut others = Vec::new();
        for other in &request.others {
            others.push(match self.other(request, (sender, other), &flow) {
                Err(failure) if failure.is_stopped => return Err(failure),
                Err(failure) => json!({"sender": other, "error": failure.message}),
                Ok(found) => found,
            });
        }
        Ok(text(&json!({
            "at_s": timeout.at.secs_f64(),
            "truth": timeout.truth.map(Truth::name),
            "cost_s": timeout.cost.and_then(|cost| cost.later_s()),
            "cost_segments": timeout.cost.as_ref().map(Comparison::more_segments),
            "end_s": end.map(Instant::secs_f64),
            "completed": end.is_some(),
            "others": others,
        })))
    }

    /// The end of the transfer with another sender from the timeout on.
    fn other(
        &mut self,
        request: &Request,
        (sender, other): (&str, &str),
        flow: &str,
    ) -> Result<Value, RequestError> {
        let what_if = vec![other.to_string()];
        let evaluation = Evaluation { what_if, ..Evaluation::default() };
        let recording = self.recording(request, Some(sender), &evaluation)?;
        let is_it = |row: &&WhatIfRow| {
            &*row.flow == flow && row.seq == request.seq && is_at(row.at, request)
        };
        let row = recording.what_ifs.iter().find(is_it);
        let row = row.ok_or_else(|| RequestError::request("the connection was not open yet"))?;
        Ok(json!({
            "sender": other,
            "end_s": row.comparison.other.end.map(Instant::secs_f64),
            // The other way round: how much later the transfer ends with the other sender.
            "time_s": row.comparison.later_s().map(|later| 0.0 - later),
            "segments": -row.comparison.more_segments(),
        }))
    }
}

/// Did it happen at the requested time? Both have passed through seconds.
fn is_at(at: Instant, request: &Request) -> bool {
    at == Instant::from_secs_f64(request.at_s)
}
