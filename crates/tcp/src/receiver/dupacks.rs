//! Delayed duplicate acknowledgments: Vaidya, Mehta, Perkins and Montenegro, "Delayed duplicate
//! acknowledgements: a TCP-unaware approach to improve performance of TCP over wireless" (2002).
//!
//! A link that retransmits by itself fills most gaps. The receiver gives it time: the first two
//! duplicate acknowledgments leave at once, the third and later ones wait, all until one instant.
//! The gap filled, they are forgotten; else they leave together.

use rtolab_time::{Duration, Instant};

/// So many never wait: they alone start no fast retransmit.
const AT_ONCE: u32 = 2;

/// What becomes of a duplicate acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dupack {
    /// It leaves.
    Now,
    /// It waits.
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
    /// The wait for this gap is over: nothing more is held.
    over: bool,
}

impl Dupacks {
    /// None so far; a link may take `delay` to fill a gap.
    pub(super) const fn new(delay: Duration) -> Self {
        Self { delay, count: 0, held: 0, until: None, over: false }
    }

    /// A segment arrived above a gap.
    pub(super) fn arrived(&mut self, at: Instant) -> Dupack {
        self.count = self.count.saturating_add(1);
        if self.count <= AT_ONCE || self.over {
            return Dupack::Now;
        }
        self.held += 1;
        self.until.get_or_insert(at + self.delay);
        Dupack::Held
    }

    /// RCV.NXT moved: those that wait are out of date.
    pub(super) fn filled(&mut self) {
        *self = Self::new(self.delay);
    }

    /// When those that wait leave.
    pub(super) const fn until(&self) -> Option<Instant> {
        self.until
    }

    /// How many leave because the wait is over.
    pub(super) fn released(&mut self, at: Instant) -> u32 {
        match self.until {
            Some(until) if until <= at => {
                (self.until, self.over) = (None, true);
                core::mem::take(&mut self.held)
            }
            _ => 0,
        }
    }
}
