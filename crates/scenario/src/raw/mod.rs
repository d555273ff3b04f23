//! A scenario as the user writes it: each key with its meaning, format and default.

mod delays;
mod flow;
mod kernel;
mod link;
mod network;
mod profile;
mod queue;
mod tcp;

use rtolab_settings::{Positive, Settings};
use rtolab_time::Duration;

use crate::EmulationConfig;
pub(crate) use delays::{DelayTrace, Measured};
pub(crate) use flow::{Datagrams, Flow, OnOff, Pages, Requests};
pub(crate) use kernel::{Kernel, KernelHost};
pub(crate) use link::{Channel, Direction, Link};
pub(crate) use network::{Kind, Measure, Middlebox, Route};
pub(crate) use queue::Red;
pub(crate) use tcp::{Receiver, Tcp};

/// A path of links, the flows over it, and how their hosts behave.
#[derive(Debug, Settings)]
pub(crate) struct Scenario {
    /// A description of the scenario, in one line.
    #[setting(required, example = "A slow link that sometimes holds packets for seconds")]
    pub title: String,
    /// The time at which the run ends at the latest.
    #[setting(format = Positive, required, example = "600 s")]
    pub duration: Duration,
    /// The measurement interval, without which the whole run counts.
    #[setting(table)]
    pub measure: Measure,
    /// The links, which name the nodes that they join.
    #[setting(list, required, min_items = 1)]
    pub link: Vec<Link>,
    /// Routes. Without a route, packets take the path with the fewest links.
    #[setting(list)]
    pub route: Vec<Route>,
    /// Middleboxes.
    #[setting(list)]
    pub agent: Vec<Middlebox>,
    /// The sending hosts.
    #[setting(table)]
    pub tcp: Tcp,
    /// The receiving hosts.
    #[setting(table)]
    pub receiver: Receiver,
    /// The kernel settings of Linux hosts, real or simulated.
    #[setting(table)]
    pub kernel: Kernel,
    /// Runs in real time.
    #[setting(table)]
    pub emulation: EmulationConfig,
    /// The connections.
    #[setting(list, required, min_items = 1)]
    pub flow: Vec<Flow>,
}
