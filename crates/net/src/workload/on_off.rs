//! On/off traffic: data at a rate during on periods (ns-2: exponential on/off traffic).

use rtolab_link::{Distribution, Rng};
use rtolab_record::Place;
use rtolab_time::{Duration, Instant, Rate};

use super::Action;

/// An endless source that generates data at a rate during on periods and writes it in full
/// segments. The next on period completes a partial segment.
#[derive(Clone, Debug)]
pub struct OnOff {
    on: Distribution,
    off: Distribution,
    rng: Rng,
    segment: u32,
    /// The time in which a segment's data is generated.
    every: Duration,
    /// The end of the on period in which the next segment is completed.
    on_until: Instant,
    /// When the next segment is completed; never if the source is never on.
    next: Instant,
}

impl OnOff {
    /// A source with on and off periods of these distributions. The first on period begins at
    /// `begin`. `rate` is that of the payload, `segment` is in bytes.
    pub fn new(
        begin: Instant,
        (on, off, rng): (Distribution, Distribution, Rng),
        (rate, segment): (Rate, u32),
    ) -> Self {
        // At least 1 ns, so that time advances.
        let every = rate.time_for(segment).max(Duration::from_nanos(1));
        let mut source = Self { on, off, rng, segment, every, on_until: begin, next: begin };
        if source.on.mean().is_zero() || segment == 0 {
            source.next = Instant::NEVER;
        } else {
            source.on_until = begin + source.rng.span(&source.on);
            source.next = source.complete_from(begin);
        }
        source
    }

    /// When a segment is completed whose first byte is generated at `start`.
    fn complete_from(&mut self, start: Instant) -> Instant {
        let (mut at, mut needed) = (start, self.every);
        loop {
            let left = self.on_until.since(at);
            if needed <= left {
                return at + needed;
            }
            needed -= left;
            at = self.on_until + self.rng.span(&self.off);
            self.on_until = at + self.rng.span(&self.on);
        }
    }

    pub(super) fn reseed(&mut self, salt: u64) {
        self.rng.reseed(salt);
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
