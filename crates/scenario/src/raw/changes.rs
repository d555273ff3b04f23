//! Changes of a link in time: rates, delays, and two alternating states.

use rtolab_link::RateChange;
use rtolab_settings::Choice;
use rtolab_time::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::Deserialize;

use super::parsed::{Chance, Parsed};
use super::spans::Length;

/// Rates from given times on, in order.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<RawRateChange>")]
pub(crate) struct RateChanges(#[schemars(with = "Vec<RawRateChange>")] pub Vec<RateChange>);

/// A rate from a given time on.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { at = \"5 s\", rate = \"9.6 kbit/s\" }")]
struct RawRateChange {
    /// From when.
    #[schemars(example = &"5 s")]
    at: Parsed<Duration>,
    /// How fast the link then sends.
    #[schemars(example = &"9.6 kbit/s")]
    rate: Parsed<Rate>,
}

impl TryFrom<Vec<RawRateChange>> for RateChanges {
    type Error = String;

    fn try_from(raw: Vec<RawRateChange>) -> Result<Self, String> {
        let mut changes = Vec::<RateChange>::new();
        for RawRateChange { at: Parsed(at), rate: Parsed(rate) } in raw {
            let change = RateChange { at: Instant::START + at, rate: Some(rate) };
            if let Some(last) = changes.last().filter(|last| last.at >= change.at) {
                let last = last.at.since(Instant::START);
                return Err(format!(
                    "found a change at {at} after one at {last}; expected each later than the one \
                     before it"
                ));
            }
            changes.push(change);
        }
        Ok(Self(changes))
    }
}

/// Propagation delays that change as in a file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { file = \"ping.txt\" }")]
pub(crate) struct DelayTrace {
    /// The file: lines of seconds and milliseconds, the first at 0, or the output of ping -D. The
    /// path is relative to this file.
    #[schemars(example = &"traces/ping.txt")]
    pub file: String,
    /// What delays the file holds. Default: one-way.
    pub of: Option<Parsed<Measured>>,
    /// Does it begin again after its end, or does the last delay stay? Default: false.
    pub repeats: Option<bool>,
}

/// What delays a trace holds.
#[derive(Clone, Copy, Debug, PartialEq, Choice)]
pub(crate) enum Measured {
    /// Those of one direction.
    OneWay,
    /// Those of both together, as ping measures them: halved.
    RoundTrip,
}

/// Two states that take turns at random, whatever the traffic does (Gilbert and Elliott).
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct States {
    /// How long it stays in the good state.
    #[schemars(example = serde_json::json!({ "exponential": "10 s" }))]
    pub good: Length,
    /// How long it stays in the bad state.
    #[schemars(example = serde_json::json!({ "exponential": "1 s" }))]
    pub bad: Length,
    /// Does it begin as if it had run for ever (the default), or in a fresh good state?
    pub stationary: Option<bool>,
    /// Do both directions change together (the default), or each by itself?
    pub shared: Option<bool>,
}

/// What differs in the bad state; what is not here is as in the good one.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { loss = 0.1 }")]
pub(crate) struct Bad {
    /// How fast it sends.
    #[schemars(example = &"9.6 kbit/s")]
    pub rate: Option<Parsed<Rate>>,
    /// The propagation delay.
    #[schemars(example = &"1 s")]
    pub delay: Option<Parsed<Duration>>,
    /// The chance of each frame to be lost.
    pub loss: Option<Chance>,
}
