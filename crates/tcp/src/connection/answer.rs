//! The straight way of most segments: one arrives, one leaves, and nothing else happens.
//!
//! Between two segments that header prediction foresees, an end that sends and one that only receives
//! do the same every time. Once all is drained it is found out whether an end is in such a course;
//! whatever else happens to it ends the course. In it a segment is answered where it lies, by the same
//! steps as any other; left out is only what is known to come to nothing.

use rtolab_time::Instant;

use super::departures::in_units;
use super::{Agreed, Connection, State};
use crate::receiver::AckDue;
use crate::segment::{Codepoint, Flags, Segment, Timestamps};
use crate::timer::Timer;

/// What an end does for the time being.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Course {
    /// Anything, for all that is known.
    #[default]
    Open,
    /// It sends data, and acknowledgments arrive.
    Sends,
    /// It acknowledges the data that arrive, and has nothing to send.
    Receives,
    /// The same, but something is missing before what has arrived.
    Gathers,
}

/// What [`Connection::answer`] has made of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Nothing: to be taken by [`Connection::on_segment`], as any other.
    Untaken,
    /// It is taken, what it brought is read, and all else is to be asked as after any other.
    Taken,
    /// The same, and nothing leaves.
    Silence,
    /// The same, and the segment has become the one that leaves now. Others may follow.
    Segment,
}

impl Connection {
    /// All is drained: finds out whether the next segment may be answered straight away.
    #[inline]
    pub fn settle(&mut self) {
        let course = match (self.sender.has_sent_all(), self.receiver.pieces()) {
            (false, _) => Course::Sends,
            (true, 0) => Course::Receives,
            (true, _) => Course::Gathers,
        };
        self.course = if self.keeps(course) { course } else { Course::Open };
    }

    /// Does this end do only what belongs to the course?
    fn keeps(&self, course: Course) -> bool {
        let does = match course {
            Course::Open => return true,
            Course::Sends => self.receiver.is_answered(self.smss) && self.is_in_order(),
            Course::Receives => self.has_nothing_to_send() && self.is_in_order(),
            Course::Gathers => self.has_nothing_to_send() && self.receiver.has_only_gaps(),
        };
        does && self.state == State::Established
            && self.reset.is_none()
            && self.sender.timers.first(&[Timer::Persist, Timer::Idle]).is_none()
            && !self.agreed.ecn
            && !self.deaf
            && !self.persist.has_probe()
            && !self.has_events()
            && self.sender.is_calm()
    }

    /// Is there nothing but data that arrive?
    fn has_nothing_to_send(&self) -> bool {
        self.sender.has_sent_all() && !self.receiver.owes_ack()
    }

    /// Is nothing missing that the peer has sent, and is no segment to come older than the last one?
    fn is_in_order(&self) -> bool {
        self.receiver.is_in_order()
            && self.updated_by <= (self.receiver.nxt(), self.sender.flight().una())
    }

    /// Takes `segment` where it lies, reads what it brings, and makes it the one that leaves next, if
    /// that is all that happens: as [`Connection::on_segment`], [`Connection::read`] of everything and
    /// [`Connection::poll_transmit`] would.
    #[inline(always)]
    pub fn answer(&mut self, segment: &mut Segment, at: Instant) -> Reply {
        debug_assert!(self.keeps(self.course), "something goes on that nobody has noted");
        match self.course {
            Course::Open => Reply::Untaken,
            Course::Receives => self.answer_data(segment, at),
            Course::Gathers => self.gather(segment, at),
            Course::Sends => self.answer_ack(segment, at),
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

    /// Takes the timestamp, and the window: in a course no segment is older than one before.
    #[inline(always)]
    fn note_header(&mut self, segment: &Segment, at: Instant) {
        if self.agreed.timestamps {
            self.receiver.note_timestamp(segment, at);
        }
        self.updated_by = (segment.seq, segment.ack);
        self.sender.offer(segment.ack + segment.window);
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
            return self.gather(segment, at);
        }
        self.note_header(segment, at);
        self.sender.hear_window(segment.window, at);
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

    /// Data arrive behind a gap, or into it.
    #[inline(never)]
    fn gather(&mut self, segment: &mut Segment, at: Instant) -> Reply {
        let max = self.sender.flight().max();
        let expected = segment.len > 0 && segment.ack == max && self.receiver.accepts(segment);
        let takes = self.receiver.fits(segment) && !self.receiver.may_wait();
        if !expected || !takes || !self.is_plain(segment, at) {
            return Reply::Untaken;
        }
        if self.agreed.timestamps {
            self.receiver.note_timestamp(segment, at);
        }
        self.sender.note_window(segment.window);
        self.update_window(segment);
        self.sender.hear_window(segment.window, at);
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
        self.course = if self.is_in_order() { Course::Receives } else { Course::Gathers };
        reply
    }

    #[inline(always)]
    fn answer_ack(&mut self, segment: &mut Segment, at: Instant) -> Reply {
        let flight = self.sender.flight();
        let expected =
            segment.len == 0 && flight.una() < segment.ack && segment.ack <= flight.max();
        if !expected || !self.comes_next(segment, at) {
            return Reply::Untaken;
        }
        self.note_header(segment, at);
        self.sender.on_calm_ack(segment, at);
        if self.sender.waits() {
            return Reply::Silence;
        }
        let Some(len) = self.sender.next_in_turn(at) else { return Reply::Taken };
        // Nothing has arrived since the last segment left: no header says anything new of that.
        segment.ack = segment.seq;
        segment.window = in_units(self.receiver.offered(), self.window_shift());
        (segment.seq, segment.len) = (self.sender.flight().max(), len);
        self.stamp(segment, at);
        self.sender.note_sent_in_turn(segment, at);
        Reply::Segment
    }

    /// When the connection next wants `on_timer`, behind an [`Reply`] but for [`Reply::Taken`].
    #[inline]
    pub fn next_timer_on_course(&self) -> Option<Instant> {
        let next = match (self.course, self.receiver.due()) {
            (Course::Sends, _) => self.sender.deadline(),
            (_, AckDue::At(at)) => Some(at),
            _ => None,
        };
        debug_assert_eq!(next, self.next_timer(), "another timer runs");
        next
    }

    /// Is it plain that nothing more leaves now, behind an [`Reply`]?
    #[inline]
    pub fn is_silent_on_course(&self) -> bool {
        self.course != Course::Sends || self.sender.waits()
    }
}
