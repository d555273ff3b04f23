//! Flows and what they transport.

use rtolab_time::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::Deserialize;

use super::link::Access;
use super::parsed::{Count, Parsed};
use super::quantity::{Buffer, Mss, Name, Payload, Positive, Size};
use super::spans::Length;

/// A connection, or several that are alike. Of bytes, pages, requests, on_off and datagrams it has
/// one at most; without any it sends without end.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Flow {
    /// What it is called in tables and in --set.
    #[schemars(example = &"transfer")]
    pub name: Parsed<Name>,
    /// The node that sends.
    #[schemars(example = &"remote")]
    pub from: Parsed<Name>,
    /// The node that receives.
    #[schemars(example = &"mobile")]
    pub to: Parsed<Name>,
    /// How much it sends. Without this and the like it sends without end.
    #[schemars(example = &"102400 B")]
    pub bytes: Option<Parsed<Bytes>>,
    /// Pages, one every so often.
    pub pages: Option<Pages>,
    /// Questions of the receiving node, each answered by the sending one.
    pub requests: Option<Requests>,
    /// An application that writes at a rate while it is on.
    pub on_off: Option<OnOff>,
    /// Datagrams at a constant rate (UDP) instead of a connection.
    pub datagrams: Option<Datagrams>,
    /// The set of connections that it belongs to, for fairness between sets.
    #[schemars(example = &"a")]
    pub set: Option<Parsed<Name>>,
    /// The nodes, in order, at which it is split: each ends one connection and begins another.
    #[schemars(example = serde_json::json!(["gateway"]))]
    pub split: Option<Vec<Parsed<Name>>>,
    /// When it opens. Default: 0 s.
    #[schemars(example = &"0 s")]
    pub start: Option<Parsed<Duration>>,
    /// It opens later by up to so much, drawn uniformly from the seed. Default: 0 s.
    #[schemars(example = &"0.5 s")]
    pub start_jitter: Option<Parsed<Duration>>,
    /// The number of flows; several are called name-1, name-2 and so on. Default: 1.
    pub count: Option<Count>,
    /// The time between their starts. Default: 0 s.
    #[schemars(example = &"2 ms")]
    pub stagger: Option<Parsed<Duration>>,
    /// This flow's own sender, whatever the command line says; see tcp.sender.
    #[schemars(example = &"sack+frto")]
    pub sender: Option<String>,
    /// Its own largest segment, in place of tcp.mss and receiver.mss.
    #[schemars(example = &"1000 B")]
    pub mss: Option<Parsed<Mss>>,
    /// Its own receive buffer, in place of receiver.buffer.
    #[schemars(example = &"20 kB")]
    pub buffer: Option<Parsed<Buffer>>,
    /// A link of its own between the sender and the first node of its path.
    pub access: Option<Access>,
}

/// Pages of a size, one every so often; one that is due too early follows at once.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Pages {
    /// The size of a page.
    #[schemars(example = &"100 kB")]
    pub bytes: Parsed<Payload>,
    /// The time between the beginnings of pages.
    #[schemars(example = &"5 s")]
    pub every: Parsed<Positive>,
    /// How many; without it there is no end.
    pub count: Option<Count>,
}

/// Questions of the receiving node, each answered by the sending one.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Requests {
    /// The size of a question.
    #[schemars(example = &"200 B")]
    pub request: Parsed<Payload>,
    /// The size of an answer.
    #[schemars(example = &"20 kB")]
    pub response: Parsed<Payload>,
    /// The time from an answer to the next question. Default: none.
    pub think: Option<Length>,
    /// How many; without it there is no end.
    pub count: Option<Count>,
}

/// An application that writes at a rate while it is on.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct OnOff {
    /// How long it is on.
    #[schemars(example = serde_json::json!({ "exponential": "1500 ms" }))]
    pub on: Length,
    /// How long it is off.
    #[schemars(example = serde_json::json!({ "exponential": "50 ms" }))]
    pub off: Length,
    /// How fast it writes while it is on.
    #[schemars(example = &"4 Mbit/s")]
    pub rate: Parsed<Rate>,
}

/// Datagrams of one size at a constant rate.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Datagrams {
    /// How fast, headers included.
    #[schemars(example = &"64 kbit/s")]
    pub rate: Parsed<Rate>,
    /// The size of each with its IP and UDP headers, which are 28 B.
    #[schemars(example = &"200 B")]
    pub packet: Parsed<Size<28, 65_535>>,
}
