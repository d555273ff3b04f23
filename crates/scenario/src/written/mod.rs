//! What a user writes: the one schema of a scenario. Its doc comments are what editors show.

mod link;
mod quantity;
mod tcp;
pub(crate) mod value;
mod words;

pub(crate) use link::{Access, Direction, Link, Outages, Renewal, Spikes, Stalls};
pub(crate) use tcp::{NewReno, Receiver, Recovery, Rto, SackRecovery, Tcp, Timestamp, Window};

use rtolab_time::{Bytes, Duration};
use schemars::JsonSchema;
use serde::Deserialize;

use quantity::{Name, Positive};
use value::{Count, Written};

/// A path of links, the flows over it, and how their hosts behave.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Scenario {
    /// What the scenario is about, in one line.
    #[schemars(example = &"A slow link that sometimes holds packets for seconds")]
    pub title: String,
    /// The run ends then at the latest.
    #[schemars(example = &"600 s")]
    pub duration: Written<Positive>,
    /// The links, which name the nodes that they join.
    #[serde(default)]
    #[schemars(required, length(min = 1))]
    pub link: Vec<Link>,
    /// How the sending hosts behave.
    #[serde(default)]
    pub tcp: Tcp,
    /// How the receiving hosts behave.
    #[serde(default)]
    pub receiver: Receiver,
    /// The connections.
    #[serde(default)]
    #[schemars(required, length(min = 1))]
    pub flow: Vec<Flow>,
}

/// A connection, or several that are alike.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Flow {
    /// What it is called in tables and in --set.
    #[schemars(example = &"transfer")]
    pub name: Written<Name>,
    /// The node that sends.
    #[schemars(example = &"remote")]
    pub from: Written<Name>,
    /// The node that receives.
    #[schemars(example = &"mobile")]
    pub to: Written<Name>,
    /// How much it sends; without it the flow is endless.
    #[schemars(example = &"102400 B")]
    pub bytes: Option<Written<Bytes>>,
    /// When it opens. Default: 0 s.
    #[schemars(example = &"0 s")]
    pub start: Option<Written<Duration>>,
    /// It opens later by up to so much, drawn uniformly from the seed. Default: 0 s.
    #[schemars(example = &"0.5 s")]
    pub start_jitter: Option<Written<Duration>>,
    /// So many flows, called name-1, name-2 and so on if there is more than one. Default: 1.
    pub count: Option<Count>,
    /// The time between their starts. Default: 0 s.
    #[schemars(example = &"2 ms")]
    pub stagger: Option<Written<Duration>>,
    /// This flow's own sender, whatever the command line says; see tcp.sender.
    #[schemars(example = &"sack+frto")]
    pub sender: Option<String>,
    /// A link of its own between the sender and the first node of its path.
    pub access: Option<Access>,
}
