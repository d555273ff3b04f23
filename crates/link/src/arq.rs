//! ARQ (selective repeat) by the link itself.
//!
//! The sender cuts frames into blocks and numbers them. The receiver notes each transmission that
//! arrives, arrives damaged or is overtaken by a later one, and reports that. The sender
//! retransmits what is reported missing and what no report covers before a timeout. After the
//! configured number of retries it gives up the whole frame.
//!
//! A frame is dropped once it is given up and none of its blocks is in flight: the last copy may
//! still arrive and complete it.

mod block;
mod receiver;
mod sender;

use alloc::collections::VecDeque;

use rtolab_time::{Duration, Instant};

pub(crate) use block::{Block, Content, Control, Data, Moment, Payload, Purpose, Report, earlier};
use receiver::{Arrival, Notice, Receiver};
use sender::{Sender, Sending, Verdict};

use crate::config::{self, Limit, Notices, Order};
use crate::occupancy::Occupancy;
use crate::ring::Ring;

/// One direction of a layer: its sender and its receiver.
#[derive(Clone, Debug)]
pub(crate) struct Arq<P> {
    config: config::Arq,
    /// Limits of the unsettled frames at the sender.
    window: [Limit; 2],
    unsettled: Occupancy,
    sender: Sender,
    receiver: Receiver,
    frames: Ring<Sdu<P>>,
    /// The frame that a receiver which keeps order delivers next.
    next_out: u64,
    /// Has the receiver to be informed about blocks that were given up?
    owes_alive: bool,
    settled: VecDeque<Settlement<P>>,
}

/// A frame on its way: the service data unit of this layer.
#[derive(Clone, Debug)]
struct Sdu<P> {
    /// `None` once its outcome is settled.
    payload: Option<P>,
    bytes: u32,
    /// Its blocks are `from..to`.
    from: u64,
    to: u64,
    /// The number of its blocks that arrived.
    arrived: u64,
    /// The number of its blocks with which the sender is not done.
    open: u64,
    /// The transmissions of its blocks that are in flight.
    under_way: u32,
    given_up: Option<Instant>,
    /// Has the receiver stopped waiting for it?
    passed: bool,
    corrupt: bool,
    stalled_at_entry: Duration,
    /// How long the transmitter stalled between the frame's entry and the start of its last block.
    stalled: Duration,
    /// When an undisturbed frame would have come out; known once its last block has been sent.
    undisturbed: Option<Instant>,
}

/// The outcome of a frame.
#[derive(Clone, Debug)]
pub(crate) struct Settlement<P> {
    pub(crate) payload: P,
    pub(crate) end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It comes out; without disturbances it would have come out at `undisturbed`.
    Delivered { undisturbed: Instant },
    /// It was given up at this time.
    GivenUp(Instant),
}

impl<P: Payload> Arq<P> {
    /// `window` limits the unsettled frames at the sender.
    pub(crate) fn new(config: config::Arq, window: [Limit; 2]) -> Self {
        Self {
            config,
            window,
            unsettled: Occupancy::default(),
            sender: Sender::new(config.retries, config.timeout),
            receiver: Receiver::new(config.order, config.timeout),
            frames: Ring::new(),
            next_out: 0,
            owes_alive: false,
            settled: VecDeque::new(),
        }
    }

    /// Has the sender something to send, apart from new frames?
    pub(crate) fn has_work(&self) -> bool {
        self.sender.has_work() || (self.owes_alive && self.config.report > 0)
    }

    /// Does the window have space for a new frame of this size?
    pub(crate) fn takes(&self, bytes: u32) -> bool {
        let occupancy = self.unsettled.with(bytes);
        self.unsettled.packets == 0 || self.window.iter().all(|limit| limit.holds(occupancy))
    }

    /// The block to send now: a retransmission, the rest of the current frame, a new frame from
    /// `source`, or the note that older blocks were given up.
    pub(crate) fn next(
        &mut self,
        moment: Moment,
        source: impl FnOnce() -> Option<P>,
    ) -> Option<Block> {
        if !self.sender.has_work() {
            if let Some(payload) = source() {
                self.cut(payload, moment);
            }
        }
        match self.sender.send() {
            Some(sending) => Some(self.block(sending, moment)),
            None => self.alive().map(|control| self.control_block(control)),
        }
    }

    fn cut(&mut self, payload: P, moment: Moment) {
        let (frame, from, bytes) = (self.frames.end(), self.sender.end(), payload.bytes());
        let piece = self.config.fragment.unwrap_or(bytes).max(1);
        let mut left = bytes;
        loop {
            self.sender.add(frame, left.min(piece) + self.config.header);
            left = left.saturating_sub(piece);
            if left == 0 {
                break;
            }
        }
        self.unsettled.add(bytes);
        let to = self.sender.end();
        self.frames.push(Sdu {
            bytes,
            from,
            to,
            arrived: 0,
            open: to - from,
            under_way: 0,
            given_up: None,
            passed: false,
            corrupt: false,
            stalled_at_entry: payload.stalled_at_entry(moment),
            stalled: Duration::ZERO,
            undisturbed: None,
            payload: Some(payload),
        });
    }

    fn block(&mut self, sending: Sending, moment: Moment) -> Block {
        let Sending { number, frame, bytes, transmission, before } = sending;
        self.owes_alive = false;
        let sdu = self.frames.get_mut(frame).expect("it is open");
        sdu.under_way += 1;
        let completes = before == 0 && number + 1 == sdu.to;
        if completes {
            sdu.stalled = moment.stalled.saturating_sub(sdu.stalled_at_entry);
        }
        let purpose = match before {
            0 => sdu.payload.as_ref().map_or(Purpose::New, Payload::purpose),
            _ => Purpose::Retransmission,
        };
        let alive = self.sender.alive();
        let content = Content::Data(Data { number, frame, transmission, alive, completes });
        Block { bytes, content, purpose, corrupt: false }
    }

    /// The note to the receiver, if older blocks were given up.
    fn alive(&mut self) -> Option<Control> {
        let tell = core::mem::take(&mut self.owes_alive);
        tell.then(|| Control::Alive(self.sender.alive()))
    }

    fn control_block(&self, control: Control) -> Block {
        let content = Content::Control(control);
        Block { bytes: self.config.report, content, purpose: Purpose::Report, corrupt: false }
    }

    /// The sender's note, if control information takes no bandwidth.
    pub(crate) fn alive_for_nothing(&mut self) -> Option<Control> {
        let idle = self.config.report == 0 && !self.sender.has_work();
        if idle { self.alive() } else { None }
    }

    /// The receiver's report that is due now, if control information takes no bandwidth.
    pub(crate) fn report_for_nothing(&mut self, now: Instant) -> Option<Control> {
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
        sdu.note(data, undisturbed);
        let payload = sdu.payload.as_ref().filter(|_| data.completes)?;
        Some((payload, sdu.undisturbed?))
    }

    /// A transmission is lost, without notice to either end.
    pub(crate) fn on_lost(&mut self, data: &Data, now: Instant) {
        self.sender.start_timer(data.transmission, now);
        if let Some(sdu) = self.frames.get_mut(data.frame) {
            sdu.under_way -= 1;
        }
        self.settle(data.frame);
    }

    /// A damaged block arrives.
    pub(crate) fn on_damaged(&mut self, data: &Data) {
        if self.config.notices == Notices::Damage {
            self.receiver.on_damaged(data.transmission);
        }
    }

    /// A block arrives that without disturbances would have arrived at `undisturbed`.
    pub(crate) fn on_data(&mut self, data: &Data, corrupt: bool, undisturbed: Instant) {
        let arrival = self.receiver.on_data(data);
        if let Some(sdu) = self.frames.get_mut(data.frame) {
            sdu.note(data, undisturbed);
            sdu.under_way -= 1;
            if arrival == Arrival::First {
                sdu.arrived += 1;
                sdu.corrupt |= corrupt;
            }
        }
        if self.config.order == Order::Free {
            self.deliver(data.frame);
        }
        self.release();
        self.settle(data.frame);
    }

    /// The receiver learns which blocks were given up.
    pub(crate) fn on_alive(&mut self, alive: u64) {
        self.receiver.on_alive(alive);
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
                    let verdict = self.sender.on_missing(transmission);
                    self.follow(verdict, now);
                }
            }
        }
        self.owes_alive |= report.still_expected.is_some_and(|block| block < self.sender.alive());
        self.forget();
    }

    /// When to call [`Arq::on_timer`].
    pub(crate) fn next_event(&self) -> Instant {
        self.sender.next_event().min(self.receiver.next_event())
    }

    pub(crate) fn on_timer(&mut self, now: Instant) {
        while let Some(verdict) = self.sender.on_timer(now) {
            self.follow(verdict, now);
        }
        self.receiver.on_timer(now);
        self.forget();
    }

    pub(crate) fn take_settled(&mut self) -> Option<Settlement<P>> {
        self.settled.pop_front()
    }

    fn follow(&mut self, verdict: Verdict, now: Instant) {
        let Verdict::GiveUp(frame) = verdict else { return };
        let Some(sdu) = self.frames.get_mut(frame) else { return };
        sdu.given_up = Some(now);
        for number in sdu.from..sdu.to {
            let frame = self.sender.finish(number);
            self.close(frame);
        }
        self.owes_alive |= self.config.order == Order::Kept;
        self.settle(frame);
    }

    /// The sender is done with a block of `frame`.
    fn close(&mut self, frame: Option<u64>) {
        let Some(sdu) = frame.and_then(|frame| self.frames.get_mut(frame)) else { return };
        sdu.open -= 1;
        if sdu.open == 0 {
            self.unsettled.remove(sdu.bytes);
        }
    }

    /// A receiver that keeps order delivers all frames up to the first that may still come.
    fn release(&mut self) {
        let expected = self.receiver.expected();
        while let Some(sdu) = self.frames.get_mut(self.next_out) {
            if sdu.to > expected && !sdu.is_whole() {
                break;
            }
            sdu.passed = !sdu.is_whole();
            self.deliver(self.next_out);
            self.next_out += 1;
        }
        self.forget();
    }

    fn deliver(&mut self, frame: u64) {
        let Some(sdu) = self.frames.get_mut(frame).filter(|it| it.is_whole()) else { return };
        let Some(undisturbed) = sdu.undisturbed else { return };
        let Some(mut payload) = sdu.payload.take() else { return };
        if sdu.corrupt {
            payload.corrupt();
        }
        self.settled.push_back(Settlement { payload, end: End::Delivered { undisturbed } });
    }

    /// Drops a frame that was given up and cannot arrive any more.
    fn settle(&mut self, frame: u64) {
        let Some(sdu) = self.frames.get_mut(frame) else { return };
        let Some(at) = sdu.given_up.filter(|_| sdu.is_hopeless()) else { return };
        if let Some(payload) = sdu.payload.take() {
            self.settled.push_back(Settlement { payload, end: End::GivenUp(at) });
        }
        self.forget();
    }

    fn forget(&mut self) {
        let next_out = self.next_out;
        let is_done = |sdu: &Sdu<P>| sdu.payload.is_none() && sdu.open == 0;
        while self.frames.first() < next_out
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

    const fn is_hopeless(&self) -> bool {
        self.under_way == 0 && (self.passed || !self.is_whole())
    }

    /// Only the first transmission of the last block counts. If the lower layer gives it up before
    /// all of it was sent, the next one counts.
    fn note(&mut self, data: &Data, undisturbed: Instant) {
        let is_last = data.number + 1 == self.to;
        if data.completes || (is_last && self.undisturbed.is_none()) {
            self.undisturbed = Some(earlier(undisturbed, self.stalled));
        }
    }
}
