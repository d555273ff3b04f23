//! The pauses of a connection among its totals.

use rtolab_capture::End;

use super::CaptureTotals;
use crate::connection::name;
use crate::pauses::Pauses;
use crate::report::ConnectionReport;
use crate::silence::Wait;

/// The share of a connection's time from which on its pauses matter.
const LARGE_SHARE: f64 = 0.25;

impl CaptureTotals {
    /// Adds the pauses of each kind that, with the silences of that kind, take a large share of the
    /// connection's time.
    pub(super) fn add_pauses(&mut self, report: &ConnectionReport) {
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
