//! Disturbances of links, and what a connection did in an outage.

use std::sync::Arc;

use rtolab_link::{Direction, DisturbanceKind};
use rtolab_time::{Duration, Instant};

/// `disturbances`: one row per stall, outage or spike, if the run is traced.
#[derive(Clone, Debug)]
pub struct DisturbanceRow {
    /// The link's name.
    pub link: Arc<str>,
    /// The direction; `None` for both.
    pub direction: Option<Direction>,
    /// The kind of disturbance.
    pub kind: DisturbanceKind,
    /// When it began.
    pub from: Instant,
    /// When it ended.
    pub to: Instant,
}

impl DisturbanceRow {
    /// The name of the direction in the tables; `None` for both.
    pub fn direction_name(&self) -> Option<&'static str> {
        self.direction.map(direction_name)
    }

    /// The name of the kind in the tables.
    pub const fn kind_name(&self) -> &'static str {
        match self.kind {
            DisturbanceKind::Stall => "stall",
            DisturbanceKind::Outage => "outage",
            DisturbanceKind::Spike => "spike",
        }
    }
}

/// One outage of a link, and how one connection over it resumed. Times without a value did not
/// come before the next outage of the link, or before the end of the run.
#[derive(Clone, Debug)]
pub struct OutageRow {
    /// The flow's name.
    pub flow: Arc<str>,
    /// The link's name.
    pub link: Arc<str>,
    /// The direction; `None` for both.
    pub direction: Option<Direction>,
    /// When it began.
    pub from: Instant,
    /// When the path returned.
    pub to: Instant,
    /// Packets that the flow's sender sent meanwhile.
    pub packets: u64,
    /// Of these, retransmissions and window probes that it did not send in response to a segment.
    pub probes: u64,
    /// Expiries of the sender's retransmission timer meanwhile.
    pub timeouts: u64,
    /// From the path's return to the sender's next packet.
    pub wait: Option<Duration>,
    /// From the path's return to the first new data that crossed it.
    pub resume: Option<Duration>,
    /// From the path's return to the beginning of the first span that has 90 % of the former rate.
    pub full_rate: Option<Duration>,
    /// The rate before the outage, in payload bytes per second; zero if the flow was idle.
    pub former_rate: f64,
}

impl OutageRow {
    /// The length of the outage.
    pub fn length(&self) -> Duration {
        self.to.since(self.from)
    }

    /// Probes a minute: a measure of the energy that they cost.
    pub(crate) fn probes_per_minute(&self) -> Option<f64> {
        let length = self.length();
        (!length.is_zero()).then(|| 60.0 * self.probes as f64 / length.secs_f64())
    }
}

/// The name of a direction in the tables.
pub(crate) const fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "forward",
        Direction::Backward => "backward",
    }
}
