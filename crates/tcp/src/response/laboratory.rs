//! Responses for comparison.

use super::{Growth, ResponseAction, ResponseContext};

/// Ends go-back-N, and keeps the reduction.
pub(super) fn stop_gbn(_: &ResponseContext) -> Option<ResponseAction> {
    Some(ResponseAction { growth: Growth::Usual, ..ResponseAction::default() })
}
