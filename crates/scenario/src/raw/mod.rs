//! The schema of a scenario, as the user writes it. Editors show its doc comments.

mod arq;
mod changes;
pub(crate) mod flow;
mod kernel;
mod link;
mod network;
mod parsed;
mod profile;
mod queue;
mod spans;
mod table;
mod tcp;

use crate::EmulationConfig;
pub(crate) use arq::Arq;
pub(crate) use changes::{Bad, DelayTrace, Measured, States};
pub(crate) use flow::{Datagrams, Flow, OnOff, Pages, Requests};
pub(crate) use kernel::{Kernel, KernelHost};
pub(crate) use link::{Access, Direction, Link};
pub(crate) use network::{Agent, Kind, Measure, Route};
pub(crate) use queue::{CoDel, Priority, Red};
pub(crate) use spans::{Length, Outages, Renewal, Script, Spikes, Stalls};
pub(crate) use table::Table;
pub(crate) use tcp::{Receiver, Tcp};

use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) use parsed::{Chance, Parsed};
use rtolab_settings::Positive;

/// A path of links, the flows over it, and how their hosts behave.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Scenario {
    /// A description of the scenario, in one line.
    #[schemars(example = &"A slow link that sometimes holds packets for seconds")]
    pub title: String,
    /// The time at which the run ends at the latest.
    #[schemars(example = &"600 s")]
    pub duration: Parsed<Positive>,
    /// The part of the run that counts in the measures. Default: all of it.
    #[serde(default)]
    pub measure: Measure,
    /// The links, which name the nodes that they join.
    #[serde(default)]
    #[schemars(required, length(min = 1))]
    pub link: Vec<Link>,
    /// Routes. Without a route, packets take the path with the fewest links.
    #[serde(default)]
    pub route: Vec<Route>,
    /// Middleboxes.
    #[serde(default)]
    pub agent: Vec<Agent>,
    /// The sending hosts.
    #[serde(default)]
    pub tcp: Table<Tcp>,
    /// The receiving hosts.
    #[serde(default)]
    pub receiver: Table<Receiver>,
    /// The kernel settings of Linux hosts, real or simulated.
    #[serde(default)]
    pub kernel: Table<Kernel>,
    /// Runs in real time.
    #[serde(default)]
    pub emulation: Table<EmulationConfig>,
    /// The connections.
    #[serde(default)]
    #[schemars(required, length(min = 1))]
    pub flow: Vec<Flow>,
}
