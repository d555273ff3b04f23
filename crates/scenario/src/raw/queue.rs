//! What a queue takes and who passes it by.

use schemars::JsonSchema;
use serde::Deserialize;

use super::parsed::{Parsed, Real};
use super::spans::Length;
use crate::formats::{NotNegative, Share};
use rtolab_settings::{Positive, Size};

/// Random early detection (Floyd and Jacobson 1993). Thresholds are in packets, or in bytes if the
/// queue is limited in bytes.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { min = 5, max = 15 }")]
pub(crate) struct Red {
    /// The average queue below which no packet is dropped.
    #[schemars(example = 5)]
    pub min: Real<NotNegative>,
    /// The average queue above which every packet is dropped (with gentle, twice this).
    #[schemars(example = 15)]
    pub max: Real<NotNegative>,
    /// The probability of a drop when the average reaches max. Default: 0.1.
    pub max_p: Option<Real<Share>>,
    /// The weight of the newest queue length in the average. Default: 0.002.
    #[schemars(example = 0.002)]
    pub weight: Option<Real<Share>>,
    /// Does the probability rise to 1 between max and twice max, instead of jumping at max?
    /// Default: true.
    pub gentle: Option<bool>,
    /// Does max_p adapt so that the average stays half-way between min and max? Default: false.
    pub adaptive: Option<bool>,
    /// Are packets of ECN-capable senders marked instead of dropped (RFC 3168)? Default: false.
    pub ecn: Option<bool>,
    /// The transmission time of a packet, for the decay of the average in idle times. Default: that
    /// of a full segment at the link's rate.
    #[schemars(example = &"1 ms")]
    pub packet_time: Option<Parsed<Positive>>,
}

/// Controlled delay (RFC 8289).
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct CoDel {
    /// The accepted standing delay (TARGET). Default: 5 ms.
    #[schemars(example = &"5 ms")]
    pub target: Option<Parsed<Positive>>,
    /// The time for which the delay must stay above it (INTERVAL). Default: 100 ms.
    #[schemars(example = &"100 ms")]
    pub interval: Option<Parsed<Positive>>,
    /// Are packets of ECN-capable senders marked instead of dropped? Default: false.
    pub ecn: Option<bool>,
}

/// A source of higher priority that alternates between talking and silence.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Priority {
    /// The time for which it is silent.
    #[schemars(example = serde_json::json!({ "exponential": "1 s" }))]
    pub good: Length,
    /// The time for which it talks.
    #[schemars(example = serde_json::json!({ "exponential": "0.5 s" }))]
    pub bad: Length,
    /// The state at the beginning: as if the process had run for ever (the default), or a new
    /// silence.
    pub stationary: Option<bool>,
    /// The time between its packets while it talks.
    #[schemars(example = &"20 ms")]
    pub every: Parsed<Positive>,
    /// The size of such a packet.
    #[schemars(example = &"72 B")]
    pub packet: Parsed<Size<1, 65_535>>,
}
