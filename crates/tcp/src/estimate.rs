//! The round-trip estimate, which the timeout follows from and responses may set.

use rtolab_time::Duration;

/// SRTT and RTTVAR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The smoothed round-trip time.
    pub srtt: Duration,
    /// Its variation: smoothed, or a quarter of what the timeout adds to SRTT where the floor is
    /// one of the variance.
    pub rttvar: Duration,
}
