//! The timeout after a spurious one: RFC 4015 section 3.2 step 11.

use rtolab_time::Duration;

use super::{Estimate, RttEstimator};

impl RttEstimator {
    /// The first round trip of data that were sent after a spurious timeout: SRTT and RTTVAR are
    /// not below those of `before`. An estimator in scaled ticks, as of ns-2, keeps its own.
    pub(crate) fn adapt(&mut self, before: Estimate, rtt: Duration) {
        let srtt = before.srtt.max(rtt);
        let rttvar = before.rttvar.max(rtt / 2);
        self.estimate = Some(Estimate { srtt, rttvar });
        let margin = (rttvar * 4).max(self.config.rto.granularity);
        let rto = (srtt + margin).max(self.config.rto.floor.duration());
        self.rto = rto.min(self.config.rto.max);
    }
}
