//! Pauses of applications that are too short for a silence, but that may sum up.

use rtolab_capture::End;
use rtolab_time::Duration;
use serde::Serialize;

use crate::silence::Wait;

/// The shortest pause. It is longer than delayed ACKs of 40 ms, and than most round trips.
pub(crate) const MIN_PAUSE: Duration = Duration::from_millis(100);

/// The number and the durations of waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Waits {
    pub count: u64,
    /// The sum, in seconds.
    pub seconds: f64,
    /// The longest, in seconds.
    pub longest: f64,
}

impl Waits {
    pub(crate) fn add(&mut self, seconds: f64) {
        self.count += 1;
        self.seconds += seconds;
        self.longest = self.longest.max(seconds);
    }

    pub(crate) fn extend(&mut self, others: Self) {
        self.count += others.count;
        self.seconds += others.seconds;
        self.longest = self.longest.max(others.longest);
    }
}

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
