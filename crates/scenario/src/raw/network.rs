//! Ways through the network, what stands on them, and what part of a run is measured.

use rtolab_settings::Choice;
use rtolab_time::Duration;
use schemars::JsonSchema;
use serde::Deserialize;

use super::parsed::{Count, Parsed};
use super::quantity::Name;

/// A way that packets take instead of the one with the fewest links.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Route {
    /// The node at which packets begin their way.
    #[schemars(example = &"mobile")]
    pub from: Parsed<Name>,
    /// The node that they are for. The way back is another route.
    #[schemars(example = &"server")]
    pub to: Parsed<Name>,
    /// The links, in the order in which they are passed.
    #[schemars(example = serde_json::json!(["radio", "wan"]), length(min = 1))]
    pub links: Vec<Parsed<Name>>,
    /// Packets that leave from then on take it. Default: 0 s.
    #[schemars(example = &"10 s")]
    pub at: Option<Parsed<Duration>>,
}

/// Something that sees the packets that pass a node.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Agent {
    /// The node.
    #[schemars(example = &"base")]
    pub at: Parsed<Name>,
    /// What it does.
    #[schemars(example = &"snoop")]
    pub kind: Parsed<Kind>,
    /// Of snoop: the wireless link, over which data leaves the node.
    #[schemars(example = &"radio")]
    pub link: Option<Parsed<Name>>,
    /// Of snoop: at which duplicate acknowledgment it retransmits. Default: 1.
    pub dupthresh: Option<Count>,
    /// Of snoop: the most segments that it keeps a flow. Default: 1000.
    #[schemars(example = 100)]
    pub cache: Option<Count>,
}

/// What stands at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub(crate) enum Kind {
    /// Keeps what a wireless link may lose and retransmits it locally.
    Snoop,
    /// Drops spurious retransmissions and the ACKs they cause.
    Filter,
}

/// What part of the run counts; the rest is warm-up and cool-down.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Measure {
    /// From when. Default: 0 s.
    #[schemars(example = &"5 s")]
    pub from: Option<Parsed<Duration>>,
    /// Until when. Default: the end of the run.
    #[schemars(example = &"105 s")]
    pub to: Option<Parsed<Duration>>,
}
