//! The Eifel retransmission timer: Ludwig and Sklower, "The Eifel Retransmission Timer", ACM
//! Computer Communication Review 30(3), July 2000.
//!
//! The rules below are from public descriptions and implementations of the paper (its abstract; the
//! notes and the code of a port to `CoAP` in Contiki). `DELTA` is the sample minus SRTT, and
//! `FLIGHT` the number of segments outstanding:
//!
//! ```text
//! GAIN   = 1 / FLIGHT if every segment is timed, 2 / FLIGHT if each of the delayed
//!          acknowledgments gives a sample, 1/3 if there is one sample per round trip
//! SRTT   = SRTT + GAIN * DELTA
//! RTTVAR = RTTVAR + GAIN * (DELTA - RTTVAR)         if RTTVAR <= DELTA
//!          RTTVAR + GAIN * GAIN * (DELTA - RTTVAR)  if 0 <= DELTA < RTTVAR ("shock absorber")
//!          RTTVAR                                   if DELTA < 0
//! RTO    = max(SRTT + RTTVAR / GAIN, sample + 2 ticks)
//! ```
//!
//! Two rules are ours, because the descriptions do not have them: the first sample counts as in RFC
//! 6298, and the gain is never above 1/3, even with fewer than three samples per round trip. The
//! paper's minimum applies in addition to the configured floor.

use rtolab_time::Duration;

use super::Estimate;
use super::smoothing::{Smoothed, ewma, min_rto};
use crate::config::RtoConfig;

/// The inverse of the largest gain, that of one sample per round trip.
const LEAST_INVERSE_GAIN: u32 = 3;

/// Takes a sample; `samples` is the expected number per window.
pub(super) fn smooth(
    last: Option<Estimate>,
    sample: Duration,
    samples: u32,
    config: &RtoConfig,
) -> Smoothed {
    // GAIN = 1 / inverse_gain
    let inverse_gain = samples.max(LEAST_INVERSE_GAIN);
    let estimate = match last {
        None => Estimate { srtt: sample, rttvar: sample / 2 },
        Some(Estimate { srtt, rttvar }) => Estimate {
            // SRTT + GAIN * DELTA
            srtt: ewma(srtt, sample, inverse_gain),
            rttvar: match sample.saturating_sub(srtt) {
                _ if sample < srtt => rttvar,
                // RTTVAR + GAIN * GAIN * (DELTA - RTTVAR)
                delta if delta < rttvar => {
                    ewma(rttvar, delta, inverse_gain.saturating_mul(inverse_gain))
                }
                // RTTVAR + GAIN * (DELTA - RTTVAR)
                delta => ewma(rttvar, delta, inverse_gain),
            },
        },
    };
    // max(SRTT + RTTVAR / GAIN, sample + 2 ticks)
    let rto = estimate.srtt + estimate.rttvar.saturating_mul(u64::from(inverse_gain));
    let min_rto = min_rto(config.floor).max(sample + config.granularity * 2);
    Smoothed { estimate, rto, min_rto }
}
