//! Scripted and random spans of time, and their effects.

use rtolab_link::{Distribution, Interval, SpikeHolds, StallHolds};
use rtolab_time::{Duration, Instant};
use schemars::JsonSchema;
use serde::Deserialize;

use super::parsed::{Chance, Parsed};
use rtolab_settings::Positive;

/// Delay spikes: sudden delays of single frames.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Spikes {
    /// The probability that a frame is delayed.
    #[schemars(example = 0.02)]
    pub probability: Chance,
    /// The delay.
    pub length: Length,
    /// What a delayed frame blocks. Default: delivery.
    pub holds: Option<Parsed<SpikeHolds>>,
}

/// Times at which frames are held.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Stalls {
    /// Stalls at given times.
    pub scripted: Option<Script>,
    /// Stalls at random times.
    pub random: Option<Renewal>,
    /// Where held frames wait. Default: transmitter.
    pub holds: Option<Parsed<StallHolds>>,
}

/// Times at which every frame whose transmission ends then is lost.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Outages {
    /// Outages at given times.
    pub scripted: Option<Script>,
    /// Outages at random times.
    pub random: Option<Renewal>,
}

/// Random times, independent of the traffic.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Renewal {
    /// The time between them.
    #[schemars(example = serde_json::json!({ "uniform": ["0.1 s", "20 s"] }))]
    pub good: Length,
    /// Their length.
    #[schemars(example = serde_json::json!({ "exponential": "3.5 s" }))]
    pub bad: Length,
    /// The state at the beginning: as if the process had run for ever (the default), or the start
    /// of a time between them.
    pub stationary: Option<bool>,
}

/// A random length of time.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "RawLength")]
#[schemars(example = serde_json::json!({ "exponential": "3.5 s" }))]
pub(crate) struct Length(#[schemars(with = "RawLength")] pub Distribution);

/// A random length of time.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum RawLength {
    /// Always this long.
    Constant(Parsed<Positive>),
    /// Uniform between the two.
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

/// Given times, in order.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<RawWindow>")]
pub(crate) struct Script(#[schemars(with = "Vec<RawWindow>")] pub Vec<Interval>);

/// A given time.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { at = \"28 s\", for = \"12 s\" }")]
struct RawWindow {
    /// Its start.
    #[schemars(example = &"28 s")]
    at: Parsed<Duration>,
    /// Its length.
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
