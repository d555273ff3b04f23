//! Responses that no standard specifies, to compare others with.

use super::{Growth, ResponseAction, ResponseContext};

/// Stops go-back-N after a spurious timeout, but keeps the reduced cwnd.
pub(super) fn stop_gbn(_: &ResponseContext) -> Option<ResponseAction> {
    Some(ResponseAction { growth: Growth::Normal, ..ResponseAction::default() })
}
