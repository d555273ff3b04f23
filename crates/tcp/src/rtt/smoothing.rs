//! What the estimators share: exponential averages, and what a sample results in.

use rtolab_time::Duration;

use super::Estimate;
use crate::config::RtoFloor;

/// What a sample makes of the estimate and of the timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Smoothed {
    pub estimate: Estimate,
    /// The timeout, before floor, slop and ceiling.
    pub rto: Duration,
    /// Its floor.
    pub min_rto: Duration,
}

/// `(1 - 1/gain) * value + 1/gain * sample`, in whole nanoseconds: alpha and beta of RFC 6298 are
/// `1/gain`.
pub(super) fn ewma(value: Duration, sample: Duration, gain: u32) -> Duration {
    let step = abs_diff(value, sample) / u64::from(gain);
    if sample > value { value + step } else { value.saturating_sub(step) }
}

pub(super) fn abs_diff(a: Duration, b: Duration) -> Duration {
    if a > b { a - b } else { b - a }
}

/// The floor of RFC 6298 section 2.4, where it is on the timeout.
pub(super) const fn min_rto(floor: RtoFloor) -> Duration {
    match floor {
        RtoFloor::Total(floor) => floor,
        RtoFloor::Variance(_) | RtoFloor::BackedOff(_) | RtoFloor::DelayedAck(..) => Duration::ZERO,
    }
}
