//! A scenario as the clocks use it.

use std::path::Path;

use rtolab_link::{ChannelConfig, Direction, Distribution};
use rtolab_tcp as tcp;
use rtolab_tcp::profile::Sysctl;
use rtolab_tcp::specification::{self, SpecificationError};
use rtolab_time::{Duration, Instant, Rate};

use crate::document::Document;
use crate::files::{self, Fault, Folder, Reach};
use crate::kernel::{Emulation, Kernel};
use crate::{Error, Prototypes, limits, overridden, read, resolve, schema, set};

/// A path of links, the flows over it, and how their hosts behave.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// What it is about, in one line.
    pub title: String,
    /// The run ends then at the latest.
    pub duration: Duration,
    /// The names of the nodes, in the order in which the links mention them.
    pub nodes: Vec<String>,
    /// The links, at least one.
    pub links: Vec<Link>,
    /// Ways that are given; any other is the one with the fewest links.
    pub routes: Vec<Route>,
    /// What stands on the way at some nodes.
    pub agents: Vec<Agent>,
    /// What part of the run counts in the measures; the rest is warm-up and cool-down.
    pub measured: (Instant, Instant),
    /// The flows, at least one; a path joins the ends of each.
    pub flows: Vec<Flow>,
    /// How the kernel of each node is set where it is Linux, real or simulated.
    pub kernels: Vec<Kernel>,
    /// When such a run can be believed.
    pub emulation: Emulation,
}

/// A link between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name; no other link has it.
    pub name: String,
    /// The nodes that it joins, as indices; forward leads from the first to the second.
    pub ends: (usize, usize),
    /// What it is like.
    pub channel: ChannelConfig,
}

/// A connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its name; no other flow has it.
    pub name: String,
    /// The node that sends, as an index.
    pub from: usize,
    /// The node that receives, as an index.
    pub to: usize,
    /// What it transports.
    pub workload: Workload,
    /// The connection set that it belongs to, for fairness between sets.
    pub set: Option<String>,
    /// The gateways, as nodes in order, at which the connection is split: each ends one TCP
    /// connection and begins another (I-TCP).
    pub split: Vec<usize>,
    /// When it opens.
    pub start: Instant,
    /// It opens later by up to so much, drawn uniformly from the seed.
    pub start_jitter: Duration,
    /// A link of its own between its sender and the first node of its path; forward leads away
    /// from the sender.
    pub access: Option<ChannelConfig>,
    /// Its sender, unless another is requested: a sender specification such as `sack+frto`.
    pub sender: String,
    /// Is `sender` the flow's own, whatever is asked for?
    pub own_sender: bool,
    /// How the sending host's kernel is set, for a sender that is Linux.
    pub kernel: Sysctl,
    /// How the sending host behaves, before the sender specification is applied.
    pub tcp: tcp::Config,
    /// How the receiving host behaves.
    pub receiver: tcp::Config,
}

/// What a flow transports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// So many bytes, then the end; `None`: without end.
    Bulk {
        /// Payload.
        bytes: Option<u64>,
    },
    /// Pages of a size, one every so often on one connection; a page that is due while the one
    /// before it is still under way follows it at once.
    Pages {
        /// Payload of a page.
        bytes: u64,
        /// The time between their beginnings.
        every: Duration,
        /// How many; `None`: without end.
        count: Option<u32>,
    },
    /// The receiving host asks and the sending one answers, again and again; the next question
    /// comes a while after the answer is complete.
    Requests {
        /// Payload of a question.
        request: u64,
        /// Payload of an answer.
        response: u64,
        /// The while between.
        think: Distribution,
        /// How many; `None`: without end.
        count: Option<u32>,
    },
    /// An application that writes at a rate while it is on.
    OnOff {
        /// How long it is on.
        on: Distribution,
        /// How long it is off.
        off: Distribution,
        /// How fast it writes.
        rate: Rate,
    },
    /// Datagrams of one size at a constant rate (UDP), headers included in both.
    Datagrams {
        /// How fast.
        rate: Rate,
        /// Each, with its IP and UDP headers.
        packet: u32,
    },
}

/// A way that is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The node at which packets begin their way.
    pub from: usize,
    /// The node that they are for.
    pub to: usize,
    /// Packets that leave from then on take it, until a later route between the same nodes.
    pub at: Instant,
    /// The links, as indices, and the direction in which each is passed.
    pub hops: Vec<(usize, Direction)>,
}

/// Something that sees the packets that pass a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Where.
    pub node: usize,
    /// What.
    pub kind: AgentKind,
}

/// What stands on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentKind {
    /// Snoop (Balakrishnan et al. 1995) for data that leaves the node over the given link: it keeps
    /// what the far end has not acknowledged, retransmits it locally and hides the duplicate
    /// acknowledgments.
    Snoop {
        /// The wireless link, as an index.
        link: usize,
        /// At which duplicate acknowledgment it retransmits.
        dupthresh: u32,
        /// The most segments that it keeps a flow.
        cache: u32,
    },
    /// The proxy of Kim and Cho: it drops needless retransmissions and the duplicate
    /// acknowledgments that they cause.
    Filter,
}

impl Flow {
    /// The sender specification of the flow when `spec` is requested.
    pub fn sender_name<'a>(&'a self, spec: Option<&'a str>) -> &'a str {
        spec.filter(|_| !self.own_sender).unwrap_or(&self.sender)
    }

    /// The configuration of the sender when `spec` is requested; fails if that is invalid.
    pub fn sender_config(&self, spec: Option<&str>) -> Result<tcp::Config, SpecificationError> {
        self.sender_with(spec, &specification::CustomPolicies::default())
    }

    /// As [`Self::sender_config`], where `spec` may name user-defined policies.
    pub fn sender_with(
        &self,
        spec: Option<&str>,
        prototypes: &specification::CustomPolicies,
    ) -> Result<tcp::Config, SpecificationError> {
        specification::sender_with(self.sender_name(spec), &self.tcp, &self.kernel, prototypes)
    }
}

impl Scenario {
    /// Reads the scenario in the file at `path`, with the dotted keys of `set` set to their values.
    /// The files that it names are looked for beside it.
    ///
    /// # Errors
    /// The first fault found: a file that cannot be read or is no scenario, or a key at fault.
    pub fn load(path: &Path, set: &[(String, String)]) -> Result<Self, Error> {
        Self::load_with(path, set, (Reach::Anywhere, &Prototypes::default()))
    }

    /// The same of a scenario that may name no files but those within `reach`, and prototypes.
    ///
    /// # Errors
    /// As [`Scenario::load`], and a file named that is out of reach; that is not opened.
    pub fn load_with(
        path: &Path,
        set: &[(String, String)],
        (reach, prototypes): (Reach, &Prototypes),
    ) -> Result<Self, Error> {
        let file = path.display().to_string();
        let text = files::read(path, "a scenario (TOML)", limits::TEXT).map_err(
            |Fault { line, problem }| Error {
                file: file.clone(),
                line,
                set: None,
                key: String::new(),
                problem,
            },
        )?;
        let folder = Folder { path: path.parent().unwrap_or(Path::new("")), reach };
        Self::read(Document::parse(&text, &file)?, (folder, prototypes), set)
    }

    /// Reads the scenario `text`, as [`Scenario::load`] does; `file` is what errors call it, and
    /// the files that it names are looked for beside that.
    ///
    /// # Errors
    /// The first fault found.
    pub fn parse(text: &str, file: &str, set: &[(String, String)]) -> Result<Self, Error> {
        Self::parse_with(text, file, set, &Prototypes::default())
    }

    /// The same of a scenario that may name `prototypes`.
    ///
    /// # Errors
    /// The first fault found.
    pub fn parse_with(
        text: &str,
        file: &str,
        set: &[(String, String)],
        prototypes: &Prototypes,
    ) -> Result<Self, Error> {
        let folder = Path::new(file).parent().unwrap_or(Path::new(""));
        let folder = Folder { path: folder, reach: Reach::Anywhere };
        Self::read(Document::parse(text, file)?, (folder, prototypes), set)
    }

    /// Reads a scenario in `folder`, which may name `prototypes`.
    fn read(
        mut document: Document,
        (folder, prototypes): (Folder<'_>, &Prototypes),
        set: &[(String, String)],
    ) -> Result<Self, Error> {
        set::apply(&mut document, set)?;
        let written = read::read(&document)?;
        resolve::scenario(&written, &document, (folder, prototypes))
    }

    /// Fails if a key of `[tcp]` was `set` on top of the file, but the profiles of all `senders`
    /// override it.
    ///
    /// # Errors
    /// The first such key.
    pub fn check_senders(&self, senders: &[String], set: &[(String, String)]) -> Result<(), Error> {
        overridden::check(&overridden::set(set), &self.flows, senders)
    }

    /// The JSON Schema (draft 7) of a scenario's TOML.
    pub fn schema() -> serde_json::Value {
        schema::schema()
    }
}
