//! The disturbances of links, and how connections resume after outages.

use std::sync::Arc;

use arrow_array::RecordBatch;
use rtolab_link::{Direction, DisturbanceKind};
use rtolab_time::{Duration, Instant};

use crate::column::Table;
use crate::tables::direction;
use crate::{Place, Recording, TimeoutKind};

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
    fn probes_per_minute(&self) -> Option<f64> {
        let length = self.length();
        (!length.is_zero()).then(|| 60.0 * self.probes as f64 / length.secs_f64())
    }
}

/// Counts the timeouts within each outage.
pub fn count_timeouts(recording: &mut Recording) {
    for outage in &mut recording.outages {
        let meanwhile = |at: Instant| at >= outage.from && at < outage.to;
        let timeouts = recording.timeouts.iter().filter(|row| {
            row.kind == TimeoutKind::Timeout
                && row.end == Place::Sender
                && row.flow == outage.flow
                && meanwhile(row.at)
        });
        outage.timeouts = timeouts.count() as u64;
    }
}

/// `outages`: one row per connection and outage of a link on its way.
pub fn outages(recordings: &[Recording]) -> RecordBatch {
    Table::of(recordings, |recording| &recording.outages)
        .column("flow", |row| &*row.flow)
        .column("link", |row| &*row.link)
        .column("direction", |row| row.direction.map(direction))
        .column("from_s", |row| row.from.secs_f64())
        .column("to_s", |row| row.to.secs_f64())
        .column("length_s", |row| row.length().secs_f64())
        .column("packets", |row| row.packets)
        .column("probes", |row| row.probes)
        .column("probes_per_minute", OutageRow::probes_per_minute)
        .column("timeouts", |row| row.timeouts)
        .column("wait_s", |row| row.wait.map(Duration::secs_f64))
        .column("resume_s", |row| row.resume.map(Duration::secs_f64))
        .column("full_rate_s", |row| row.full_rate.map(Duration::secs_f64))
        .column("former_bps", |row| 8.0 * row.former_rate)
        .finish()
}
