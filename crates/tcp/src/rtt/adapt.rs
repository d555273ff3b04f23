//! The timeout after a spurious one: RFC 4015 section 3.2 step 11.

use rtolab_time::Duration;

use super::rto::Rto;
use super::{Estimate, RttEstimator};

impl RttEstimator {
    /// The first round trip of data that were sent after a spurious timeout: SRTT and RTTVAR are
    /// not below those of `before`. An estimator in scaled ticks, as of ns-2, keeps its own.
    pub(crate) fn adapt(&mut self, before: Estimate, rtt: Duration) {
        let config = &self.config.rto;
        // SRTT <- max (SRTT_prev, R'), RTTVAR <- max (RTTVAR_prev, R'/2)
        let srtt = before.srtt.max(rtt);
        let rttvar = before.rttvar.max(rtt / 2);
        self.estimate = Some(Estimate { srtt, rttvar });
        // RTO <- SRTT + max (G, 4*RTTVAR)
        let rto = srtt + config.granularity.max(rttvar * 4);
        self.rto = Rto::new(rto, config.floor.duration(), config);
    }
}
