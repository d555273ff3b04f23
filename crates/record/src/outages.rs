//! How connections resume after outages.

use rtolab_table::Table;
use rtolab_time::{Duration, Instant};

use crate::disturbances::{OutageRow, direction_name};
use crate::runs::of_recordings;
use crate::{Place, Recording, TimeoutKind};

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
pub fn outages(recordings: &[Recording]) -> Table {
    of_recordings(recordings, |recording| &recording.outages)
        .column("flow", |row| &*row.flow)
        .column("link", |row| &*row.link)
        .column("direction", |row| row.direction.map(direction_name))
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
