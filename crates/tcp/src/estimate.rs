//! The round-trip estimate, from which the RTO is computed and which responses may set.

use rtolab_time::Duration;

/// SRTT and RTTVAR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The smoothed round-trip time.
    pub srtt: Duration,
    /// The round-trip time variation. With a floor on the variance, as in Linux: the maximum of a
    /// window, a quarter of RTO - SRTT.
    pub rttvar: Duration,
}
