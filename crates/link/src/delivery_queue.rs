//! Frames with known outcomes that are not due yet.

use alloc::collections::VecDeque;

use rtolab_time::{Duration, Instant};

use crate::config::Order;
use crate::frame::{Frame, Outcome};
use crate::report::{Impairment, Stats};

/// An outcome that waits until it is due.
#[derive(Clone, Debug)]
pub(crate) struct Settled<F> {
    pub(crate) due: Instant,
    /// When the frame was sent into the link.
    pub(crate) offered: Instant,
    pub(crate) outcome: Outcome<F>,
}

/// The outcomes of one direction.
#[derive(Clone, Debug)]
pub(crate) struct DeliveryQueue<F> {
    order: Order,
    /// When the last frame so far comes out.
    last: Instant,
    /// When it would come out without spikes.
    last_undisturbed: Instant,
    /// Outcomes in the order in which they are due; if order is kept, that is the order of entry.
    leaving: VecDeque<Settled<F>>,
    /// Frames that the queue refused, in order of entry.
    refused: VecDeque<Settled<F>>,
    /// When the next outcome is due.
    due: Instant,
    /// The number of second copies in `leaving`.
    duplicates: usize,
    /// Impairments of delivered frames, and when these are due. They are separate because few links
    /// have any, and an outcome that waits should be small.
    impaired: VecDeque<(Instant, Impairment)>,
}

/// When a frame comes out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivery {
    pub(crate) at: Instant,
    /// How long its own spike and those of earlier frames delayed it.
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
            impaired: VecDeque::new(),
        }
    }

    /// When the loss at `at` of a frame is due.
    pub(crate) fn give_up(&mut self, at: Instant) -> Instant {
        let exit = self.in_order(at, self.last);
        self.last = self.last.max(exit);
        exit
    }

    /// When a frame comes out that reaches the far end at `arrival` and then has this spike.
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

    /// Adds an outcome.
    #[inline]
    pub(crate) fn push(&mut self, settled: Settled<F>) {
        self.due = self.due.min(settled.due);
        let is_last = settled.due >= self.last;
        self.leaving.push_back(settled);
        if !is_last {
            self.sift();
        }
    }

    /// Notes the impairment of the frame that is delivered at `due`.
    pub(crate) fn impairment(&mut self, due: Instant, impairment: Impairment) {
        let place = self.impaired.partition_point(|(other, _)| *other <= due);
        self.impaired.insert(place, (due, impairment));
    }

    /// Adds the second copy of a frame.
    pub(crate) fn push_duplicate(&mut self, settled: Settled<F>) {
        self.duplicates += 1;
        self.push(settled);
    }

    /// Moves the last outcome to its place, after all that are due no later.
    #[cold]
    fn sift(&mut self) {
        let Some(settled) = self.leaving.pop_back() else { return };
        let place = self.leaving.partition_point(|other| other.due <= settled.due);
        self.leaving.insert(place, settled);
    }

    /// Adds a refused frame: its outcome precedes those of earlier frames.
    pub(crate) fn refuse(&mut self, settled: Settled<F>) {
        self.due = self.due.min(settled.due);
        self.refused.push_back(settled);
    }

    /// The next outcome due by `at`, counted in `stats`.
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
        // Inspected in place: destructuring after the move costs more than everything else here.
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
        while self.impaired.front().is_some_and(|(due, _)| *due <= settled.due) {
            stats.note(self.impaired.pop_front().map(|(_, impairment)| impairment));
        }
        let settled = ring.pop_front()?;
        self.due = due(&self.leaving).min(due(&self.refused));
        Some(settled.outcome)
    }

    /// When the next outcome is due, or [`Instant::NEVER`].
    #[inline]
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    /// The number of frames with outcomes to return, without second copies.
    pub(crate) fn len(&self) -> usize {
        self.leaving.len() + self.refused.len() - self.duplicates
    }
}
