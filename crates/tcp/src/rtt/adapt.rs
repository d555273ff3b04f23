//! The adaptation of the RTO after a spurious timeout (RFC 4015 section 3.2 step 11).

use rtolab_time::Duration;

use super::rto::Rto;
use super::{Estimate, RttEstimator};

impl RttEstimator {
    /// Takes the first round trip `rtt` of data sent after a spurious timeout, such that SRTT and
    /// RTTVAR are not below those of `before`. Estimators in scaled ticks keep their own state.
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
