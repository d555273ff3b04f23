//! Responses to compare others with.

use super::{Growth, ResponseAction, ResponseContext};

/// Go-back-N ends, and the reduction stands.
pub(super) fn stop_gbn(_: &ResponseContext) -> Option<ResponseAction> {
    Some(ResponseAction { growth: Growth::Usual, ..ResponseAction::default() })
}
