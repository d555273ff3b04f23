//! Half of the previous window at once, and the rest by slow start.

use crate::response::{ReductionOutcome, ResponseAction, ResponseContext};

/// Restores half of the window that a spurious timeout took, and lets slow start find the rest.
/// Restores nothing if the peer has echoed congestion meanwhile.
pub fn halfway(context: &ResponseContext) -> Option<ResponseAction> {
    if context.congestion_echoed {
        return Some(ResponseAction::default());
    }
    let before = context.before.cwnd;
    Some(ResponseAction {
        cwnd: Some(before / 2),
        ssthresh: Some(before),
        reduction: ReductionOutcome::Undone,
        ..ResponseAction::default()
    })
}
