//! The queue of an ARQ node. It stores frames, because the time of their transmission is not known
//! at entry.

use alloc::collections::VecDeque;

use rtolab_time::{Duration, Instant};

use crate::arq::{NodeTime, Payload, Purpose};
use crate::codel::{CoDelQueue, ControlledDelay, DequeuedFrame};
use crate::config::{DirectionConfig, Discipline};
use crate::frame::{CopyId, Direction, DropCause, Frame, Outcome};
use crate::occupancy::Occupancy;
use crate::report::Impairment;

/// A frame of the hosts in a node.
#[derive(Clone, Debug)]
pub(crate) struct QueuedFrame<F> {
    pub(crate) frame: F,
    /// When it was sent into the link.
    pub(crate) offered: Instant,
    /// When it arrived at the queue: later if the entry was stalled.
    pub(crate) entry: Instant,
    /// The transmitter's total stall time so far when it arrived; without ARQ, from when it leaves
    /// the queue, how long it was held until then.
    pub(crate) stalled: Duration,
    pub(crate) impairment: Impairment,
}

impl<F: Frame> Frame for QueuedFrame<F> {
    fn bytes(&self) -> u32 {
        self.frame.bytes()
    }

    fn copy_id(&self) -> CopyId {
        self.frame.copy_id()
    }

    fn is_ecn_capable(&self) -> bool {
        self.frame.is_ecn_capable()
    }

    fn mark_congestion(&mut self) {
        self.impairment.marked = true;
        self.frame.mark_congestion();
    }

    fn corrupt(&mut self) {
        self.impairment.corrupt = true;
        self.frame.corrupt();
    }
}

impl<F: Frame> Payload for QueuedFrame<F> {
    fn bytes(&self) -> u32 {
        self.frame.bytes()
    }

    fn corrupt(&mut self) {
        Frame::corrupt(self);
    }

    fn purpose(&self) -> Purpose {
        Purpose::New
    }

    fn stalled_at_entry(&self, _: NodeTime) -> Duration {
        self.stalled
    }
}

#[derive(Clone, Debug)]
pub(crate) struct PendingOutcome<F> {
    pub(crate) due: Instant,
    pub(crate) outcome: Outcome<QueuedFrame<F>>,
}

/// The outcomes of one direction, in the order in which they happened.
#[derive(Clone, Debug)]
pub(crate) struct Outcomes<F> {
    pub(crate) direction: Direction,
    pub(crate) queue: VecDeque<PendingOutcome<F>>,
}

impl<F> Outcomes<F> {
    pub(crate) fn deliver(
        &mut self,
        (frame, duplicate): (QueuedFrame<F>, bool),
        held: Duration,
        due: Instant,
    ) {
        let direction = self.direction;
        let outcome = Outcome::Delivered { direction, frame, held, duplicate };
        self.queue.push_back(PendingOutcome { due, outcome });
    }

    /// The frame was dropped at `at`, and its outcome is due at `due`.
    pub(crate) fn drop(
        &mut self,
        frame: QueuedFrame<F>,
        cause: DropCause,
        [at, due]: [Instant; 2],
    ) {
        let direction = self.direction;
        let outcome = Outcome::Dropped { direction, frame, cause, at };
        self.queue.push_back(PendingOutcome { due, outcome });
    }
}

#[derive(Clone, Debug)]
pub(crate) struct FrameQueue<F> {
    frames: VecDeque<QueuedFrame<F>>,
    occupancy: Occupancy,
    codel: Option<ControlledDelay>,
    lifetime: Option<Duration>,
}

impl<F: Frame> FrameQueue<F> {
    pub(crate) fn new(config: &DirectionConfig) -> Self {
        let codel = match config.discipline {
            Discipline::CoDel(codel) => Some(ControlledDelay::new(codel)),
            Discipline::DropTail | Discipline::Red(_) => None,
        };
        let lifetime = config.lifetime;
        Self { frames: VecDeque::new(), occupancy: Occupancy::default(), codel, lifetime }
    }

    pub(crate) const fn occupancy(&self) -> Occupancy {
        self.occupancy
    }

    /// The size of the frame at the head.
    pub(crate) fn first_bytes(&self) -> Option<u32> {
        self.frames.front().map(Frame::bytes)
    }

    pub(crate) fn push(&mut self, queued: QueuedFrame<F>) {
        self.occupancy.add(queued.frame.bytes());
        self.frames.push_back(queued);
    }

    /// The next frame to send; frames that are dropped instead become outcomes.
    pub(crate) fn take(
        &mut self,
        now: Instant,
        outcomes: &mut Outcomes<F>,
    ) -> Option<QueuedFrame<F>> {
        let Self { frames, occupancy, codel, lifetime } = self;
        let mut leaving = Dequeue { frames, occupancy, lifetime: *lifetime, outcomes, now };
        match codel {
            Some(codel) => codel.dequeue(now, &mut leaving),
            None => leaving.pop().map(|popped| popped.frame),
        }
    }
}

/// The removal of frames from the queue at an instant.
struct Dequeue<'a, F> {
    frames: &'a mut VecDeque<QueuedFrame<F>>,
    occupancy: &'a mut Occupancy,
    lifetime: Option<Duration>,
    outcomes: &'a mut Outcomes<F>,
    now: Instant,
}

impl<F: Frame> CoDelQueue for Dequeue<'_, F> {
    type Frame = QueuedFrame<F>;

    fn pop(&mut self) -> Option<DequeuedFrame<QueuedFrame<F>>> {
        loop {
            let queued = self.frames.pop_front()?;
            self.occupancy.remove(queued.frame.bytes());
            if self.lifetime.is_some_and(|lifetime| self.now.since(queued.offered) > lifetime) {
                self.outcomes.drop(queued, DropCause::Lifetime, [self.now; 2]);
                continue;
            }
            let sojourn = self.now.since(queued.entry);
            return Some(DequeuedFrame { frame: queued, sojourn, backlog: self.occupancy.bytes });
        }
    }

    fn discard(&mut self, queued: QueuedFrame<F>) {
        self.outcomes.drop(queued, DropCause::Early, [self.now; 2]);
    }
}
