//! The response of the Eifel algorithm: Ludwig and Katz, "The Eifel Algorithm: Making TCP Robust
//! Against Spurious Retransmissions", 2000.

use super::{ResponseAction, ResponseContext, baseline, reversal};

/// Restores `cwnd` and `ssthresh`.
pub(super) fn full(context: &ResponseContext) -> Option<ResponseAction> {
    let before = context.before;
    reversal(context, ResponseAction::windows(before.cwnd, before.ssthresh))
}

/// Restores both windows after one timeout of the segment, half of cwnd after two, nothing after
/// more.
pub(super) fn scaled(context: &ResponseContext) -> Option<ResponseAction> {
    match context.episode.map_or(1, |episode| episode.timeouts) {
        0 | 1 => full(context),
        2 => {
            let half = context.before.cwnd / 2;
            reversal(context, ResponseAction::windows(half, half.max(2 * context.smss)))
        }
        _ => baseline::stop_gbn(context),
    }
}
