//! The estimator of RFC 6298 section 2.

use rtolab_time::Duration;

use super::Estimate;
use super::smoothing::{Smoothed, abs_diff, ewma, min_rto};
use crate::config::RtoConfig;

/// Takes a sample `r`. The gains are divided by `samples`, the expected number per window (RFC 7323
/// appendix G), which is 1 with the plain rules.
#[inline]
pub(super) fn smooth(
    last: Option<Estimate>,
    r: Duration,
    samples: u32,
    config: &RtoConfig,
) -> Smoothed {
    let estimate = match last {
        // Section 2.2, the first sample R: SRTT <- R, RTTVAR <- R/2
        None => Estimate { srtt: r, rttvar: r / 2 },
        // Section 2.3, another sample R', RTTVAR first:
        //              RTTVAR <- (1 - beta) * RTTVAR + beta * |SRTT - R'|
        //              SRTT <- (1 - alpha) * SRTT + alpha * R'
        Some(Estimate { srtt, rttvar }) => Estimate {
            rttvar: ewma(rttvar, abs_diff(srtt, r), config.rttvar_gain.saturating_mul(samples)),
            srtt: ewma(srtt, r, config.srtt_gain.saturating_mul(samples)),
        },
    };
    // Sections 2.2 and 2.3: RTO <- SRTT + max (G, K*RTTVAR)
    let k_rttvar = estimate.rttvar * u64::from(config.k);
    let rto = estimate.srtt + k_rttvar.max(config.granularity);
    Smoothed { estimate, rto, min_rto: min_rto(config.floor) }
}
