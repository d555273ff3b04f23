//! The Eifel retransmission timer: Ludwig and Sklower, "The Eifel Retransmission Timer", ACM Computer
//! Communication Review 30(3), July 2000.
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

use super::{Estimate, RttEstimator, distance, towards};
use crate::config::RtoFloor;

/// One in so many is the gain with one sample a round trip, and the most that it is.
const LEAST_LOAD: u32 = 3;

impl RttEstimator {
    /// Takes a sample.
    pub(super) fn eifel(&mut self, rtt: Duration) {
        let load = self.expected_samples.max(LEAST_LOAD);
        let estimate = match self.remembered() {
            None => Estimate { srtt: rtt, rttvar: rtt / 2 },
            Some(Estimate { srtt, rttvar }) => Estimate {
                srtt: towards(srtt, rtt, load),
                rttvar: match distance(rtt, srtt) {
                    _ if rtt < srtt => rttvar,
                    delta if delta < rttvar => towards(rttvar, delta, load.saturating_mul(load)),
                    delta => towards(rttvar, delta, load),
                },
            },
        };
        self.estimate = Some(estimate);
        let floor = match self.config.rto.floor {
            RtoFloor::Total(floor) => floor,
            RtoFloor::Variance(_) | RtoFloor::BackedOff(_) | RtoFloor::DelayedAck(..) => {
                Duration::ZERO
            }
        };
        let least = (rtt + self.config.rto.granularity * 2).max(floor);
        let rto = estimate.srtt + estimate.rttvar.saturating_mul(u64::from(load));
        self.set(rto, least);
    }
}
