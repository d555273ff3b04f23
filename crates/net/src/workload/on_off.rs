//! An application that has data at a rate while it is on (ns-2: exponential on/off traffic).

use rtolab_link::{Distribution, Rng};
use rtolab_record::Place;
use rtolab_time::{Duration, Instant, Rate};

use super::Action;

/// A source that writes a segment whenever so much has come together while it is on, and never
/// ends. What an on span leaves of a segment is filled up in the next.
#[derive(Clone, Debug)]
pub struct OnOff {
    on: Distribution,
    off: Distribution,
    rng: Rng,
    segment: u32,
    /// How long a segment takes to come together.
    every: Duration,
    /// The end of the on span under way when the next segment is complete.
    on_until: Instant,
    /// When that is; never if it is never on.
    next: Instant,
}

impl OnOff {
    /// On and off for spans of these distributions, the first on span from `begin`; data comes at
    /// the rate of payload and is written in segments of so many bytes.
    pub fn new(
        begin: Instant,
        (on, off, rng): (Distribution, Distribution, Rng),
        (rate, segment): (Rate, u32),
    ) -> Self {
        // At least a moment, so that time goes on.
        let every = rate.time_for(segment).max(Duration::from_nanos(1));
        let mut source = Self { on, off, rng, segment, every, on_until: begin, next: begin };
        if on.mean().is_zero() || segment == 0 {
            source.next = Instant::NEVER;
        } else {
            source.on_until = begin + source.rng.span(on);
            source.next = source.complete_from(begin);
        }
        source
    }

    /// When the next segment is complete of which the first byte comes at `start`.
    fn complete_from(&mut self, start: Instant) -> Instant {
        let (mut at, mut needed) = (start, self.every);
        loop {
            let left = self.on_until.since(at);
            if needed <= left {
                return at + needed;
            }
            needed -= left;
            at = self.on_until + self.rng.span(self.off);
            self.on_until = at + self.rng.span(self.on);
        }
    }

    pub(super) fn poll(&mut self, at: Instant) -> Option<Action> {
        if at < self.next {
            return None;
        }
        self.next = self.complete_from(self.next);
        Some(Action::Write { at: Place::Sender, bytes: self.segment.into() })
    }

    pub(super) fn next_timer(&self) -> Option<Instant> {
        (self.next != Instant::NEVER).then_some(self.next)
    }
}
