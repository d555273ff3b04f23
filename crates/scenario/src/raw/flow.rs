//! Flows and what they transport.

use rtolab_time::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::Deserialize;

use super::link::Access;
use super::parsed::{Count, Parsed};
use super::spans::Length;
use crate::formats::{Name, Payload};
use rtolab_settings::{Buffer, Mss, Positive, Size};

/// A connection, or several equal ones. At most one of bytes, pages, requests, on_off and datagrams
/// says what it sends; without them it sends without end.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Flow {
    /// Its name in tables and in --set.
    #[schemars(example = &"transfer")]
    pub name: Parsed<Name>,
    /// The node that sends.
    #[schemars(example = &"remote")]
    pub from: Parsed<Name>,
    /// The node that receives.
    #[schemars(example = &"mobile")]
    pub to: Parsed<Name>,
    /// The bytes that it sends.
    #[schemars(example = &"102400 B")]
    pub bytes: Option<Parsed<Bytes>>,
    /// Pages at regular intervals.
    pub pages: Option<Pages>,
    /// Requests from the receiving node, each answered by the sending node.
    pub requests: Option<Requests>,
    /// An application that alternates between writing at a rate and silence.
    pub on_off: Option<OnOff>,
    /// Datagrams at a constant rate (UDP) instead of a connection.
    pub datagrams: Option<Datagrams>,
    /// The group of connections to which it belongs, for the fairness between groups.
    #[schemars(example = &"a")]
    pub set: Option<Parsed<Name>>,
    /// The nodes, in order, at which it is split: each terminates one connection and opens the
    /// next.
    #[schemars(example = serde_json::json!(["gateway"]))]
    pub split: Option<Vec<Parsed<Name>>>,
    /// The time at which it opens. Default: 0 s.
    #[schemars(example = &"0 s")]
    pub start: Option<Parsed<Duration>>,
    /// A random delay before it opens, uniform between 0 s and this. Default: 0 s.
    #[schemars(example = &"0.5 s")]
    pub start_jitter: Option<Parsed<Duration>>,
    /// The number of flows. Several are named name-1, name-2 and so on. Default: 1.
    pub count: Option<Count>,
    /// The time between their starts. Default: 0 s.
    #[schemars(example = &"2 ms")]
    pub stagger: Option<Parsed<Duration>>,
    /// The sender of this flow, which the command line does not replace; see tcp.sender.
    #[schemars(example = &"sack+frto")]
    pub sender: Option<String>,
    /// Its maximum segment size, instead of tcp.mss and receiver.mss.
    #[schemars(example = &"1000 B")]
    pub mss: Option<Parsed<Mss>>,
    /// Its receive buffer, instead of receiver.buffer.
    #[schemars(example = &"20 kB")]
    pub buffer: Option<Parsed<Buffer>>,
    /// An access link between the sender and the first node of its path.
    pub access: Option<Access>,
}

/// Pages of one size at regular intervals. A page that is due before the previous one is
/// acknowledged follows immediately after it.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Pages {
    /// The size of a page.
    #[schemars(example = &"100 kB")]
    pub bytes: Parsed<Payload>,
    /// The time between the starts of pages.
    #[schemars(example = &"5 s")]
    pub every: Parsed<Positive>,
    /// The number of them; without it there is no end.
    pub count: Option<Count>,
}

/// Requests from the receiving node, each answered by the sending node.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Requests {
    /// The size of a request.
    #[schemars(example = &"200 B")]
    pub request: Parsed<Payload>,
    /// The size of a response.
    #[schemars(example = &"20 kB")]
    pub response: Parsed<Payload>,
    /// The time between a response and the next request. Default: none.
    pub think: Option<Length>,
    /// The number of them; without it there is no end.
    pub count: Option<Count>,
}

/// An application that alternates between writing at a rate and silence.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct OnOff {
    /// The time for which it writes.
    #[schemars(example = serde_json::json!({ "exponential": "1500 ms" }))]
    pub on: Length,
    /// The time for which it is silent.
    #[schemars(example = serde_json::json!({ "exponential": "50 ms" }))]
    pub off: Length,
    /// The rate at which it writes.
    #[schemars(example = &"4 Mbit/s")]
    pub rate: Parsed<Rate>,
}

/// Datagrams of one size at a constant rate.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Datagrams {
    /// The rate, headers included.
    #[schemars(example = &"64 kbit/s")]
    pub rate: Parsed<Rate>,
    /// The size of a datagram with its IP and UDP headers, which are 28 B.
    #[schemars(example = &"200 B")]
    pub packet: Parsed<Size<28, 65_535>>,
}
