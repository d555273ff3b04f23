//! Pauses of applications that are too short for a silence, but that may sum up.

use rtolab_capture::End;
use rtolab_time::Duration;

use crate::connection::name;
use crate::report::ConnectionReport;
use crate::silence::Wait;
use crate::totals::{CaptureTotals, Waits};

/// The shortest pause. It is longer than delayed ACKs of 40 ms, and than most round trips.
pub(crate) const MIN_PAUSE: Duration = Duration::from_millis(100);
/// The share of a connection's time from which on its pauses matter.
const LARGE_SHARE: f64 = 0.25;

/// The pauses of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pauses {
    /// Of the applications of client and server.
    pub application: [Waits; 2],
    /// Before data that arrived at the capture point: of the application or of the path.
    pub undecided: Waits,
}

impl Pauses {
    /// Adds a pause of this length before data of `from`.
    pub fn add(&mut self, length: Duration, from: End, wait: Wait) {
        let waits = match wait {
            Wait::Application => &mut self.application[from as usize],
            _ => &mut self.undecided,
        };
        waits.add(length.secs_f64());
    }
}

impl CaptureTotals {
    /// Adds the pauses of each kind that, with the silences of that kind, take a large share of the
    /// connection's time.
    pub(crate) fn add_pauses(&mut self, report: &ConnectionReport) {
        let Pauses { application: [client, server], undecided } = report.pauses;
        let [of_client, of_server] = &mut self.application;
        let kinds = [
            (client, Wait::Application, Some(End::Client), of_client),
            (server, Wait::Application, Some(End::Server), of_server),
            (undecided, Wait::Unknown, None, &mut self.undecided),
        ];
        for (pauses, wait, end, waits) in kinds {
            let silences = report.silences.iter().filter(|one| one.wait == wait);
            let silences = silences.filter(|one| end.is_none_or(|end| one.end == name(end)));
            let silent: f64 = silences.map(|one| one.length).sum();
            let took = report.end - report.start;
            if pauses.count > 0 && pauses.seconds + silent >= LARGE_SHARE * took {
                self.has_short_pauses = true;
                waits.extend(pauses);
            }
        }
    }
}
