//! The Eifel response algorithm: RFC 4015 section 3.2.

use super::{ResponseAction, ResponseContext, reversal};
use crate::estimate::Estimate;

/// The steps for a timeout; for a fast retransmit there are none.
pub(super) fn respond(context: &ResponseContext) -> Option<ResponseAction> {
    let ResponseContext { now, before, .. } = *context;
    if context.is_of_fast_retransmit() {
        return None;
    }
    // Step 0: pipe_prev <- max (FlightSize, ssthresh); SRTT_prev <- SRTT + 2 * G,
    //         RTTVAR_prev <- RTTVAR.
    let pipe_prev = before.flight.max(before.ssthresh);
    let prev =
        |before: Estimate| Estimate { srtt: before.srtt + context.granularity * 2, ..before };
    // Step 9: cwnd <- FlightSize + min (bytes_acked, IW); ssthresh <- pipe_prev.
    let cwnd = now.flight + context.acked.min(context.initial_window);
    let action = ResponseAction {
        // Step 10: T_last of congestion window validation is now.
        restarts_validation: true,
        // Step 11: SRTT <- max (SRTT_prev, R'), RTTVAR <- max (RTTVAR_prev, R'/2).
        adapt_from: before.estimate.map(prev),
        ..ResponseAction::windows(cwnd, pipe_prev)
    };
    reversal(context, action)
}
