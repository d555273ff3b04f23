//! Spans of time, at given instants or at random, and what happens in them.

use rtolab_link::{Distribution, Interval, SpikeHolds, StallHolds};
use rtolab_time::{Duration, Instant};
use schemars::JsonSchema;
use serde::Deserialize;

use super::quantity::Positive;
use super::value::{Chance, Written};

/// Sudden delays of single frames, drawn for each frame.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Spikes {
    /// The chance of a frame to be delayed.
    #[schemars(example = 0.02)]
    pub probability: Chance,
    /// By how much.
    pub length: Length,
    /// What waits for a delayed frame. Default: delivery.
    pub holds: Option<Written<SpikeHolds>>,
}

/// Spans in which frames are held.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Stalls {
    /// Stalls at given times.
    pub scripted: Option<Script>,
    /// Stalls at random times.
    pub random: Option<Renewal>,
    /// Where frames wait. Default: transmitter.
    pub holds: Option<Written<StallHolds>>,
}

/// Spans in which every frame whose transmission ends within is lost.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Outages {
    /// Outages at given times.
    pub scripted: Option<Script>,
    /// Outages at random times.
    pub random: Option<Renewal>,
}

/// Spans of two kinds that alternate at random, whatever the traffic does.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Renewal {
    /// The spans between.
    #[schemars(example = serde_json::json!({ "uniform": ["0.1 s", "20 s"] }))]
    pub good: Length,
    /// The spans in which it happens.
    #[schemars(example = serde_json::json!({ "exponential": "3.5 s" }))]
    pub bad: Length,
    /// Does it begin as if it had run for ever (the default), or with a fresh good span?
    pub stationary: Option<bool>,
}

/// How long a random span is.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "WrittenLength")]
#[schemars(example = serde_json::json!({ "exponential": "3.5 s" }))]
pub(crate) struct Length(#[schemars(with = "WrittenLength")] pub Distribution);

/// How long a random span is.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum WrittenLength {
    /// Always the same.
    Constant(Written<Positive>),
    /// Equally likely anywhere between the two.
    Uniform(Written<Duration>, Written<Duration>),
    /// Exponential with this mean.
    Exponential(Written<Positive>),
}

impl TryFrom<WrittenLength> for Length {
    type Error = String;

    fn try_from(written: WrittenLength) -> Result<Self, String> {
        match written {
            WrittenLength::Constant(Written(length)) => Ok(Self(Distribution::Constant(length))),
            WrittenLength::Exponential(Written(mean)) => Ok(Self(Distribution::Exponential(mean))),
            WrittenLength::Uniform(Written(low), Written(high)) => match low <= high {
                true if Distribution::Uniform(low, high).mean().is_zero() => Err(format!(
                    "found uniform from {low} to {high}; expected spans of some length"
                )),
                true => Ok(Self(Distribution::Uniform(low, high))),
                false => {
                    Err(format!("found uniform from {low} to {high}; expected the shorter first"))
                }
            },
        }
    }
}

/// Spans at given times, in order.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<WrittenWindow>")]
pub(crate) struct Script(#[schemars(with = "Vec<WrittenWindow>")] pub Vec<Interval>);

/// A span at a given time.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { at = \"28 s\", for = \"12 s\" }")]
struct WrittenWindow {
    /// When it begins.
    #[schemars(example = &"28 s")]
    at: Written<Duration>,
    /// How long it lasts.
    #[serde(rename = "for")]
    #[schemars(example = &"12 s")]
    length: Written<Positive>,
}

impl TryFrom<Vec<WrittenWindow>> for Script {
    type Error = String;

    fn try_from(written: Vec<WrittenWindow>) -> Result<Self, String> {
        let mut end = Duration::ZERO;
        let mut windows = Vec::new();
        for WrittenWindow { at: Written(at), length: Written(length) } in written {
            if at < end {
                return Err(format!(
                    "found a span that begins at {at}, before the last one ends at {end}; \
                     expected spans in order that do not overlap"
                ));
            }
            end = at + length;
            windows.push(Interval { at: Instant::START + at, length });
        }
        Ok(Self(windows))
    }
}
