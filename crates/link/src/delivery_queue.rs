//! The outcomes of frames that are known but not due yet.

use alloc::collections::VecDeque;

use rtolab_time::{Duration, Instant};

use crate::config::Order;
use crate::frame::{Frame, Outcome};
use crate::report::{Impairment, Stats};

/// An outcome and when it is due.
#[derive(Clone, Debug)]
pub(crate) struct ScheduledOutcome<F> {
    pub(crate) due: Instant,
    /// When the frame was sent into the link.
    pub(crate) offered: Instant,
    pub(crate) outcome: Outcome<F>,
}

/// The outcomes of one direction.
#[derive(Clone, Debug)]
pub(crate) struct DeliveryQueue<F> {
    order: Order,
    /// When the last frame so far is delivered.
    last: Instant,
    /// When it would be delivered without spikes.
    last_undisturbed: Instant,
    /// Outcomes in the order in which they are due; if order is kept, that is the order of entry.
    scheduled_queue: VecDeque<ScheduledOutcome<F>>,
    /// Frames that the queue dropped at entry, in order.
    queue_drops: VecDeque<ScheduledOutcome<F>>,
    /// When the next outcome is due.
    due: Instant,
    /// The number of second copies in `scheduled_queue`.
    duplicates: usize,
    /// Impairments of delivered frames, and when these are due. They are separate because few links
    /// have any, and an outcome that waits should be small.
    impaired: VecDeque<(Instant, Impairment)>,
}

/// The delivery of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivery {
    pub(crate) at: Instant,
    /// The delay by its own spike and by those of earlier frames.
    pub(crate) held: Duration,
}

impl<F: Frame> DeliveryQueue<F> {
    pub(crate) fn new(order: Order) -> Self {
        Self {
            order,
            last: Instant::START,
            last_undisturbed: Instant::START,
            scheduled_queue: VecDeque::new(),
            queue_drops: VecDeque::new(),
            due: Instant::NEVER,
            duplicates: 0,
            impaired: VecDeque::new(),
        }
    }

    /// Schedules the loss of a frame at `at`. Returns when its outcome is due.
    pub(crate) fn schedule_loss(&mut self, at: Instant) -> Instant {
        let exit = self.in_order(at, self.last);
        self.last = self.last.max(exit);
        exit
    }

    /// Schedules the delivery of a frame that reaches the far end at `arrival` and then has this
    /// spike.
    pub(crate) fn schedule_delivery(&mut self, arrival: Instant, spike: Duration) -> Delivery {
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
    pub(crate) fn push(&mut self, scheduled: ScheduledOutcome<F>) {
        self.due = self.due.min(scheduled.due);
        let is_last = scheduled.due >= self.last;
        self.scheduled_queue.push_back(scheduled);
        if !is_last {
            self.sort_last();
        }
    }

    /// Records the impairment of the frame that is delivered at `due`.
    pub(crate) fn add_impairment(&mut self, due: Instant, impairment: Impairment) {
        let place = self.impaired.partition_point(|(other, _)| *other <= due);
        self.impaired.insert(place, (due, impairment));
    }

    /// Adds the second copy of a frame.
    pub(crate) fn push_duplicate(&mut self, scheduled: ScheduledOutcome<F>) {
        self.duplicates += 1;
        self.push(scheduled);
    }

    /// Moves the last outcome after all that are due no later.
    #[cold]
    fn sort_last(&mut self) {
        let Some(scheduled) = self.scheduled_queue.pop_back() else { return };
        let place = self.scheduled_queue.partition_point(|other| other.due <= scheduled.due);
        self.scheduled_queue.insert(place, scheduled);
    }

    /// Adds a frame that the queue dropped at entry. Its outcome precedes those of earlier frames.
    pub(crate) fn push_queue_drop(&mut self, scheduled: ScheduledOutcome<F>) {
        self.due = self.due.min(scheduled.due);
        self.queue_drops.push_back(scheduled);
    }

    /// The next outcome due by `at`, counted in `stats`.
    #[inline]
    pub(crate) fn poll(&mut self, at: Instant, stats: &mut Stats) -> Option<Outcome<F>> {
        if self.due > at {
            return None;
        }
        let due =
            |ring: &VecDeque<ScheduledOutcome<F>>| ring.front().map_or(Instant::NEVER, |it| it.due);
        let ring = match due(&self.scheduled_queue) <= due(&self.queue_drops) {
            true => &mut self.scheduled_queue,
            false => &mut self.queue_drops,
        };
        // Inspected in place: destructuring after the move costs more than everything else here.
        let scheduled = ring.front()?;
        match &scheduled.outcome {
            Outcome::Delivered { duplicate: true, .. } => {
                self.duplicates -= 1;
                stats.duplicates += 1;
            }
            Outcome::Delivered { frame, .. } => {
                stats.count_delivered(frame.bytes(), scheduled.due.since(scheduled.offered));
            }
            Outcome::Dropped { frame, cause, .. } => stats.count_lost(frame.bytes(), *cause),
        }
        while self.impaired.front().is_some_and(|(due, _)| *due <= scheduled.due) {
            stats.count_impairment(self.impaired.pop_front().map(|(_, impairment)| impairment));
        }
        let scheduled = ring.pop_front()?;
        self.due = due(&self.scheduled_queue).min(due(&self.queue_drops));
        Some(scheduled.outcome)
    }

    /// When the next outcome is due, or [`Instant::NEVER`].
    #[inline]
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    /// The number of frames with outcomes to return, without second copies.
    pub(crate) fn len(&self) -> usize {
        self.scheduled_queue.len() + self.queue_drops.len() - self.duplicates
    }
}
