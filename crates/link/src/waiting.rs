//! The queue of a station: frames that wait in fact, since nobody knows for how long.

use alloc::collections::VecDeque;

use rtolab_time::{Duration, Instant};

use crate::arq::{Moment, Payload, Purpose};
use crate::codel::{Backlogged, ControlledDelay, Popped};
use crate::config::{DirectionConfig, Discipline};
use crate::frame::{CopyId, Direction, DropCause, Frame, Outcome};
use crate::report::Impairment;
use crate::room::Load;

/// A frame of the hosts inside a station.
#[derive(Clone, Debug)]
pub(crate) struct QueuedFrame<F> {
    pub(crate) frame: F,
    /// When it was sent into the link.
    pub(crate) offered: Instant,
    /// When it came to the queue: later, where the entry was stalled.
    pub(crate) entry: Instant,
    /// How long the transmitter had stalled till then, all together; once the frame has left the
    /// queue of a station that sends it as it is, how long it was held till then.
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

    fn takes_marks(&self) -> bool {
        self.frame.takes_marks()
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

    fn stalled_at_entry(&self, _: Moment) -> Duration {
        self.stalled
    }
}

/// What became of a frame, to be told.
#[derive(Clone, Debug)]
pub(crate) struct Told<F> {
    pub(crate) due: Instant,
    pub(crate) outcome: Outcome<QueuedFrame<F>>,
}

/// The outcomes of one direction, in the order in which they happened.
#[derive(Clone, Debug)]
pub(crate) struct Delivery<F> {
    pub(crate) direction: Direction,
    pub(crate) told: VecDeque<Told<F>>,
}

impl<F> Delivery<F> {
    pub(crate) fn deliver(&mut self, frame: QueuedFrame<F>, held: Duration, due: Instant) {
        let direction = self.direction;
        let outcome = Outcome::Delivered { direction, frame, held, duplicate: false };
        self.told.push_back(Told { due, outcome });
    }

    /// A second one of a frame that was delivered before.
    pub(crate) fn duplicate(&mut self, frame: QueuedFrame<F>, held: Duration, due: Instant) {
        let direction = self.direction;
        let outcome = Outcome::Delivered { direction, frame, held, duplicate: true };
        self.told.push_back(Told { due, outcome });
    }

    /// The frame was dropped at `at`, which is told at `due`.
    pub(crate) fn drop(
        &mut self,
        frame: QueuedFrame<F>,
        cause: DropCause,
        [at, due]: [Instant; 2],
    ) {
        let direction = self.direction;
        let outcome = Outcome::Dropped { direction, frame, cause, at };
        self.told.push_back(Told { due, outcome });
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Waiting<F> {
    frames: VecDeque<QueuedFrame<F>>,
    load: Load,
    codel: Option<ControlledDelay>,
    lifetime: Option<Duration>,
}

impl<F: Frame> Waiting<F> {
    pub(crate) fn new(config: &DirectionConfig) -> Self {
        let codel = match config.discipline {
            Discipline::CoDel(codel) => Some(ControlledDelay::new(codel)),
            Discipline::DropTail | Discipline::Red(_) => None,
        };
        let lifetime = config.lifetime;
        Self { frames: VecDeque::new(), load: Load::default(), codel, lifetime }
    }

    pub(crate) const fn load(&self) -> Load {
        self.load
    }

    /// The size of the first frame.
    pub(crate) fn first_bytes(&self) -> Option<u32> {
        self.frames.front().map(Frame::bytes)
    }

    pub(crate) fn push(&mut self, queued: QueuedFrame<F>) {
        self.load.add(queued.frame.bytes());
        self.frames.push_back(queued);
    }

    /// The next frame to send; those that are dropped instead take the exit.
    pub(crate) fn take(&mut self, now: Instant, exit: &mut Delivery<F>) -> Option<QueuedFrame<F>> {
        let Self { frames, load, codel, lifetime } = self;
        let mut leaving = Leaving { frames, load, lifetime: *lifetime, exit, now };
        match codel {
            Some(codel) => codel.dequeue(now, &mut leaving),
            None => leaving.pop().map(|popped| popped.frame),
        }
    }
}

/// The exit of the queue at an instant.
struct Leaving<'a, F> {
    frames: &'a mut VecDeque<QueuedFrame<F>>,
    load: &'a mut Load,
    lifetime: Option<Duration>,
    exit: &'a mut Delivery<F>,
    now: Instant,
}

impl<F: Frame> Backlogged for Leaving<'_, F> {
    type Frame = QueuedFrame<F>;

    fn pop(&mut self) -> Option<Popped<QueuedFrame<F>>> {
        loop {
            let queued = self.frames.pop_front()?;
            self.load.remove(queued.frame.bytes());
            if self.lifetime.is_some_and(|lifetime| self.now.since(queued.offered) > lifetime) {
                self.exit.drop(queued, DropCause::Lifetime, [self.now; 2]);
                continue;
            }
            let sojourn = self.now.since(queued.entry);
            return Some(Popped { frame: queued, sojourn, backlog: self.load.bytes });
        }
    }

    fn discard(&mut self, queued: QueuedFrame<F>) {
        self.exit.drop(queued, DropCause::Early, [self.now; 2]);
    }
}
