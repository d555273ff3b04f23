//! Scripted and random spans of time, and their effects.

use rtolab_link::{Distribution, Interval, SpikeHolds, StallHolds};
use rtolab_time::{Duration, Instant};
use schemars::JsonSchema;
use serde::Deserialize;

use super::parsed::{Chance, Parsed};
use super::quantity::Positive;

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
    pub holds: Option<Parsed<SpikeHolds>>,
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
    pub holds: Option<Parsed<StallHolds>>,
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
#[serde(try_from = "RawLength")]
#[schemars(example = serde_json::json!({ "exponential": "3.5 s" }))]
pub(crate) struct Length(#[schemars(with = "RawLength")] pub Distribution);

/// How long a random span is.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum RawLength {
    /// Always the same.
    Constant(Parsed<Positive>),
    /// Equally likely anywhere between the two.
    Uniform(Parsed<Duration>, Parsed<Duration>),
    /// Exponential with this mean.
    Exponential(Parsed<Positive>),
}

impl TryFrom<RawLength> for Length {
    type Error = String;

    fn try_from(raw: RawLength) -> Result<Self, String> {
        match raw {
            RawLength::Constant(Parsed(length)) => Ok(Self(Distribution::Constant(length))),
            RawLength::Exponential(Parsed(mean)) => Ok(Self(Distribution::Exponential(mean))),
            RawLength::Uniform(Parsed(low), Parsed(high)) => match low <= high {
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
#[serde(try_from = "Vec<RawWindow>")]
pub(crate) struct Script(#[schemars(with = "Vec<RawWindow>")] pub Vec<Interval>);

/// A span at a given time.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { at = \"28 s\", for = \"12 s\" }")]
struct RawWindow {
    /// When it begins.
    #[schemars(example = &"28 s")]
    at: Parsed<Duration>,
    /// How long it lasts.
    #[serde(rename = "for")]
    #[schemars(example = &"12 s")]
    length: Parsed<Positive>,
}

impl TryFrom<Vec<RawWindow>> for Script {
    type Error = String;

    fn try_from(raw: Vec<RawWindow>) -> Result<Self, String> {
        let mut end = Duration::ZERO;
        let mut windows = Vec::new();
        for RawWindow { at: Parsed(at), length: Parsed(length) } in raw {
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
