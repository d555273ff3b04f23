//! The Eifel retransmission timer: Ludwig and Sklower, "The Eifel Retransmission Timer", ACM
//! Computer Communication Review 30(3), July 2000.
//!
//! From public descriptions of the paper and implementations of it (its abstract; the notes and the
//! code of a port to `CoAP` in Contiki): gain, variation weight, what becomes of RTTVAR when the
//! round trip falls or varies less, and the minimum. With `DELTA` the sample less SRTT and `FLIGHT`
//! the segments outstanding,
//!
//! ```text
//! GAIN   = 1 / FLIGHT where every segment is timed, 2 / FLIGHT where the receiver delays
//!          acknowledgments and each is a sample, 1/3 where there is one sample a round trip
//! SRTT   = SRTT + GAIN * DELTA
//! RTTVAR = RTTVAR + GAIN * (DELTA - RTTVAR)         where RTTVAR <= DELTA
//!          RTTVAR + GAIN * GAIN * (DELTA - RTTVAR)  where 0 <= DELTA < RTTVAR ("shock absorber")
//!          RTTVAR                                   where DELTA < 0
//! RTO    = max(SRTT + RTTVAR / GAIN, sample + 2 ticks)
//! ```
//!
//! Not in those descriptions, and chosen here: the first sample counts as in RFC 6298, and the gain
//! is never above 1/3, also with fewer than three samples a round trip. The paper's own minimum
//! stands beside the floor that is configured.

use rtolab_time::Duration;

use super::Estimate;
use super::smoothing::{Smoothed, ewma, min_rto};
use crate::config::RtoConfig;

/// The inverse of the gain with one sample a round trip, which is the largest gain.
const LEAST_LOAD: u32 = 3;

/// Takes a sample, of which `samples` are expected in a window.
pub(super) fn smooth(
    last: Option<Estimate>,
    sample: Duration,
    samples: u32,
    config: &RtoConfig,
) -> Smoothed {
    // GAIN = 1 / load
    let load = samples.max(LEAST_LOAD);
    let estimate = match last {
        None => Estimate { srtt: sample, rttvar: sample / 2 },
        Some(Estimate { srtt, rttvar }) => Estimate {
            // SRTT + GAIN * DELTA
            srtt: ewma(srtt, sample, load),
            rttvar: match sample.saturating_sub(srtt) {
                _ if sample < srtt => rttvar,
                // RTTVAR + GAIN * GAIN * (DELTA - RTTVAR)
                delta if delta < rttvar => ewma(rttvar, delta, load.saturating_mul(load)),
                // RTTVAR + GAIN * (DELTA - RTTVAR)
                delta => ewma(rttvar, delta, load),
            },
        },
    };
    // max(SRTT + RTTVAR / GAIN, sample + 2 ticks)
    let rto = estimate.srtt + estimate.rttvar.saturating_mul(u64::from(load));
    let min_rto = min_rto(config.floor).max(sample + config.granularity * 2);
    Smoothed { estimate, rto, min_rto }
}
