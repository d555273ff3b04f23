//! The undo of Linux: `net/ipv4/tcp_input.c`.

use super::{ResponseAction, ResponseContext, reversal};

/// `tcp_undo_cwnd_reduction`: each window becomes the larger of its current and its prior value.
pub(super) fn undo_cwnd_reduction(context: &ResponseContext) -> Option<ResponseAction> {
    let ResponseContext { now, before, .. } = *context;
    let (cwnd, ssthresh) = (now.cwnd.max(before.cwnd), now.ssthresh.max(before.ssthresh));
    reversal(context, ResponseAction::windows(cwnd, ssthresh))
}
