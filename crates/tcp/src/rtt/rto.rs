//! The retransmission timeout with its bounds.

use rtolab_time::Duration;

use crate::config::RtoConfig;

/// The retransmission timeout without its back-off, never above the maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rto(Duration);

impl Rto {
    /// `rto`, but not below `min_rto` (RFC 6298 section 2.4) nor above the maximum (section 2.5).
    #[inline]
    pub fn new(rto: Duration, min_rto: Duration, config: &RtoConfig) -> Self {
        Self(rto.max(min_rto).min(config.max))
    }

    #[inline]
    pub const fn get(self) -> Duration {
        self.0
    }

    /// The RTO after `backoff` back-offs. Section 5.5, once for each: RTO <- RTO * 2. Before that
    /// it is not below `min_rto`, after it not below `least` nor above the maximum. The `slop` that
    /// it contains is not doubled.
    pub fn with_backoff(
        self,
        backoff: u32,
        (min_rto, least, slop): (Duration, Duration, Duration),
        config: &RtoConfig,
    ) -> Duration {
        let factor = 1_u64.checked_shl(backoff).unwrap_or(u64::MAX);
        let rto = self.0.saturating_sub(slop).max(min_rto).saturating_mul(factor);
        (rto.max(least) + slop).min(config.max)
    }
}
