//! ARQ (selective repeat) on the link.
//!
//! The sender segments frames into numbered blocks. The receiver records for each transmission
//! whether it arrived, arrived damaged, or is missing because a later one arrived, and reports it.
//! The sender retransmits blocks that are reported missing, and blocks that no report covers before
//! a timeout. After the configured number of retries it gives up the whole frame.
//!
//! A frame is dropped once it is given up and none of its blocks is in flight, because the last
//! copy of a block may still arrive and complete it.

mod block;
mod receiver;
mod sender;

use alloc::collections::VecDeque;

use rtolab_time::{Duration, Instant};

pub(crate) use block::{
    Block, Content, Control, Data, NodeTime, Payload, Purpose, Report, earlier,
};
use receiver::{Arrival, Notice, Receiver};
use sender::{BlockTransmission, LossAction, Sender};

use crate::config::{self, BlockLossDetection, Limit, Order};
use crate::occupancy::Occupancy;
use crate::ring::Ring;

/// One direction of a layer: its sender and its receiver.
#[derive(Clone, Debug)]
pub(crate) struct Arq<P> {
    config: config::Arq,
    /// The limits of the open frames at the sender.
    window: [Limit; 2],
    open_frames: Occupancy,
    sender: Sender,
    receiver: Receiver,
    frames: Ring<Sdu<P>>,
    /// The next frame that a receiver in order delivers.
    next_to_deliver: u64,
    /// Must the sender inform the receiver about blocks that it gave up?
    move_window_pending: bool,
    outcomes: VecDeque<SduOutcome<P>>,
}

/// A frame in transit: the service data unit of this layer.
#[derive(Clone, Debug)]
struct Sdu<P> {
    /// `None` once its outcome is known.
    payload: Option<P>,
    bytes: u32,
    /// Its blocks are `from..to`.
    from: u64,
    to: u64,
    /// The number of its blocks that arrived.
    arrived: u64,
    /// The number of its blocks that are neither acknowledged nor given up.
    open: u64,
    /// The number of transmissions of its blocks in flight.
    in_flight: u32,
    given_up: Option<Instant>,
    /// Has the receiver skipped it?
    skipped: bool,
    corrupt: bool,
    stalled_at_entry: Duration,
    /// How long the transmitter stalled between the frame's entry and the start of its last block.
    stalled: Duration,
    /// When it would have been delivered without disturbances; known once its last block is sent.
    undisturbed: Option<Instant>,
}

/// The outcome of a frame.
#[derive(Clone, Debug)]
pub(crate) struct SduOutcome<P> {
    pub(crate) payload: P,
    pub(crate) end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It is delivered. Without disturbances it would have been delivered at `undisturbed`.
    Delivered { undisturbed: Instant },
    /// It was given up at this time.
    GivenUp(Instant),
}

impl<P: Payload> Arq<P> {
    /// An ARQ whose sender has open frames up to the limits of `window`.
    pub(crate) fn new(config: config::Arq, window: [Limit; 2]) -> Self {
        Self {
            config,
            window,
            open_frames: Occupancy::default(),
            sender: Sender::new(config.retries, config.timeout),
            receiver: Receiver::new(config.order, config.timeout),
            frames: Ring::new(),
            next_to_deliver: 0,
            move_window_pending: false,
            outcomes: VecDeque::new(),
        }
    }

    /// Has the sender anything to send except new frames?
    pub(crate) fn has_work(&self) -> bool {
        self.sender.has_work() || (self.move_window_pending && self.config.report > 0)
    }

    /// Does the window have space for a new frame of this size?
    pub(crate) fn has_window_for(&self, bytes: u32) -> bool {
        let occupancy = self.open_frames.with(bytes);
        self.open_frames.packets == 0 || self.window.iter().all(|limit| limit.holds(occupancy))
    }

    /// The block to send now: a retransmission, the rest of the current frame, a new frame from
    /// `source`, or a move of the receiver's window past blocks that were given up.
    pub(crate) fn next(
        &mut self,
        time: NodeTime,
        source: impl FnOnce() -> Option<P>,
    ) -> Option<Block> {
        if !self.sender.has_work() {
            if let Some(payload) = source() {
                self.segment_frame(payload, time);
            }
        }
        match self.sender.send() {
            Some(sending) => Some(self.block(sending, time)),
            None => self.move_window().map(|control| self.control_block(control)),
        }
    }

    fn segment_frame(&mut self, payload: P, time: NodeTime) {
        let (frame, from, bytes) = (self.frames.end(), self.sender.end(), payload.bytes());
        let payload_size = self.config.fragment.unwrap_or(bytes).max(1);
        let mut left = bytes;
        loop {
            self.sender.add(frame, left.min(payload_size) + self.config.header);
            left = left.saturating_sub(payload_size);
            if left == 0 {
                break;
            }
        }
        self.open_frames.add(bytes);
        let to = self.sender.end();
        self.frames.push(Sdu {
            bytes,
            from,
            to,
            arrived: 0,
            open: to - from,
            in_flight: 0,
            given_up: None,
            skipped: false,
            corrupt: false,
            stalled_at_entry: payload.stalled_at_entry(time),
            stalled: Duration::ZERO,
            undisturbed: None,
            payload: Some(payload),
        });
    }

    fn block(&mut self, sending: BlockTransmission, time: NodeTime) -> Block {
        let BlockTransmission { number, frame, bytes, transmission, before } = sending;
        self.move_window_pending = false;
        let sdu = self.frames.get_mut(frame).expect("it is open");
        sdu.in_flight += 1;
        let completes = before == 0 && number + 1 == sdu.to;
        if completes {
            sdu.stalled = time.stalled.saturating_sub(sdu.stalled_at_entry);
        }
        let purpose = match before {
            0 => sdu.payload.as_ref().map_or(Purpose::New, Payload::purpose),
            _ => Purpose::Retransmission,
        };
        let window_start = self.sender.window_start();
        let content = Content::Data(Data { number, frame, transmission, window_start, completes });
        Block { bytes, content, purpose, corrupt: false }
    }

    /// The pending move of the receiver's window, if blocks were given up.
    fn move_window(&mut self) -> Option<Control> {
        let pending = core::mem::take(&mut self.move_window_pending);
        pending.then(|| Control::MoveWindow(self.sender.window_start()))
    }

    fn control_block(&self, control: Control) -> Block {
        let content = Content::Control(control);
        Block { bytes: self.config.report, content, purpose: Purpose::Report, corrupt: false }
    }

    /// The pending move of the receiver's window, if control information takes no bandwidth.
    pub(crate) fn free_move_window(&mut self) -> Option<Control> {
        let idle = self.config.report == 0 && !self.sender.has_work();
        if idle { self.move_window() } else { None }
    }

    /// The receiver's report that is due now, if control information takes no bandwidth.
    pub(crate) fn free_report(&mut self, now: Instant) -> Option<Control> {
        let wanted = self.config.report == 0 && self.receiver.wants_report();
        wanted.then(|| Control::Report(self.receiver.report(now)))
    }

    /// Has the receiver a report to send in the reverse direction?
    pub(crate) fn has_report(&self) -> bool {
        self.config.report > 0 && self.receiver.wants_report()
    }

    pub(crate) fn report(&mut self, now: Instant) -> Option<Block> {
        if !self.has_report() {
            return None;
        }
        let report = self.receiver.report(now);
        Some(self.control_block(Control::Report(report)))
    }

    /// A block's transmission ends at `end`; without disturbances it arrives at `undisturbed`.
    /// Returns the frame whose transmission this completes, if any.
    pub(crate) fn on_sent(
        &mut self,
        data: &Data,
        end: Instant,
        undisturbed: Instant,
    ) -> Option<(&P, Instant)> {
        self.sender.start_timer(data.transmission, end);
        let sdu = self.frames.get_mut(data.frame)?;
        sdu.record_undisturbed(data, undisturbed);
        let payload = sdu.payload.as_ref().filter(|_| data.completes)?;
        Some((payload, sdu.undisturbed?))
    }

    /// A transmission is lost, without notice to either end.
    pub(crate) fn on_lost(&mut self, data: &Data, now: Instant) {
        self.sender.start_timer(data.transmission, now);
        if let Some(sdu) = self.frames.get_mut(data.frame) {
            sdu.in_flight -= 1;
        }
        self.drop_if_given_up(data.frame);
    }

    /// A damaged block arrives.
    pub(crate) fn on_damaged(&mut self, data: &Data) {
        if self.config.notices == BlockLossDetection::Damage {
            self.receiver.on_damaged(data.transmission);
        }
    }

    /// A block arrives that without disturbances would have arrived at `undisturbed`.
    pub(crate) fn on_data(&mut self, data: &Data, corrupt: bool, undisturbed: Instant) {
        let arrival = self.receiver.on_data(data);
        if let Some(sdu) = self.frames.get_mut(data.frame) {
            sdu.record_undisturbed(data, undisturbed);
            sdu.in_flight -= 1;
            if arrival == Arrival::First {
                sdu.arrived += 1;
                sdu.corrupt |= corrupt;
            }
        }
        if self.config.order == Order::Free {
            self.deliver(data.frame);
        }
        self.release();
        self.drop_if_given_up(data.frame);
    }

    /// The receiver's window moves to `start`, past blocks that were given up.
    pub(crate) fn on_move_window(&mut self, start: u64) {
        self.receiver.on_move_window(start);
        self.release();
    }

    /// The sender receives a report.
    pub(crate) fn on_report(&mut self, report: Report, now: Instant) {
        while let Some(notice) = self.receiver.take_notice(report.upto) {
            match notice {
                Notice::Arrived { number, transmission } => {
                    let frame = self.sender.on_arrived(number, transmission);
                    self.close(frame);
                }
                Notice::Missing { transmission } => {
                    let action = self.sender.on_missing(transmission);
                    self.apply(action, now);
                }
            }
        }
        self.move_window_pending |=
            report.still_expected.is_some_and(|block| block < self.sender.window_start());
        self.forget_closed();
    }

    /// When to call [`Arq::on_timer`].
    pub(crate) fn next_event(&self) -> Instant {
        self.sender.next_event().min(self.receiver.next_event())
    }

    pub(crate) fn on_timer(&mut self, now: Instant) {
        while let Some(action) = self.sender.on_timer(now) {
            self.apply(action, now);
        }
        self.receiver.on_timer(now);
        self.forget_closed();
    }

    pub(crate) fn take_outcome(&mut self) -> Option<SduOutcome<P>> {
        self.outcomes.pop_front()
    }

    fn apply(&mut self, action: LossAction, now: Instant) {
        let LossAction::GiveUp(frame) = action else { return };
        let Some(sdu) = self.frames.get_mut(frame) else { return };
        sdu.given_up = Some(now);
        for number in sdu.from..sdu.to {
            let frame = self.sender.finish(number);
            self.close(frame);
        }
        self.move_window_pending |= self.config.order == Order::Kept;
        self.drop_if_given_up(frame);
    }

    /// A block of `frame` is acknowledged or given up.
    fn close(&mut self, frame: Option<u64>) {
        let Some(sdu) = frame.and_then(|frame| self.frames.get_mut(frame)) else { return };
        sdu.open -= 1;
        if sdu.open == 0 {
            self.open_frames.remove(sdu.bytes);
        }
    }

    /// A receiver in order delivers all frames before the first that may still arrive.
    fn release(&mut self) {
        let expected = self.receiver.expected();
        while let Some(sdu) = self.frames.get_mut(self.next_to_deliver) {
            if sdu.to > expected && !sdu.is_whole() {
                break;
            }
            sdu.skipped = !sdu.is_whole();
            self.deliver(self.next_to_deliver);
            self.next_to_deliver += 1;
        }
        self.forget_closed();
    }

    fn deliver(&mut self, frame: u64) {
        let Some(sdu) = self.frames.get_mut(frame).filter(|it| it.is_whole()) else { return };
        let Some(undisturbed) = sdu.undisturbed else { return };
        let Some(mut payload) = sdu.payload.take() else { return };
        if sdu.corrupt {
            payload.corrupt();
        }
        self.outcomes.push_back(SduOutcome { payload, end: End::Delivered { undisturbed } });
    }

    /// Drops a frame that was given up and cannot arrive any more.
    fn drop_if_given_up(&mut self, frame: u64) {
        let Some(sdu) = self.frames.get_mut(frame) else { return };
        let Some(at) = sdu.given_up.filter(|_| sdu.cannot_complete()) else { return };
        if let Some(payload) = sdu.payload.take() {
            self.outcomes.push_back(SduOutcome { payload, end: End::GivenUp(at) });
        }
        self.forget_closed();
    }

    fn forget_closed(&mut self) {
        let next_to_deliver = self.next_to_deliver;
        let is_done = |sdu: &Sdu<P>| sdu.payload.is_none() && sdu.open == 0;
        while self.frames.first() < next_to_deliver
            && self.frames.get(self.frames.first()).is_some_and(is_done)
        {
            self.frames.pop();
        }
    }
}

impl<P> Sdu<P> {
    const fn is_whole(&self) -> bool {
        self.arrived == self.to - self.from
    }

    const fn cannot_complete(&self) -> bool {
        self.in_flight == 0 && (self.skipped || !self.is_whole())
    }

    /// Sets `undisturbed` from the first transmission of the last block, or from the next one if
    /// the lower layer gives that up before all of it was sent.
    fn record_undisturbed(&mut self, data: &Data, undisturbed: Instant) {
        let is_last = data.number + 1 == self.to;
        if data.completes || (is_last && self.undisturbed.is_none()) {
            self.undisturbed = Some(earlier(undisturbed, self.stalled));
        }
    }
}
