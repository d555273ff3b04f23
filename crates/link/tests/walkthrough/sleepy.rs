//! A radio that falls asleep without traffic, and takes a while to wake up.

use rtolab_time::{Duration, Instant};

use crate::{Direction, Distribution, FrameAction, Rng, SentFrame, Stage};

const IDLE: Duration = Duration::from_millis(200);
const WAKING: Distribution =
    Distribution::Uniform(Duration::from_millis(300), Duration::from_millis(600));

/// Holds the first frame after a silence until the radio is awake.
#[derive(Clone, Debug, Default)]
pub struct Sleepy {
    rng: Option<Rng>,
    last: Option<Instant>,
}

impl Stage for Sleepy {
    fn begin(&mut self, _: Direction, rng: Rng) {
        self.rng = Some(rng);
    }

    fn on_frame(&mut self, frame: &SentFrame) -> FrameAction {
        let last = self.last.replace(frame.at);
        match (last, &mut self.rng) {
            (Some(last), Some(rng)) if frame.at.since(last) >= IDLE => {
                FrameAction::Hold(rng.span(&WAKING))
            }
            _ => FrameAction::Pass,
        }
    }
}
