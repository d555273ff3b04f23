//! Random early detection, as written.

use rtolab_settings::{Positive, Settings};
use rtolab_time::Duration;

use crate::formats::{NotNegative, Reals, Share};

/// Random early detection (Floyd and Jacobson 1993). Thresholds are in packets, or in bytes if the
/// queue is limited in bytes.
#[derive(Clone, Copy, Debug, Settings)]
pub(crate) struct Red {
    /// The average queue below which no packet is dropped.
    #[setting(format = Reals<NotNegative>, required, example = "5")]
    pub min: f64,
    /// The average queue above which every packet is dropped (with gentle, twice this).
    #[setting(format = Reals<NotNegative>, required, example = "15")]
    pub max: f64,
    /// The probability of a drop when the average reaches max (Floyd and Jacobson: p_b). A smaller
    /// share of the packets is dropped, about p_b/1.5, because ns-2's spacing (`wait_`) leaves
    /// 1/p_b to 2/p_b - 1 packets between two drops.
    #[setting(format = Reals<Share>, default = 0.1)]
    pub max_p: f64,
    /// The weight of the newest queue length in the average.
    #[setting(format = Reals<Share>, default = 0.002, example = "0.002")]
    pub weight: f64,
    /// Does the probability rise to 1 between max and twice max, instead of jumping at max?
    #[setting(default = true)]
    pub gentle: bool,
    /// Does max_p adapt so that the average stays half-way between min and max?
    pub adaptive: bool,
    /// Are packets of ECN-capable senders marked instead of dropped (RFC 3168)?
    pub ecn: bool,
    /// The transmission time of a packet, for the decay of the average in idle times.
    #[setting(
        format = Positive,
        example = "1 ms",
        unset = "that of a full segment at the link's rate"
    )]
    pub packet_time: Option<Duration>,
}
