//! Local retransmission by the link itself: selective repeat.
//!
//! The sending end cuts frames into blocks and numbers them. The receiving end notes every
//! transmission that comes, comes damaged, or does not come before a later one, and reports that;
//! the sending end sends what is missing again, also when it has heard nothing for too long, and
//! after so many times gives the whole frame up.
//!
//! A frame is dropped when it is given up and none of its blocks is under way any more: a last copy
//! that arrives after all still completes it.

mod block;
mod receiver;
mod sender;

use alloc::collections::VecDeque;

use rtolab_time::{Duration, Instant};

pub(crate) use block::{Block, Content, Control, Data, Moment, Payload, Purpose, Report, earlier};
use receiver::{Arrival, Receiver, Word};
use sender::{Sender, Sending, Verdict};

use crate::config::{self, Limit, Notices, Order};
use crate::ring::Ring;
use crate::room::Load;

/// One direction of a level: the end that sends and the end that receives.
#[derive(Clone, Debug)]
pub(crate) struct Arq<P> {
    config: config::Arq,
    /// What may be unsettled at the sending end.
    window: [Limit; 2],
    unsettled: Load,
    sender: Sender,
    receiver: Receiver,
    frames: Ring<Sdu<P>>,
    /// The frame that an orderly receiving end hands on next.
    next_out: u64,
    /// Is the receiving end to be told of blocks that were given up?
    tell_alive: bool,
    settled: VecDeque<Settlement<P>>,
}

/// A frame on its way.
#[derive(Clone, Debug)]
struct Sdu<P> {
    /// `None` once it is settled what became of it.
    payload: Option<P>,
    bytes: u32,
    /// The numbers of its blocks: from this one up to, not including, the other.
    from: u64,
    to: u64,
    /// Those at the receiving end.
    arrived: u64,
    /// Those of which the sending end does not know enough.
    open: u64,
    /// The transmissions of its blocks that are under way.
    under_way: u32,
    given_up: Option<Instant>,
    /// Does the receiving end no longer wait for it?
    passed: bool,
    corrupt: bool,
    stalled_at_entry: Duration,
    /// How long the transmitter stalled from the frame's entry until its last block had its turn.
    stalled: Duration,
    /// When it would have come out, had nothing held it, once its last block has been sent.
    undisturbed: Option<Instant>,
}

/// What became of a frame.
#[derive(Clone, Debug)]
pub(crate) struct Settlement<P> {
    pub(crate) payload: P,
    pub(crate) end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It comes out, and would have come out then, had nothing held it.
    Delivered { undisturbed: Instant },
    /// It was given up then.
    GivenUp(Instant),
}

impl<P: Payload> Arq<P> {
    /// `window` limits what the sending end has under its care at once.
    pub(crate) fn new(config: config::Arq, window: [Limit; 2]) -> Self {
        Self {
            config,
            window,
            unsettled: Load::default(),
            sender: Sender::new(config.retries, config.timeout),
            receiver: Receiver::new(config.order, config.timeout),
            frames: Ring::new(),
            next_out: 0,
            tell_alive: false,
            settled: VecDeque::new(),
        }
    }

    /// Has the sending end something to send, apart from new frames?
    pub(crate) fn has_work(&self) -> bool {
        self.sender.has_work() || (self.tell_alive && self.config.report > 0)
    }

    /// Would it take a new frame of this size?
    pub(crate) fn takes(&self, bytes: u32) -> bool {
        let load = self.unsettled.with(bytes);
        self.unsettled.packets == 0 || self.window.iter().all(|limit| limit.holds(load))
    }

    /// The block to send now: what is to be sent again, the rest of the frame that has begun, a new
    /// one from `source`, or else that older ones were given up.
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
        self.tell_alive = false;
        let sdu = self.frames.get_mut(frame).expect("it is open");
        sdu.under_way += 1;
        let completes = before == 0 && number + 1 == sdu.to;
        if completes {
            sdu.stalled = moment.stalled.saturating_sub(sdu.stalled_at_entry);
        }
        let purpose = match before {
            0 => sdu.payload.as_ref().map_or(Purpose::New, Payload::purpose),
            _ => Purpose::Again,
        };
        let alive = self.sender.alive();
        let content = Content::Data(Data { number, frame, transmission, alive, completes });
        Block { bytes, content, purpose, corrupt: false }
    }

    /// What the receiving end is to be told, if older blocks were given up.
    fn alive(&mut self) -> Option<Control> {
        let tell = core::mem::take(&mut self.tell_alive);
        tell.then(|| Control::Alive(self.sender.alive()))
    }

    fn control_block(&self, control: Control) -> Block {
        let content = Content::Control(control);
        Block { bytes: self.config.report, content, purpose: Purpose::Report, corrupt: false }
    }

    /// What the sending end has to say, where that rides for nothing.
    pub(crate) fn alive_for_nothing(&mut self) -> Option<Control> {
        let idle = self.config.report == 0 && !self.sender.has_work();
        if idle { self.alive() } else { None }
    }

    /// The report that the receiving end has to make now, where that rides for nothing.
    pub(crate) fn report_for_nothing(&mut self, now: Instant) -> Option<Control> {
        let wanted = self.config.report == 0 && self.receiver.wants_report();
        wanted.then(|| Control::Report(self.receiver.report(now)))
    }

    /// Has the receiving end a block to send the other way?
    pub(crate) fn has_report(&self) -> bool {
        self.config.report > 0 && self.receiver.wants_report()
    }

    /// That block.
    pub(crate) fn report(&mut self, now: Instant) -> Option<Block> {
        if !self.has_report() {
            return None;
        }
        let report = self.receiver.report(now);
        Some(self.control_block(Control::Report(report)))
    }

    /// The transmission of a block ends at `end`; without a disturbance it arrives at
    /// `undisturbed`. The frame that it completes, if it does: now all of that was sent.
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

    /// A transmission comes to nothing; neither end learns it from that.
    pub(crate) fn on_lost(&mut self, data: &Data, now: Instant) {
        self.sender.start_timer(data.transmission, now);
        if let Some(sdu) = self.frames.get_mut(data.frame) {
            sdu.under_way -= 1;
        }
        self.settle(data.frame);
    }

    /// It comes damaged to the receiving end.
    pub(crate) fn on_damaged(&mut self, data: &Data) {
        if self.config.notices == Notices::Damage {
            self.receiver.on_damaged(data.transmission);
        }
    }

    /// A block arrives that would have arrived at `undisturbed`.
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

    /// The receiving end learns what was given up.
    pub(crate) fn on_alive(&mut self, alive: u64) {
        self.receiver.on_alive(alive);
        self.release();
    }

    /// The sending end hears a report.
    pub(crate) fn on_report(&mut self, report: Report, now: Instant) {
        while let Some(word) = self.receiver.take_word(report.upto) {
            match word {
                Word::Arrived { number, transmission } => {
                    let frame = self.sender.on_arrived(number, transmission);
                    self.close(frame);
                }
                Word::Missing { transmission } => {
                    let verdict = self.sender.on_missing(transmission);
                    self.follow(verdict, now);
                }
            }
        }
        self.tell_alive |= report.still_expected.is_some_and(|block| block < self.sender.alive());
        self.forget();
    }

    /// When [`Arq::on_timer`] has something to do.
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

    /// What became of the next frame.
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
        self.tell_alive |= self.config.order == Order::Kept;
        self.settle(frame);
    }

    /// The sending end is done with a block of `frame`.
    fn close(&mut self, frame: Option<u64>) {
        let Some(sdu) = frame.and_then(|frame| self.frames.get_mut(frame)) else { return };
        sdu.open -= 1;
        if sdu.open == 0 {
            self.unsettled.remove(sdu.bytes);
        }
    }

    /// An orderly receiving end hands on what it need not hold back, and passes over what will not
    /// come any more.
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

    /// Drops a frame that was given up and cannot come any more.
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

    /// What counts is the first transmission of the last block. A lower level may give that up
    /// before all of it was sent: then it is the next one that was.
    fn note(&mut self, data: &Data, undisturbed: Instant) {
        let is_last = data.number + 1 == self.to;
        if data.completes || (is_last && self.undisturbed.is_none()) {
            self.undisturbed = Some(earlier(undisturbed, self.stalled));
        }
    }
}
