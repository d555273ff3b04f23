//! What a queue takes and who passes it by.

use schemars::JsonSchema;
use serde::Deserialize;

use super::parsed::{NotNegative, Parsed, Real, Share};
use super::quantity::{Positive, Size};
use super::spans::Length;

/// Random early detection (Floyd and Jacobson 1993). Thresholds are in packets, or in bytes where
/// the queue is limited in bytes.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { min = 5, max = 15 }")]
pub(crate) struct Red {
    /// Below this average nothing is dropped.
    #[schemars(example = 5)]
    pub min: Real<NotNegative>,
    /// Above this average everything is, or twice this where gentle.
    #[schemars(example = 15)]
    pub max: Real<NotNegative>,
    /// The chance of a drop as the average reaches max. Default: 0.1.
    pub max_p: Option<Real<Share>>,
    /// The weight of the newest queue length in the average. Default: 0.002.
    #[schemars(example = 0.002)]
    pub weight: Option<Real<Share>>,
    /// Does the chance rise to 1 between max and twice max, instead of jumping? Default: true.
    pub gentle: Option<bool>,
    /// Does max_p adapt so that the average stays half-way? Default: false.
    pub adaptive: Option<bool>,
    /// Are packets of ECN-capable senders marked instead of dropped (RFC 3168)? Default: false.
    pub ecn: Option<bool>,
    /// How long a packet takes to send, for the decay of the average in idle times. Default: as
    /// long as a full segment at the link's rate.
    #[schemars(example = &"1 ms")]
    pub packet_time: Option<Parsed<Positive>>,
}

/// Controlled delay (RFC 8289).
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct CoDel {
    /// The standing delay that is accepted. Default: 5 ms.
    #[schemars(example = &"5 ms")]
    pub target: Option<Parsed<Positive>>,
    /// How long the delay must stay above it. Default: 100 ms.
    #[schemars(example = &"100 ms")]
    pub interval: Option<Parsed<Positive>>,
    /// Are packets of ECN-capable senders marked instead of dropped? Default: false.
    pub ecn: Option<bool>,
}

/// A source of higher priority that talks and is silent in turn.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Priority {
    /// How long it is silent.
    #[schemars(example = serde_json::json!({ "exponential": "1 s" }))]
    pub good: Length,
    /// How long it talks.
    #[schemars(example = serde_json::json!({ "exponential": "0.5 s" }))]
    pub bad: Length,
    /// Does it begin as if it had run for ever (the default), or with a fresh silence?
    pub stationary: Option<bool>,
    /// The time between its packets while it talks.
    #[schemars(example = &"20 ms")]
    pub every: Parsed<Positive>,
    /// The size of such a packet.
    #[schemars(example = &"72 B")]
    pub packet: Parsed<Size<1, 65_535>>,
}
