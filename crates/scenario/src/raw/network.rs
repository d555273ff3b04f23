//! Ways through the network, what stands on them, and what part of a run is measured.

use rtolab_settings::Choice;
use rtolab_time::Duration;
use schemars::JsonSchema;
use serde::Deserialize;

use super::parsed::{Count, Parsed};
use super::spans::Script;
use crate::formats::Name;

/// A route that packets take instead of the path with the fewest links.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Route {
    /// The node at which packets start.
    #[schemars(example = &"mobile")]
    pub from: Parsed<Name>,
    /// The node to which they go. The other direction is another route.
    #[schemars(example = &"server")]
    pub to: Parsed<Name>,
    /// The links, in order.
    #[schemars(example = serde_json::json!(["radio", "wan"]), length(min = 1))]
    pub links: Vec<Parsed<Name>>,
    /// The time from which on packets that leave take it. Default: 0 s.
    #[schemars(example = &"10 s")]
    pub at: Option<Parsed<Duration>>,
}

/// A middlebox at a node.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Agent {
    /// The node.
    #[schemars(example = &"base")]
    pub at: Parsed<Name>,
    /// Its kind.
    #[schemars(example = &"snoop")]
    pub kind: Parsed<Kind>,
    /// For snoop: the wireless link over which data leaves the node.
    #[schemars(example = &"radio")]
    pub link: Option<Parsed<Name>>,
    /// For snoop: the number of the duplicate ACK at which it retransmits. Default: 1.
    pub dupthresh: Option<Count>,
    /// For snoop: the largest number of segments that it caches per flow. Default: 1000.
    #[schemars(example = 100)]
    pub cache: Option<Count>,
    /// For freeze: the disconnections that it foresees.
    #[schemars(example = serde_json::json!([{ "at": "28 s", "for": "12 s" }]))]
    pub disconnections: Option<Script>,
    /// For freeze: how long before a disconnection it closes the window. Default: 1 s.
    #[schemars(example = &"500 ms")]
    pub warning: Option<Parsed<Duration>>,
}

/// The kind of a middlebox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub(crate) enum Kind {
    /// Caches segments that a wireless link may lose, and retransmits them locally.
    Snoop,
    /// Drops unneeded retransmissions and the ACKs that they cause.
    Filter,
    /// Closes the window before and during disconnections, so that senders freeze (Freeze-TCP).
    Freeze,
}

/// The part of the run that counts. The rest is warm-up and cool-down.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Measure {
    /// Its start. Default: 0 s.
    #[schemars(example = &"5 s")]
    pub from: Option<Parsed<Duration>>,
    /// Its end. Default: the end of the run.
    #[schemars(example = &"105 s")]
    pub to: Option<Parsed<Duration>>,
}
