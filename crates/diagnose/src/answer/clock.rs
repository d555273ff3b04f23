//! The sentence about a clock that stepped back during the capture.

use rtolab_capture::ClockSteps;
use serde_json::json;

use super::sentence::Sentence;
use super::words::{seconds, times};

/// `None` if time never stepped back.
pub(super) fn sentence(steps: ClockSteps) -> Option<Sentence> {
    let longest = steps.longest.secs_f64();
    let by = if steps.count == 1 { "by" } else { "by up to" };
    let text = format!(
        "The clock of the capture stepped back {}, {by} {}: rtolab lets time go on from the packet \
         before, so a delay at that time may be missing from this answer.",
        times(steps.count).to_lowercase(),
        seconds(longest)
    );
    let figures = [("clock_steps", json!(steps.count)), ("longest_step", json!(longest))];
    (steps.count > 0).then(|| Sentence::new(text, "", &figures))
}
