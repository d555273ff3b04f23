//! The fast path: one segment arrives, at most one is sent, and nothing else happens.
//!
//! After all segments and events are polled, [`Connection::enter_fast_path`] checks whether header
//! prediction applies to the next segment; any other segment ends the fast path. On the fast path a
//! segment is answered in place, without the steps that cannot change anything.

use rtolab_time::Instant;

use super::output::representable_window;
use super::states::{FastPath, State};
use super::{Connection, NegotiatedOptions};
use crate::receiver::AckDue;
use crate::segment::{Codepoint, Flags, Segment, Timestamps};
use crate::timer::Timer;

/// The result of [`Connection::answer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The segment was not processed: pass it to [`Connection::on_segment`].
    NotHandled,
    /// The segment was processed and its data read. Poll events, segments and timers.
    Handled,
    /// As [`Reply::Handled`], and nothing is sent.
    NothingToTransmit,
    /// As [`Reply::Handled`], and the segment is now the one to send. Others may follow.
    Segment,
}

impl Connection {
    /// Enters the fast path if the state allows it. To be called after all segments and events are
    /// polled.
    #[inline]
    pub fn enter_fast_path(&mut self) {
        let path = match (self.sender.has_sent_all(), self.receiver.out_of_order_ranges()) {
            (false, _) => FastPath::Send,
            (true, 0) => FastPath::Receive,
            (true, _) => FastPath::ReceiveOutOfOrder,
        };
        self.fast_path = if self.can_take(path) { path } else { FastPath::None };
    }

    /// Does the state allow this fast path?
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
            && !self.negotiated.ecn
            && !self.rcv_shutdown
            && !self.persist.has_probe()
            && !self.has_events()
            && self.sender.is_on_fast_path()
    }

    /// Is all written data acknowledged, and is no ACK due?
    fn has_nothing_to_send(&self) -> bool {
        self.sender.has_sent_all() && !self.receiver.is_ack_due_now()
    }

    /// Did all data arrive in order, and is the next segment not older than the last window update?
    fn is_in_order(&self) -> bool {
        self.receiver.is_in_order()
            && self.snd_wl <= (self.receiver.rcv_nxt(), self.sender.flight().una())
    }

    /// Processes `segment` on the fast path, reads its data, and replaces it by the segment to
    /// send. Equivalent to [`Connection::on_segment`], [`Connection::read`] of everything and
    /// [`Connection::poll_transmit`].
    ///
    /// # Panics
    ///
    /// With debug assertions, if `at` is before the time of an earlier call.
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

    /// Is this the next expected segment, and [plain](Self::is_plain)?
    #[inline(always)]
    fn is_next(&self, segment: &Segment, at: Instant) -> bool {
        segment.seq == self.receiver.rcv_nxt() && self.is_plain(segment, at)
    }

    /// Has the segment only the ACK flag, no options but valid timestamps, and no ECN codepoint?
    #[inline(always)]
    fn is_plain(&self, segment: &Segment, at: Instant) -> bool {
        let NegotiatedOptions { timestamps, .. } = self.negotiated;
        segment.flags == Flags::ACK
            && segment.has_timestamps_at_most()
            && segment.codepoint() == Codepoint::NotEct
            && segment.timestamps().is_some() == timestamps
            && !(timestamps && self.receiver.is_old(segment, at))
    }

    /// Records timestamp and window. On the fast path no segment is older than the last one.
    #[inline(always)]
    fn note_header(&mut self, segment: &Segment, at: Instant) {
        if self.negotiated.timestamps {
            self.receiver.note_timestamp(segment, at);
        }
        self.snd_wl = (segment.seq, segment.ack);
        self.sender.set_wnd_edge(segment.ack + segment.window);
    }

    /// Fills in acknowledgment number, window and timestamps of a segment whose sequence number,
    /// length and flags are set, while all data arrived in order.
    #[inline(always)]
    fn fill_in_ack(&mut self, segment: &mut Segment, at: Instant) {
        segment.ack = self.receiver.rcv_nxt();
        segment.window = representable_window(self.receiver.window(self.smss), self.window_shift());
        self.set_timestamps(segment, at);
        self.receiver.acknowledge_all(segment.window);
    }

    #[inline(always)]
    fn set_timestamps(&mut self, segment: &mut Segment, at: Instant) {
        if self.negotiated.timestamps {
            let value = self.sender.timestamp(at);
            let echo = self.receiver.recent().unwrap_or(0);
            segment.set_timestamps(Timestamps { value, echo });
        }
    }

    #[inline(always)]
    fn answer_data(&mut self, segment: &mut Segment, at: Instant) -> Reply {
        let max = self.sender.flight().max();
        let expected = segment.len > 0 && segment.ack == max && self.receiver.fits(segment);
        if !expected || !self.is_next(segment, at) {
            // Data above RCV.NXT opens a gap.
            return self.answer_out_of_order(segment, at);
        }
        self.note_header(segment, at);
        self.sender.on_plain_pure_ack(segment.window, at);
        self.receiver.take_next(segment, at);
        if self.receiver.has_reopened_window(self.smss) {
            self.receiver.ack_now();
        }
        if !self.receiver.is_ack_due_now() {
            return Reply::NothingToTransmit;
        }
        (segment.seq, segment.len) = (max, 0);
        self.fill_in_ack(segment, at);
        Reply::Segment
    }

    /// Answers data that arrives above a gap or fills one.
    #[inline(never)]
    fn answer_out_of_order(&mut self, segment: &mut Segment, at: Instant) -> Reply {
        let max = self.sender.flight().max();
        let expected = segment.len > 0 && segment.ack == max && self.receiver.accepts(segment);
        let takes = self.receiver.fits(segment) && !self.receiver.delays_dupacks();
        if !expected || !takes || !self.is_plain(segment, at) {
            return Reply::NotHandled;
        }
        if self.negotiated.timestamps {
            self.receiver.note_timestamp(segment, at);
        }
        self.sender.note_window(segment.window);
        self.update_window(segment);
        self.sender.on_plain_pure_ack(segment.window, at);
        self.receiver.take(segment, at);
        self.receiver.read(u64::MAX);
        if self.receiver.has_reopened_window(self.smss) {
            self.receiver.ack_now();
        }
        let reply = match self.receiver.is_ack_due_now() {
            true => Reply::Segment,
            false => Reply::NothingToTransmit,
        };
        if reply == Reply::Segment {
            *segment = self.pure_ack(at);
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
        if !expected || !self.is_next(segment, at) {
            return Reply::NotHandled;
        }
        self.note_header(segment, at);
        self.sender.on_fast_path_ack(segment, at);
        if self.sender.is_waiting() {
            return Reply::NothingToTransmit;
        }
        let Some(len) = self.sender.next_len_on_fast_path(at) else { return Reply::Handled };
        // No data arrived since the last segment was sent: acknowledgment and window are the same.
        segment.ack = segment.seq;
        segment.window = representable_window(self.receiver.offered(), self.window_shift());
        (segment.seq, segment.len) = (self.sender.flight().max(), len);
        self.set_timestamps(segment, at);
        self.sender.note_sent_on_fast_path(segment, at);
        Reply::Segment
    }

    /// [`Connection::next_timer`] after a [`Reply::NothingToTransmit`] or [`Reply::Segment`].
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

    /// After a [`Reply`]: is it certain that nothing more can be sent now?
    #[inline]
    pub fn has_nothing_to_transmit_on_fast_path(&self) -> bool {
        self.fast_path != FastPath::Send || self.sender.is_waiting()
    }
}
