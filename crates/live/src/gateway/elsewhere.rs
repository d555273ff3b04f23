//! Other systems than Linux: every call is an error.

use super::error::GatewayError;
use super::{AddressFamilies, Gateway, GatewayCounts};

pub(super) fn run(
    _: &Gateway,
    _: &mut dyn FnMut(AddressFamilies),
    _: &mut dyn FnMut() -> bool,
) -> Result<GatewayCounts, GatewayError> {
    Err(GatewayError::NotLinux)
}
