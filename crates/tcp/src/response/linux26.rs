//! Responses of Linux 2.6.22 to 3.9: `tcp_frto_response` of `net/ipv4/tcp_input.c`.
//!
//! F-RTO of these versions kept `cwnd`. These responses use FlightSize before the ACK in its place.

use super::{Growth, ReductionOutcome, ResponseAction, ResponseContext, reversal};

/// `tcp_frto_response` 0: rate halving to `ssthresh`.
pub(super) fn ratehalving_spur_to_response(context: &ResponseContext) -> Option<ResponseAction> {
    Some(ResponseAction {
        cwnd: Some(context.flight_before_ack),
        reduction: ReductionOutcome::RateHalving,
        growth: Growth::Normal,
        ..ResponseAction::default()
    })
}

/// `tcp_frto_response` 1: half of the window at once.
pub(super) fn conservative_spur_to_response(context: &ResponseContext) -> Option<ResponseAction> {
    Some(ResponseAction {
        cwnd: Some(context.flight_before_ack.min(context.now.ssthresh)),
        moderates_cwnd: true,
        growth: Growth::Normal,
        ..ResponseAction::default()
    })
}

/// `tcp_frto_response` 2: `tcp_undo_cwr`, with `tcp_current_ssthresh` of the state before the
/// timeout.
pub(super) fn undo_spur_to_response(context: &ResponseContext) -> Option<ResponseAction> {
    let ResponseContext { now, before, .. } = *context;
    if context.congestion_echoed {
        return ratehalving_spur_to_response(context);
    }
    let current = if context.was_recovering { 0 } else { before.cwnd / 4 * 3 };
    let prior_ssthresh = before.ssthresh.max(current);
    let cwnd = context.flight_before_ack.max(now.ssthresh.saturating_mul(2));
    let windows = ResponseAction::windows(cwnd, now.ssthresh.max(prior_ssthresh));
    // The window grows for this acknowledgment, too.
    reversal(context, ResponseAction { growth: Growth::Normal, ..windows })
}
