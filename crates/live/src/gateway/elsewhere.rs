//! Other systems than Linux: every call is an error.

use super::error::GatewayError;
use super::{Gateway, GatewayCounts, Takes};

pub(super) fn run(
    _: &Gateway,
    _: &mut dyn FnMut(Takes),
    _: &mut dyn FnMut() -> bool,
) -> Result<GatewayCounts, GatewayError> {
    Err(GatewayError::NotLinux)
}
