//! The sender of an ARQ layer.

use alloc::collections::{BTreeSet, VecDeque};

use rtolab_time::{Duration, Instant};

use crate::ring::Ring;

/// The state of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    New,
    InFlight,
    Lost,
    /// It arrived or was given up.
    Done,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    frame: u64,
    bytes: u32,
    status: Status,
    transmissions: u32,
    /// The last transmission.
    transmission: u64,
    /// Does a deadline run for it?
    timed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Deadline {
    at: Instant,
    transmission: u64,
}

/// The action after the loss of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossAction {
    /// None: the loss was known.
    Known,
    Retransmit,
    /// Give up this frame, because the block has used up its retransmissions.
    GiveUp(u64),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockTransmission {
    pub(crate) number: u64,
    pub(crate) frame: u64,
    pub(crate) bytes: u32,
    pub(crate) transmission: u64,
    /// The number of earlier transmissions.
    pub(crate) before: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Sender {
    retries: u32,
    timeout: Duration,
    /// The blocks from the oldest that is neither acknowledged nor given up.
    slots: Ring<Slot>,
    /// The first block that was never sent.
    unsent: u64,
    /// The block of each transmission that was not reported yet.
    transmissions: Ring<Option<u64>>,
    to_retransmit: BTreeSet<u64>,
    deadlines: VecDeque<Deadline>,
}

impl Sender {
    pub(crate) fn new(retries: u32, timeout: Duration) -> Self {
        let (slots, transmissions) = (Ring::new(), Ring::new());
        let (to_retransmit, deadlines) = (BTreeSet::new(), VecDeque::new());
        Self { retries, timeout, slots, unsent: 0, transmissions, to_retransmit, deadlines }
    }

    /// Adds a block of a frame.
    pub(crate) fn add(&mut self, frame: u64, bytes: u32) {
        let (transmissions, transmission) = (0, 0);
        let status = Status::New;
        self.slots.push(Slot { frame, bytes, status, transmissions, transmission, timed: false });
    }

    /// The number that the next block gets.
    pub(crate) fn end(&self) -> u64 {
        self.slots.end()
    }

    /// The oldest block that may still arrive.
    pub(crate) const fn window_start(&self) -> u64 {
        self.slots.first()
    }

    pub(crate) fn has_work(&self) -> bool {
        !self.to_retransmit.is_empty() || self.unsent < self.slots.end()
    }

    /// The block to send now: the oldest to retransmit, or else a new one.
    pub(crate) fn send(&mut self) -> Option<BlockTransmission> {
        let number = self.to_retransmit.pop_first().or_else(|| self.next_new())?;
        let transmission = self.transmissions.end();
        self.transmissions.push(Some(number));
        let slot = self.slots.get_mut(number)?;
        let before = slot.transmissions;
        slot.transmissions += 1;
        slot.transmission = transmission;
        slot.status = Status::InFlight;
        slot.timed = false;
        let Slot { frame, bytes, .. } = *slot;
        Some(BlockTransmission { number, frame, bytes, transmission, before })
    }

    fn next_new(&mut self) -> Option<u64> {
        let number = self.unsent;
        self.unsent += u64::from(number < self.slots.end());
        (number < self.unsent).then_some(number)
    }

    /// The block of a transmission, if that is its last one and it is in flight.
    fn in_flight(&mut self, transmission: u64) -> Option<(u64, &mut Slot)> {
        let number = (*self.transmissions.get(transmission)?)?;
        let slot = self.slots.get_mut(number)?;
        let current = slot.status == Status::InFlight && slot.transmission == transmission;
        current.then_some((number, slot))
    }

    /// Starts the deadline of a transmission that ends at `end` or is lost by then.
    pub(crate) fn start_timer(&mut self, transmission: u64, end: Instant) {
        let at = end + self.timeout;
        let Some((_, slot)) = self.in_flight(transmission) else { return };
        if !core::mem::replace(&mut slot.timed, true) {
            let place = self.deadlines.partition_point(|deadline| deadline.at <= at);
            self.deadlines.insert(place, Deadline { at, transmission });
        }
    }

    pub(crate) fn next_event(&self) -> Instant {
        self.deadlines.front().map_or(Instant::NEVER, |deadline| deadline.at)
    }

    /// Handles the next deadline that has passed.
    pub(crate) fn on_timer(&mut self, now: Instant) -> Option<LossAction> {
        let Deadline { at, transmission } = *self.deadlines.front()?;
        if at > now {
            return None;
        }
        self.deadlines.pop_front();
        let action = self.on_loss(transmission);
        self.forget_closed();
        Some(action)
    }

    /// The receiver has this block. Returns its frame; `None` if it was known.
    pub(crate) fn on_arrived(&mut self, number: u64, transmission: u64) -> Option<u64> {
        self.on_notice(transmission);
        self.finish(number)
    }

    /// The receiver misses this transmission.
    pub(crate) fn on_missing(&mut self, transmission: u64) -> LossAction {
        let action = self.on_loss(transmission);
        self.on_notice(transmission);
        action
    }

    fn on_loss(&mut self, transmission: u64) -> LossAction {
        let retries = self.retries;
        let Some((number, slot)) = self.in_flight(transmission) else { return LossAction::Known };
        if slot.transmissions > retries {
            return LossAction::GiveUp(slot.frame);
        }
        slot.status = Status::Lost;
        self.to_retransmit.insert(number);
        LossAction::Retransmit
    }

    fn on_notice(&mut self, transmission: u64) {
        if let Some(block) = self.transmissions.get_mut(transmission) {
            *block = None;
        }
        self.transmissions.trim(Option::is_none);
        self.forget_closed();
    }

    /// Marks the block as done. Returns its frame unless it was done before.
    pub(crate) fn finish(&mut self, number: u64) -> Option<u64> {
        let slot = self.slots.get_mut(number)?;
        let frame = slot.frame;
        match slot.status {
            Status::Done => return None,
            Status::Lost => _ = self.to_retransmit.remove(&number),
            Status::New => self.unsent = self.unsent.max(number + 1),
            Status::InFlight => {}
        }
        slot.status = Status::Done;
        self.forget_closed();
        Some(frame)
    }

    /// Discards the oldest blocks that are done, and obsolete deadlines.
    fn forget_closed(&mut self) {
        self.slots.trim(|slot| slot.status == Status::Done);
        while let Some(Deadline { transmission, .. }) = self.deadlines.front().copied() {
            if self.in_flight(transmission).is_some() {
                break;
            }
            self.deadlines.pop_front();
        }
    }
}
