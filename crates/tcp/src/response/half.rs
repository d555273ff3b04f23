//! F-RTO as first published: report C-2002-07 section 3 step 3 i.

use super::{Growth, ResponseAction, ResponseContext};

/// Sets `cwnd` to the halved `ssthresh`.
pub(super) fn half(context: &ResponseContext) -> Option<ResponseAction> {
    let cwnd = Some(context.now.ssthresh);
    Some(ResponseAction { cwnd, growth: Growth::Normal, ..ResponseAction::default() })
}
