//! Changes of a link in time: rates, delays, and two alternating states.

use rtolab_link::RateChange;
use rtolab_settings::Choice;
use rtolab_time::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::Deserialize;

use super::parsed::{Chance, Parsed};
use super::spans::Length;

/// Changes of the rate, in order of time.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<RawRateChange>")]
pub(crate) struct RateChanges(#[schemars(with = "Vec<RawRateChange>")] pub Vec<RateChange>);

/// A change of the rate.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { at = \"5 s\", rate = \"9.6 kbit/s\" }")]
struct RawRateChange {
    /// The time of the change.
    #[schemars(example = &"5 s")]
    at: Parsed<Duration>,
    /// The rate from then on.
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

/// Propagation delays over time, from a file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { file = \"ping.txt\" }")]
pub(crate) struct DelayTrace {
    /// The file: lines of seconds and milliseconds, the first at 0 s, or the output of `ping -D`.
    /// Its path is relative to this file.
    #[schemars(example = &"traces/ping.txt")]
    pub file: String,
    /// The kind of delay in the file. Default: one-way.
    pub of: Option<Parsed<Measured>>,
    /// Does the trace start again after its end? Otherwise the last delay stays. Default: false.
    pub repeats: Option<bool>,
}

/// The kind of delay in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Choice)]
pub(crate) enum Measured {
    /// Delays of one direction.
    OneWay,
    /// Round-trip times, as ping measures them. Each direction takes half.
    RoundTrip,
}

/// Two states that alternate at random, independently of the traffic (Gilbert and Elliott).
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct States {
    /// The time in the good state.
    #[schemars(example = serde_json::json!({ "exponential": "10 s" }))]
    pub good: Length,
    /// The time in the bad state.
    #[schemars(example = serde_json::json!({ "exponential": "1 s" }))]
    pub bad: Length,
    /// The state at the beginning: as if the process had run for ever (the default), or a new good
    /// state.
    pub stationary: Option<bool>,
    /// Do both directions change together (the default), or independently?
    pub shared: Option<bool>,
}

/// The keys that differ in the bad state. All others are as in the good state.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { loss = 0.1 }")]
pub(crate) struct Bad {
    /// The rate.
    #[schemars(example = &"9.6 kbit/s")]
    pub rate: Option<Parsed<Rate>>,
    /// The propagation delay.
    #[schemars(example = &"1 s")]
    pub delay: Option<Parsed<Duration>>,
    /// The probability that a frame is lost.
    pub loss: Option<Chance>,
}
