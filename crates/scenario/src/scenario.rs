//! A resolved scenario, as the clocks use it.

use std::sync::Arc;

use rtolab_link::{ChannelConfig, Direction, Distribution, Interval};
use rtolab_tcp as tcp;
use rtolab_tcp::profile::Sysctl;
use rtolab_tcp::specification::{self, SpecificationError};
use rtolab_time::{Duration, Instant, Rate};

use crate::Result;
use crate::kernel::{EmulationConfig, Kernel};

/// A network of links, the flows over it, and the configuration of their hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// A description in one line.
    pub title: String,
    /// The latest end of a run.
    pub duration: Duration,
    /// The names of the nodes, in the order in which the links mention them.
    pub nodes: Vec<String>,
    /// The links, at least one.
    pub links: Vec<Link>,
    /// The configured routes; all others are shortest paths.
    pub routes: Vec<Route>,
    /// The middleboxes.
    pub middleboxes: Vec<MiddleboxConfig>,
    /// The measurement interval; the rest of the run is warm-up and cool-down.
    pub measured: (Instant, Instant),
    /// The flows, at least one; a path joins the ends of each.
    pub flows: Vec<Flow>,
    /// The kernel settings of each node, for emulated hosts and simulated Linux hosts.
    pub kernels: Vec<Kernel>,
    /// The settings of emulated runs.
    pub emulation: EmulationConfig,
}

/// A link between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its unique name.
    pub name: String,
    /// The indices of its two nodes; forward leads from the first to the second.
    pub ends: (usize, usize),
    /// Its configuration.
    pub channel: ChannelConfig,
}

/// A connection. The flows of one `[[flow]]` share what is large and the same for all.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its unique name.
    pub name: String,
    /// The index of the sending node.
    pub from: usize,
    /// The index of the receiving node.
    pub to: usize,
    /// What it transports.
    pub workload: Workload,
    /// Its connection set, for fairness between sets.
    pub set: Option<String>,
    /// The nodes, in order, at which the connection is split into several TCP connections (I-TCP).
    pub split: Vec<usize>,
    /// When it opens.
    pub start: Instant,
    /// A random delay of the start is uniform between zero and this.
    pub start_jitter: Duration,
    /// An access link between its sender and its first node; forward leads away from the sender.
    pub access: Option<Arc<ChannelConfig>>,
    /// The default sender specification, such as `sack+frto`.
    pub sender: String,
    /// Does `sender` hold even if another one is requested?
    pub own_sender: bool,
    /// The kernel settings of the sending host, for Linux senders.
    pub kernel: Sysctl,
    /// The configuration of the sending host, before the sender specification is applied.
    pub tcp: Arc<tcp::Config>,
    /// The configuration of the receiving host.
    pub receiver: Arc<tcp::Config>,
    /// The system of the receiving host, if `receiver.profile` names one.
    pub receiver_profile: Option<&'static str>,
}

/// What a flow transports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Workload {
    /// One transfer.
    Bulk {
        /// Payload; `None` for an endless transfer.
        bytes: Option<u64>,
    },
    /// Pages of one size at regular times on one connection. A page that is due before the previous
    /// one is acknowledged follows it at once.
    Pages {
        /// Payload of a page.
        bytes: u64,
        /// The period.
        every: Duration,
        /// The number; `None` for endless.
        count: Option<u32>,
    },
    /// Requests of the receiving host and responses of the sending one, in turn. The next request
    /// follows a think time after the response.
    Requests {
        /// Payload of a request.
        request: u64,
        /// Payload of a response.
        response: u64,
        /// The think time.
        think: Distribution,
        /// The number; `None` for endless.
        count: Option<u32>,
    },
    /// An application that writes at a rate during on periods.
    OnOff {
        /// The length of on periods.
        on: Distribution,
        /// The length of off periods.
        off: Distribution,
        /// The rate of payload.
        rate: Rate,
    },
    /// UDP datagrams of one size at a constant rate.
    Datagrams {
        /// The rate, headers included.
        rate: Rate,
        /// The size of a datagram with IP and UDP headers.
        packet: u32,
    },
}

/// A configured route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The first node.
    pub from: usize,
    /// The last node.
    pub to: usize,
    /// When the route takes effect, until a later one between the same nodes.
    pub at: Instant,
    /// The indices of the links, with the direction in which each is passed.
    pub hops: Vec<(usize, Direction)>,
}

/// A middlebox, as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MiddleboxConfig {
    /// Its node.
    pub node: usize,
    /// Its kind.
    pub kind: MiddleboxKind,
}

/// The kind of a middlebox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MiddleboxKind {
    /// Snoop (Balakrishnan et al. 1995) for data that leaves the node over a wireless link.
    Snoop {
        /// The index of the wireless link.
        link: usize,
        /// The number of duplicate ACKs that cause a retransmission.
        dupthresh: u32,
        /// The size of its cache, in segments per flow.
        cache: u32,
    },
    /// The spurious-retransmission filter of Kim and Cho.
    Filter,
    /// A closed window during disconnections (Freeze-TCP, M-TCP).
    Freeze {
        /// The disconnections, in order.
        disconnections: Arc<[Interval]>,
        /// How long before a disconnection the window is closed.
        warning: Duration,
    },
    /// Explicit bad state notification (Bakshi et al. 1997).
    Ebsn {
        /// The bad states, in order.
        disconnections: Arc<[Interval]>,
        /// The time between two notifications.
        interval: Duration,
    },
    /// Explicit loss notification (Balakrishnan et al. 1997) for data that leaves the node over a
    /// wireless link.
    Eln {
        /// The index of the wireless link.
        link: usize,
    },
    /// ICMP `destination unreachable` while a link is down (RFC 792, RFC 6069).
    Unreachable {
        /// When the link is down, in order.
        disconnections: Arc<[Interval]>,
        /// The shortest time between two messages to one sender.
        interval: Duration,
    },
    /// Hints that a path has returned.
    PathHint {
        /// The disconnections after whose end hints are sent, in order.
        disconnections: Arc<[Interval]>,
    },
    /// Fast retransmissions after handovers (Cáceres and Iftode 1995).
    Handover {
        /// The handovers, in order.
        disconnections: Arc<[Interval]>,
    },
}

impl Flow {
    /// The sender specification if `spec` is requested.
    pub fn sender_name<'a>(&'a self, spec: Option<&'a str>) -> &'a str {
        spec.filter(|_| !self.own_sender).unwrap_or(&self.sender)
    }

    /// The sender's configuration if `spec` is requested; fails if that is no sender specification.
    pub fn sender_config(&self, spec: Option<&str>) -> Result<tcp::Config, SpecificationError> {
        self.sender_with(spec, &specification::CustomPolicies::default())
    }

    /// [`Flow::sender_config`] where the specification may name `prototypes`.
    pub fn sender_with(
        &self,
        spec: Option<&str>,
        prototypes: &specification::CustomPolicies,
    ) -> Result<tcp::Config, SpecificationError> {
        specification::sender_with(self.sender_name(spec), &self.tcp, &self.kernel, prototypes)
    }

    /// The configuration of the receiving host, whose peer has the configuration `sender`. If both
    /// are the same system, this host's SYN-ACK and FIN are those of that system, too.
    pub fn receiver_with(&self, spec: Option<&str>, sender: &tcp::Config) -> Arc<tcp::Config> {
        if self.receiver_profile != Some(self.sender_name(spec)) {
            return self.receiver.clone();
        }
        let own = tcp::Config::clone(&self.receiver);
        Arc::new(tcp::Config {
            receiver: own.receiver,
            timestamp: own.timestamp,
            timestamps: own.timestamps,
            sack: own.sack,
            dsack: own.dsack,
            ecn: own.ecn,
            mss: own.mss,
            window_scale: own.window_scale,
            push: own.push,
            responder: None,
            ..sender.clone()
        })
    }
}
