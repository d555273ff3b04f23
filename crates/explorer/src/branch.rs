//! A run beside its fork at a timeout.

use rtolab_sim::Branch;
use rtolab_time::Instant;
use serde_json::json;

use crate::Explorer;
use crate::lab::{Evaluation, OBSERVE, lab};
use crate::packing::Packing;
use crate::request::Request;
use crate::request_error::RequestError;
use crate::run::{complete_totals, disturbances, latest_end, sender_seen, shown_flow};

impl Explorer<'_> {
    /// The run and its fork as data for the figures. In the fork the timeout does not happen, or
    /// the first of the other senders continues from it.
    pub(crate) fn branch(&mut self, request: &Request) -> Result<Vec<u8>, RequestError> {
        let (sender, other) = (request.sender()?, request.others.first().map(String::as_str));
        let original = self.recording(request, Some(sender), &Evaluation::default())?;
        let flow = shown_flow(&original, request)?;
        let scenario = request.scenario(self.texts)?;
        let lab = lab(&scenario, Some(sender), &Evaluation::default())?;
        let at = Instant::from_secs_f64(request.at_s);
        let branch = Branch { flow: flow.clone(), at, seq: request.seq };
        let changed = lab
            .branch(&scenario, (branch, other), (lab.named(0, request.seed), OBSERVE))
            .map_err(|error| RequestError::sender(&error))?
            .ok_or_else(|| no_timeout(request.at_s))?;
        let mut packing = Packing::default();
        let alternative = match other {
            Some(other) => format!("{other} from there on"),
            None => format!("{sender}, if it had not fired"),
        };
        let runs = [(format!("{sender}, the actual run"), &original), (alternative, &changed)];
        let mut senders = Vec::new();
        for (name, recording) in runs {
            let mut seen = sender_seen(recording, (&flow, request), &mut packing)?;
            seen["name"] = json!(name);
            complete_totals(&mut seen["totals"], (recording, &flow), (&scenario, lab.end()));
            senders.push(seen);
        }
        let head = json!({
            "flow": flow,
            "disturbances": disturbances(&original),
            "seed": request.seed,
            "place": request.place.name(),
            "end_s": latest_end(&senders),
            "senders": senders,
        });
        Ok(packing.answer(&head))
    }
}

/// The run has no timeout at this time, in seconds.
pub(crate) fn no_timeout(at_s: f64) -> RequestError {
    let expected = "run again, and choose one of the table";
    RequestError::request(format!("no timeout at {at_s} s; {expected}"))
}
