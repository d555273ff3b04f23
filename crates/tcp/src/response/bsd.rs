//! The response of FreeBSD: `tcp_input.c`, bad retransmit recovery.

use super::{ResponseAction, ResponseContext, reversal};

/// `cwnd`, `ssthresh`, `recover` and the fast recovery under way are as before.
pub(super) fn bad_rexmit(context: &ResponseContext) -> Option<ResponseAction> {
    let windows = ResponseAction::windows(context.before.cwnd, context.before.ssthresh);
    reversal(context, ResponseAction { restores_recovery: true, ..windows })
}
