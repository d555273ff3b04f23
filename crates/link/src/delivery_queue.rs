//! Frames whose fate is settled, until it is due.

use alloc::collections::VecDeque;

use rtolab_time::{Duration, Instant};

use crate::config::Order;
use crate::frame::{Frame, Outcome};
use crate::report::{Impairment, Stats};

/// An outcome that waits until it is due.
#[derive(Clone, Debug)]
pub(crate) struct Settled<F> {
    pub(crate) due: Instant,
    /// When the frame came to the link.
    pub(crate) offered: Instant,
    pub(crate) outcome: Outcome<F>,
}

/// The way out of a direction.
#[derive(Clone, Debug)]
pub(crate) struct DeliveryQueue<F> {
    order: Order,
    /// When the last of all frames so far leaves or left.
    last: Instant,
    /// When it would have left without any spike.
    last_undisturbed: Instant,
    /// Frames with their fate, in order of exit: where order is kept that is the order of entry.
    leaving: VecDeque<Settled<F>>,
    /// Frames that the queue did not take, in order of entry.
    refused: VecDeque<Settled<F>>,
    /// When the next of both is due.
    due: Instant,
    /// The second copies among them.
    duplicates: usize,
    /// Those of them that something happened to, and when they are due. Apart from the others, for
    /// few links have any and what waits should be small.
    blemished: VecDeque<(Instant, Impairment)>,
}

/// When a frame comes out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivery {
    pub(crate) at: Instant,
    /// How long it was held: of the way out, by its own spike and those of frames that had to come
    /// out before it.
    pub(crate) held: Duration,
}

impl<F: Frame> DeliveryQueue<F> {
    pub(crate) fn new(order: Order) -> Self {
        Self {
            order,
            last: Instant::START,
            last_undisturbed: Instant::START,
            leaving: VecDeque::new(),
            refused: VecDeque::new(),
            due: Instant::NEVER,
            duplicates: 0,
            blemished: VecDeque::new(),
        }
    }

    /// The turn of what is known at `at` not to come out.
    pub(crate) fn give_up(&mut self, at: Instant) -> Instant {
        let exit = self.in_order(at, self.last);
        self.last = self.last.max(exit);
        exit
    }

    /// The turn of a frame that reaches the far end at `arrival` and then has this spike.
    pub(crate) fn come_out(&mut self, arrival: Instant, spike: Duration) -> Delivery {
        let undisturbed = self.in_order(arrival, self.last_undisturbed);
        let at = self.in_order(arrival + spike, self.last);
        self.last_undisturbed = self.last_undisturbed.max(undisturbed);
        self.last = self.last.max(at);
        Delivery { at, held: at.since(undisturbed) }
    }

    fn in_order(&self, at: Instant, last: Instant) -> Instant {
        match self.order {
            Order::Kept => at.max(last),
            Order::Free => at,
        }
    }

    /// A frame that is told of when it has its turn.
    #[inline]
    pub(crate) fn push(&mut self, settled: Settled<F>) {
        self.due = self.due.min(settled.due);
        let is_last = settled.due >= self.last;
        self.leaving.push_back(settled);
        if !is_last {
            self.sift();
        }
    }

    /// Something happened to the frame that is delivered at `due`.
    pub(crate) fn impairment(&mut self, due: Instant, impairment: Impairment) {
        let place = self.blemished.partition_point(|(other, _)| *other <= due);
        self.blemished.insert(place, (due, impairment));
    }

    /// The second copy of a frame.
    pub(crate) fn push_duplicate(&mut self, settled: Settled<F>) {
        self.duplicates += 1;
        self.push(settled);
    }

    /// Moves the last one to its place, behind all that are due when it is.
    #[cold]
    fn sift(&mut self) {
        let Some(settled) = self.leaving.pop_back() else { return };
        let place = self.leaving.partition_point(|other| other.due <= settled.due);
        self.leaving.insert(place, settled);
    }

    /// A frame that is told of at once, before those that came earlier.
    pub(crate) fn refuse(&mut self, settled: Settled<F>) {
        self.due = self.due.min(settled.due);
        self.refused.push_back(settled);
    }

    /// The next one due at or before `at`, counted in `stats`.
    #[inline]
    pub(crate) fn poll(&mut self, at: Instant, stats: &mut Stats) -> Option<Outcome<F>> {
        if self.due > at {
            return None;
        }
        let due = |ring: &VecDeque<Settled<F>>| ring.front().map_or(Instant::NEVER, |it| it.due);
        let ring = match due(&self.leaving) <= due(&self.refused) {
            true => &mut self.leaving,
            false => &mut self.refused,
        };
        // Looked at where it is: to take it apart once it has moved costs more than all else here.
        let settled = ring.front()?;
        match &settled.outcome {
            Outcome::Delivered { duplicate: true, .. } => {
                self.duplicates -= 1;
                stats.duplicates += 1;
            }
            Outcome::Delivered { frame, .. } => {
                stats.deliver(frame.bytes(), settled.due.since(settled.offered));
            }
            Outcome::Dropped { frame, cause, .. } => stats.lose(frame.bytes(), *cause),
        }
        while self.blemished.front().is_some_and(|(due, _)| *due <= settled.due) {
            stats.note(self.blemished.pop_front().map(|(_, impairment)| impairment));
        }
        let settled = ring.pop_front()?;
        self.due = due(&self.leaving).min(due(&self.refused));
        Some(settled.outcome)
    }

    /// When the next one is due; [`Instant::NEVER`] if there is none.
    #[inline]
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    /// How many frames are still to be told of; their second copies do not count.
    pub(crate) fn len(&self) -> usize {
        self.leaving.len() + self.refused.len() - self.duplicates
    }
}
