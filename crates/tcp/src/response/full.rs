//! The response of the Eifel algorithm: Ludwig and Katz, "The Eifel Algorithm: Making TCP Robust
//! Against Spurious Retransmissions", 2000.

use super::{ResponseAction, ResponseContext, laboratory, reversal};

/// `cwnd` and `ssthresh` are as before.
pub(super) fn full(context: &ResponseContext) -> Option<ResponseAction> {
    let before = context.before;
    reversal(context, ResponseAction::windows(before.cwnd, before.ssthresh))
}

/// By how often the timer expired for the segment.
pub(super) fn scaled(context: &ResponseContext) -> Option<ResponseAction> {
    match context.episode.map_or(1, |episode| episode.timeouts) {
        0 | 1 => full(context),
        2 => {
            let half = context.before.cwnd / 2;
            reversal(context, ResponseAction::windows(half, half.max(2 * context.smss)))
        }
        _ => laboratory::stop_gbn(context),
    }
}
