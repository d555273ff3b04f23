//! The parts that the estimators share: exponential averages and the result of a sample.

use rtolab_time::Duration;

use super::Estimate;
use crate::config::RtoFloor;

/// The estimate and the RTO after a sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Smoothed {
    pub estimate: Estimate,
    /// The RTO before minimum, slop and maximum apply.
    pub rto: Duration,
    /// The minimum of the RTO.
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

/// The minimum of the RTO (RFC 6298 section 2.4); zero if the floor applies to something else.
pub(super) const fn min_rto(floor: RtoFloor) -> Duration {
    match floor {
        RtoFloor::Total(floor) => floor,
        RtoFloor::Variance(_) | RtoFloor::BackedOff(_) | RtoFloor::DelayedAck(..) => Duration::ZERO,
    }
}
