//! Delayed duplicate acknowledgments: Vaidya, Mehta, Perkins and Montenegro, "Delayed duplicate
//! acknowledgements: a TCP-unaware approach to improve performance of TCP over wireless" (2002).
//!
//! A link with local retransmission fills most gaps by itself. To give it time, the receiver sends
//! the first two duplicate acknowledgments at once and holds all further ones for the same delay.
//! It discards them when the gap is filled; otherwise it sends them together.

use rtolab_time::{Duration, Instant};

/// The number of duplicates that are never held. They alone start no fast retransmit.
const AT_ONCE: u32 = 2;

/// The decision about a duplicate acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dupack {
    /// It is sent.
    Now,
    /// It is held.
    Held,
}

/// The duplicate acknowledgments since RCV.NXT last moved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dupacks {
    /// How long a link may take to fill a gap.
    delay: Duration,
    count: u32,
    held: u32,
    until: Option<Instant>,
    /// The delay for this gap has expired: no more duplicates are held.
    expired: bool,
}

impl Dupacks {
    /// No duplicate so far; a link may take `delay` to fill a gap.
    pub(super) const fn new(delay: Duration) -> Self {
        Self { delay, count: 0, held: 0, until: None, expired: false }
    }

    /// A segment arrived above a gap.
    pub(super) fn arrived(&mut self, at: Instant) -> Dupack {
        self.count = self.count.saturating_add(1);
        if self.count <= AT_ONCE || self.expired {
            return Dupack::Now;
        }
        self.held += 1;
        self.until.get_or_insert(at + self.delay);
        Dupack::Held
    }

    /// RCV.NXT moved: discards the held duplicates.
    pub(super) fn filled(&mut self) {
        *self = Self::new(self.delay);
    }

    /// When the held duplicates are sent.
    pub(super) const fn until(&self) -> Option<Instant> {
        self.until
    }

    /// Releases the held duplicates if the delay has expired, and returns their number.
    pub(super) fn released(&mut self, at: Instant) -> u32 {
        match self.until {
            Some(until) if until <= at => {
                (self.until, self.expired) = (None, true);
                core::mem::take(&mut self.held)
            }
            _ => 0,
        }
    }
}
