//! Opportunities of the first frames after an idle time.

use alloc::sync::Arc;

use rtolab_time::{Duration, Instant};

use crate::config::LightOpportunities;
use crate::timeline::{Interrupting, Timeline};

/// The bytes that an opportunity carries.
pub(crate) const CAPACITY: u32 = 1500;
/// The transmitter is idle if it has sent nothing for this time, the resolution of the traces.
const IDLE: Duration = Duration::from_millis(1);

/// The current train of frames, and its position in the opportunities.
#[derive(Clone, Debug)]
pub(crate) struct Train {
    trace: Arc<LightOpportunities>,
    /// When its first frame could be sent; `None` before the first train.
    start: Option<Instant>,
    /// The index of its opportunities in the trace, and of the next one of them.
    index: usize,
    next: usize,
    /// The current opportunity, and the bytes left of it.
    pub(crate) at: Instant,
    left: u32,
}

impl Train {
    pub(crate) const fn new(trace: Arc<LightOpportunities>) -> Self {
        Self { trace, start: None, index: 0, next: 0, at: Instant::START, left: 0 }
    }

    /// Begins a train if a frame that can be sent from `ready` on finds the transmitter idle since
    /// `idle_from`.
    pub(crate) fn begin(&mut self, ready: Instant, idle_from: Instant) {
        if ready == Instant::NEVER || (self.start.is_some() && ready < idle_from + IDLE) {
            return;
        }
        let since = ready.since(Instant::START).nanos();
        let period = self.trace.period.map_or(0, Duration::nanos);
        let since = since.checked_rem(period).unwrap_or(since);
        let after = self.trace.trains.partition_point(|(from, _)| from.nanos() <= since);
        (self.start, self.index, self.next) = (Some(ready), after.saturating_sub(1), 0);
        (self.at, self.left) = (ready, 0);
    }

    /// The first opportunity from `ready` on with bytes left; `None` if they are used up.
    pub(crate) fn seek(&mut self, ready: Instant, stalls: &mut Timeline) -> Option<Instant> {
        loop {
            if self.left > 0 && self.at >= stalls.release(ready.max(self.at)) {
                return Some(self.at);
            }
            self.advance()?;
        }
    }

    /// The bytes of a frame that exceed the opportunities; 0 if the frame has been sent by `at`.
    pub(crate) fn send(&mut self, bytes: u32, stalls: &mut Timeline) -> u32 {
        let mut bytes = bytes;
        while bytes > self.left {
            bytes -= self.left;
            self.left = 0;
            if self.seek(self.at, stalls).is_none() {
                return bytes;
            }
        }
        self.left -= bytes;
        0
    }

    fn advance(&mut self) -> Option<()> {
        self.left = 0;
        let since = *self.trace.trains.get(self.index)?.1.get(self.next)?;
        self.next += 1;
        (self.at, self.left) = (self.start? + since, CAPACITY);
        Some(())
    }
}
