//! Flows and what they transport, as written.

use rtolab_link::Distribution;
use rtolab_settings::{Buffer, Mss, Positive, PositiveCount, Settings, Size};
use rtolab_time::{Bytes, Duration, Rate};

use super::link::Channel;
use crate::formats::{Name, Payload};

/// The keys of a flow's workload, which exclude each other.
const WORKLOADS: &[&str] = &["bytes", "pages", "requests", "on_off", "datagrams"];

/// Stands for a rate that must be written, until it is read.
const UNREAD: Rate = match Rate::from_bits_per_second(1) {
    Some(rate) => rate,
    None => unreachable!(),
};

/// A connection, or several equal ones. At most one of bytes, pages, requests, on_off and datagrams
/// says what it sends; without them it sends without end.
#[derive(Debug, Settings)]
pub(crate) struct Flow {
    /// Its name in tables and in --set.
    #[setting(format = Name, required, example = "transfer")]
    pub name: String,
    /// The node that sends.
    #[setting(format = Name, required, example = "remote")]
    pub from: String,
    /// The node that receives.
    #[setting(format = Name, required, example = "mobile")]
    pub to: String,
    /// The bytes that it sends.
    #[setting(example = "102400 B", conflicts_with = WORKLOADS)]
    pub bytes: Option<Bytes>,
    /// Pages at regular intervals.
    #[setting(table, conflicts_with = WORKLOADS)]
    pub pages: Option<Pages>,
    /// Requests from the receiving node, each answered by the sending node.
    #[setting(table, conflicts_with = WORKLOADS)]
    pub requests: Option<Requests>,
    /// An application that alternates between writing at a rate and silence.
    #[setting(table, conflicts_with = WORKLOADS)]
    pub on_off: Option<OnOff>,
    /// Datagrams at a constant rate (UDP) instead of a connection.
    #[setting(table, conflicts_with = WORKLOADS)]
    pub datagrams: Option<Datagrams>,
    /// The group of connections to which it belongs, for the fairness between groups.
    #[setting(format = Name, example = "a")]
    pub set: Option<String>,
    /// The nodes, in order, at which it is split: each terminates one connection and opens the
    /// next.
    #[setting(values, format = Name, example = "[\"gateway\"]")]
    pub split: Vec<String>,
    /// The time at which it opens.
    #[setting(example = "0 s")]
    pub start: Duration,
    /// A random delay before it opens, uniform between 0 s and this.
    #[setting(example = "0.5 s")]
    pub start_jitter: Duration,
    /// The number of flows. Several are named name-1, name-2 and so on.
    #[setting(format = PositiveCount, default = 1)]
    pub count: u32,
    /// The time between their starts.
    #[setting(example = "2 ms")]
    pub stagger: Duration,
    /// The sender of this flow, which the command line does not replace; see tcp.sender.
    #[setting(example = "sack+frto")]
    pub sender: Option<String>,
    /// Its maximum segment size, instead of tcp.mss and receiver.mss.
    #[setting(format = Mss, example = "1000 B")]
    pub mss: Option<u16>,
    /// Its receive buffer, instead of receiver.buffer.
    #[setting(format = Buffer, example = "20 kB")]
    pub buffer: Option<u32>,
    /// An access link between the sender and the first node of its path.
    #[setting(table)]
    pub access: Option<Channel>,
}

/// Pages of one size at regular intervals. A page that is due before the previous one is
/// acknowledged follows immediately after it.
#[derive(Debug, Settings)]
pub(crate) struct Pages {
    /// The size of a page.
    #[setting(format = Payload, required, example = "100 kB")]
    pub bytes: u64,
    /// The time between the starts of pages.
    #[setting(format = Positive, required, example = "5 s")]
    pub every: Duration,
    /// The number of them; without it there is no end.
    #[setting(format = PositiveCount)]
    pub count: Option<u32>,
}

/// Requests from the receiving node, each answered by the sending node.
#[derive(Debug, Settings)]
pub(crate) struct Requests {
    /// The size of a request.
    #[setting(format = Payload, required, example = "200 B")]
    pub request: u64,
    /// The size of a response.
    #[setting(format = Payload, required, example = "20 kB")]
    pub response: u64,
    /// The time between a response and the next request.
    #[setting(table, example = "{ exponential = \"3.5 s\" }", unset = "none")]
    pub think: Distribution,
    /// The number of them; without it there is no end.
    #[setting(format = PositiveCount)]
    pub count: Option<u32>,
}

/// An application that alternates between writing at a rate and silence.
#[derive(Debug, Settings)]
pub(crate) struct OnOff {
    /// The time for which it writes.
    #[setting(table, required, example = "{ exponential = \"1500 ms\" }")]
    pub on: Distribution,
    /// The time for which it is silent.
    #[setting(table, required, example = "{ exponential = \"50 ms\" }")]
    pub off: Distribution,
    /// The rate at which it writes.
    #[setting(required, default = UNREAD, example = "4 Mbit/s")]
    pub rate: Rate,
}

/// Datagrams of one size at a constant rate.
#[derive(Debug, Settings)]
pub(crate) struct Datagrams {
    /// The rate, headers included.
    #[setting(required, default = UNREAD, example = "64 kbit/s")]
    pub rate: Rate,
    /// The size of a datagram with its IP and UDP headers, which are 28 B.
    #[setting(format = Size<28, 65_535, 200>, required, example = "200 B")]
    pub packet: u32,
}
