//! The response of FreeBSD: bad retransmit recovery of `tcp_input.c`.

use super::{ResponseAction, ResponseContext, reversal};

/// Restores `cwnd`, `ssthresh`, `recover` and the fast recovery that was under way.
pub(super) fn bad_rexmit(context: &ResponseContext) -> Option<ResponseAction> {
    let windows = ResponseAction::windows(context.before.cwnd, context.before.ssthresh);
    reversal(context, ResponseAction { restores_recovery: true, ..windows })
}
