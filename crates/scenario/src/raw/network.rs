//! Routes, middleboxes and the measurement interval of a run, as read from the file.

use rtolab_link::Interval;
use rtolab_settings::{Choice, Positive, PositiveCount, Settings};
use rtolab_time::{Duration, Instant};

use crate::formats::Name;

/// A route that packets take instead of the path with the fewest links.
#[derive(Debug, Settings)]
pub(crate) struct Route {
    /// The node at which packets start.
    #[setting(format = Name, required, example = "mobile")]
    pub from: String,
    /// The node to which they go. The other direction is another route.
    #[setting(format = Name, required, example = "server")]
    pub to: String,
    /// The links, in order.
    #[setting(
        values,
        format = Name,
        required,
        min_items = 1,
        example = "[\"radio\", \"wan\"]"
    )]
    pub links: Vec<String>,
    /// Packets sent from this time on take the route, until a later route between the same nodes.
    #[setting(example = "10 s")]
    pub at: Instant,
}

/// A middlebox at a node.
#[derive(Debug, Settings)]
pub(crate) struct Middlebox {
    /// The node, between the ends of a flow: at an end, and where a flow is split, a middlebox
    /// would see no packets. For one at a host, add a node and a link without delay.
    #[setting(format = Name, required, example = "base")]
    pub at: String,
    /// Its kind.
    #[setting(required, example = "snoop")]
    pub kind: Kind,
    /// For snoop and eln: the wireless link over which data leaves the node.
    #[setting(format = Name, example = "radio")]
    pub link: Option<String>,
    /// For snoop: the number of the duplicate ACK at which it retransmits.
    #[setting(format = PositiveCount, default = 1)]
    pub dupthresh: u32,
    /// For snoop: the largest number of segments that it caches per flow.
    #[setting(format = PositiveCount, default = 1_000, example = "100")]
    pub cache: u32,
    /// The intervals of this kind's event: disconnections (freeze, path-hint), bad states (ebsn),
    /// handovers (handover), times when the link is down (unreachable).
    #[setting(list, example = "[{ at = \"28 s\", for = \"12 s\" }]")]
    pub disconnections: Option<Vec<Interval>>,
    /// For freeze: how long before a disconnection it closes the window.
    #[setting(default = Duration::from_secs(1), example = "500 ms")]
    pub warning: Duration,
    /// For ebsn: the time between two notifications. For unreachable: the shortest time between two
    /// messages to one sender.
    #[setting(format = Positive, default = Duration::from_millis(500), example = "200 ms")]
    pub interval: Duration,
}

/// The kind of a middlebox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub(crate) enum Kind {
    /// Caches segments that a wireless link may lose, and retransmits them locally.
    #[default]
    Snoop,
    /// Drops retransmissions of data whose ACK has passed, and the duplicate ACKs that spurious
    /// retransmissions cause (Kim and Cho).
    Filter,
    /// Closes the window before and during disconnections, so that senders freeze (Freeze-TCP).
    Freeze,
    /// Notifies senders during bad states of the link, so that they restart their retransmission
    /// timers (explicit bad state notification).
    Ebsn,
    /// Marks duplicate ACKs for segments that the wireless link lost, for senders with eln
    /// (explicit loss notification).
    Eln,
    /// Sends three duplicate ACKs to each sender after a handover, so that it retransmits at once.
    Handover,
    /// Answers data while a link is down by ICMP `destination unreachable` (RFC 6069 is a reaction
    /// to it).
    Unreachable,
    /// Tells senders at the end of disconnections that the path has returned.
    PathHint,
}

impl Kind {
    /// All kinds.
    pub(crate) const ALL: [Self; 8] = [
        Self::Snoop,
        Self::Filter,
        Self::Freeze,
        Self::Ebsn,
        Self::Eln,
        Self::Handover,
        Self::Unreachable,
        Self::PathHint,
    ];

    /// The keys of this kind.
    pub(crate) const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Snoop => &["link", "dupthresh", "cache"],
            Self::Filter => &[],
            Self::Freeze => &["disconnections", "warning"],
            Self::Ebsn | Self::Unreachable => &["disconnections", "interval"],
            Self::Eln => &["link"],
            Self::Handover | Self::PathHint => &["disconnections"],
        }
    }
}

/// The measurement interval. The rest of the run is warm-up and cool-down.
#[derive(Debug, Settings)]
pub(crate) struct Measure {
    /// Its start.
    #[setting(example = "5 s")]
    pub from: Duration,
    /// Its end.
    #[setting(example = "105 s", unset = "the end of the run")]
    pub to: Option<Duration>,
}
