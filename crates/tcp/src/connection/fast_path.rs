//! The fast path: one segment arrives, one leaves, and nothing else happens.
//!
//! An end does the same for every segment that header prediction foresees. Once everything is
//! drained, [`Connection::enter_fast_path`] checks whether only such segments can come next;
//! anything else ends it. On the fast path a segment is answered in place, without the steps that
//! are known to change nothing.

use rtolab_time::Instant;

use super::departures::in_units;
use super::states::{FastPath, State};
use super::{Agreed, Connection};
use crate::receiver::AckDue;
use crate::segment::{Codepoint, Flags, Segment, Timestamps};
use crate::timer::Timer;

/// What [`Connection::answer`] has done with a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It was not handled: [`Connection::on_segment`] takes it.
    NotHandled,
    /// It was handled, and what it brought is read; poll events, segments and timers as after any.
    Handled,
    /// The same, and nothing leaves.
    Silence,
    /// The same, and the segment has become the one that leaves now. Others may follow.
    Segment,
}

impl Connection {
    /// All is drained: enters the fast path if nothing but it can come next.
    #[inline]
    pub fn enter_fast_path(&mut self) {
        let path = match (self.sender.has_sent_all(), self.receiver.pieces()) {
            (false, _) => FastPath::Send,
            (true, 0) => FastPath::Receive,
            (true, _) => FastPath::ReceiveOutOfOrder,
        };
        self.fast_path = if self.can_take(path) { path } else { FastPath::None };
    }

    fn can_take(&self, path: FastPath) -> bool {
        let matches = match path {
            FastPath::None => return true,
            FastPath::Send => self.receiver.is_answered(self.smss) && self.is_in_order(),
            FastPath::Receive => self.has_nothing_to_send() && self.is_in_order(),
            FastPath::ReceiveOutOfOrder => {
                self.has_nothing_to_send() && self.receiver.has_only_gaps()
            }
        };
        matches
            && self.state == State::Established
            && self.reset.is_none()
            && self.sender.timers.first(&[Timer::Persist, Timer::Idle]).is_none()
            && !self.agreed.ecn
            && !self.rcv_shutdown
            && !self.persist.has_probe()
            && !self.has_events()
            && self.sender.is_on_fast_path()
    }

    /// Is there nothing but data that arrive?
    fn has_nothing_to_send(&self) -> bool {
        self.sender.has_sent_all() && !self.receiver.owes_ack()
    }

    /// Is nothing missing that the peer has sent, and is no segment to come older than the last
    /// one?
    fn is_in_order(&self) -> bool {
        self.receiver.is_in_order()
            && self.updated_by <= (self.receiver.nxt(), self.sender.flight().una())
    }

    /// Handles `segment` in place, reads its data, and turns it into the segment that leaves next,
    /// if that is all that happens: as [`Connection::on_segment`], [`Connection::read`] of
    /// everything and [`Connection::poll_transmit`] would.
    #[inline(always)]
    pub fn answer(&mut self, segment: &mut Segment, at: Instant) -> Reply {
        debug_assert!(self.can_take(self.fast_path), "the fast path was not left");
        match self.fast_path {
            FastPath::None => Reply::NotHandled,
            FastPath::Receive => self.answer_data(segment, at),
            FastPath::ReceiveOutOfOrder => self.answer_out_of_order(segment, at),
            FastPath::Send => self.answer_ack(segment, at),
        }
    }

    /// Is this the next segment from the peer, with nothing unusual about it?
    #[inline(always)]
    fn comes_next(&self, segment: &Segment, at: Instant) -> bool {
        segment.seq == self.receiver.nxt() && self.is_plain(segment, at)
    }

    /// Is there nothing unusual about the segment?
    #[inline(always)]
    fn is_plain(&self, segment: &Segment, at: Instant) -> bool {
        let Agreed { timestamps, .. } = self.agreed;
        segment.flags == Flags::ACK
            && segment.has_timestamps_at_most()
            && segment.codepoint() == Codepoint::NotEct
            && segment.timestamps().is_some() == timestamps
            && !(timestamps && self.receiver.is_old(segment, at))
    }

    /// Takes the timestamp, and the window: on the fast path no segment is older than the last one.
    #[inline(always)]
    fn note_header(&mut self, segment: &Segment, at: Instant) {
        if self.agreed.timestamps {
            self.receiver.note_timestamp(segment, at);
        }
        self.updated_by = (segment.seq, segment.ack);
        self.sender.set_wnd_edge(segment.ack + segment.window);
    }

    /// The segment, whose sequence number and length are set, leaves with the header that any has
    /// while all arrives in order; the flags stay as they are.
    #[inline(always)]
    fn renew(&mut self, segment: &mut Segment, at: Instant) {
        segment.ack = self.receiver.nxt();
        segment.window = in_units(self.receiver.window(self.smss), self.window_shift());
        self.stamp(segment, at);
        self.receiver.acknowledge_all(segment.window);
    }

    #[inline(always)]
    fn stamp(&mut self, segment: &mut Segment, at: Instant) {
        if self.agreed.timestamps {
            let value = self.sender.timestamp(at);
            let echo = self.receiver.recent().unwrap_or(0);
            segment.set_timestamps(Timestamps { value, echo });
        }
    }

    #[inline(always)]
    fn answer_data(&mut self, segment: &mut Segment, at: Instant) -> Reply {
        let max = self.sender.flight().max();
        let expected = segment.len > 0 && segment.ack == max && self.receiver.fits(segment);
        if !expected || !self.comes_next(segment, at) {
            // What begins beyond opens a gap, if anything.
            return self.answer_out_of_order(segment, at);
        }
        self.note_header(segment, at);
        self.sender.on_plain_pure_ack(segment.window, at);
        self.receiver.take_next(segment, at);
        if self.receiver.reopens(self.smss) {
            self.receiver.ack_now();
        }
        if !self.receiver.owes_ack() {
            return Reply::Silence;
        }
        (segment.seq, segment.len) = (max, 0);
        self.renew(segment, at);
        Reply::Segment
    }

    /// Data arrive above a gap, or into it.
    #[inline(never)]
    fn answer_out_of_order(&mut self, segment: &mut Segment, at: Instant) -> Reply {
        let max = self.sender.flight().max();
        let expected = segment.len > 0 && segment.ack == max && self.receiver.accepts(segment);
        let takes = self.receiver.fits(segment) && !self.receiver.delays_dupacks();
        if !expected || !takes || !self.is_plain(segment, at) {
            return Reply::NotHandled;
        }
        if self.agreed.timestamps {
            self.receiver.note_timestamp(segment, at);
        }
        self.sender.note_window(segment.window);
        self.update_window(segment);
        self.sender.on_plain_pure_ack(segment.window, at);
        self.receiver.take(segment, at);
        self.receiver.read(u64::MAX);
        if self.receiver.reopens(self.smss) {
            self.receiver.ack_now();
        }
        let reply = match self.receiver.owes_ack() {
            true => Reply::Segment,
            false => Reply::Silence,
        };
        if reply == Reply::Segment {
            *segment = self.acknowledges(at);
        }
        self.fast_path =
            if self.is_in_order() { FastPath::Receive } else { FastPath::ReceiveOutOfOrder };
        reply
    }

    #[inline(always)]
    fn answer_ack(&mut self, segment: &mut Segment, at: Instant) -> Reply {
        let flight = self.sender.flight();
        let expected =
            segment.len == 0 && flight.una() < segment.ack && segment.ack <= flight.max();
        if !expected || !self.comes_next(segment, at) {
            return Reply::NotHandled;
        }
        self.note_header(segment, at);
        self.sender.on_fast_path_ack(segment, at);
        if self.sender.waits() {
            return Reply::Silence;
        }
        let Some(len) = self.sender.next_in_turn(at) else { return Reply::Handled };
        // Nothing has arrived since the last segment left: no header says anything new of that.
        segment.ack = segment.seq;
        segment.window = in_units(self.receiver.offered(), self.window_shift());
        (segment.seq, segment.len) = (self.sender.flight().max(), len);
        self.stamp(segment, at);
        self.sender.note_sent_in_turn(segment, at);
        Reply::Segment
    }

    /// When the connection next wants `on_timer`, behind an [`Reply`] but for [`Reply::Handled`].
    #[inline]
    pub fn next_timer_on_fast_path(&self) -> Option<Instant> {
        let next = match (self.fast_path, self.receiver.due()) {
            (FastPath::Send, _) => self.sender.timers.get(Timer::Retransmission),
            (_, AckDue::At(at)) => Some(at),
            _ => None,
        };
        debug_assert_eq!(next, self.next_timer(), "another timer runs");
        next
    }

    /// Is it certain that nothing more leaves now, after a [`Reply`]?
    #[inline]
    pub fn is_silent_on_fast_path(&self) -> bool {
        self.fast_path != FastPath::Send || self.sender.waits()
    }
}
