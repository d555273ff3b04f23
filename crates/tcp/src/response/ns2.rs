//! F-RTO as simulated: `spurious_response_` of ns-2.35, `tcp.cc` and `tcp-sack1.cc`.

use super::{ResponseAction, ResponseContext, reversal};

/// `spurious_response_` 1: cwnd = `t_seqno_ - prev_highest_ack_`, the distance from the last
/// acknowledged segment to the next one to send.
pub(super) fn full(context: &ResponseContext) -> Option<ResponseAction> {
    let cwnd = context.flight_before_ack + context.smss;
    let before = context.before;
    reversal(context, ResponseAction::windows(cwnd, before.cwnd.max(before.ssthresh)))
}

/// `spurious_response_` 2: slow start from the halved window.
pub(super) fn half(context: &ResponseContext) -> Option<ResponseAction> {
    reversal(context, ResponseAction::windows(context.now.ssthresh, context.pipe_prev))
}

/// `spurious_response_` 3: slow start from one segment.
pub(super) fn slow_start(context: &ResponseContext) -> Option<ResponseAction> {
    let before = context.before;
    reversal(context, ResponseAction::windows(context.smss, before.cwnd.max(before.ssthresh)))
}
