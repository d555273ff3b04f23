//! What arrives: RFC 9293 section 3.10.7, in the order that it prescribes.

use rtolab_time::Instant;

use super::{Agreed, Connection, Course, Reset, State};
use crate::event::Event;
use crate::flight::Cause;
use crate::segment::{Flags, Segment};
use crate::seq::Seq;

/// The bytes of the timestamps option with its padding.
const TIMESTAMP_BYTES: u32 = 12;

/// The largest window shift (RFC 7323 section 2.3).
pub(super) const MAX_WINDOW_SHIFT: u8 = 14;

impl Connection {
    /// A segment arrived.
    #[inline(always)]
    pub fn on_segment(&mut self, segment: &Segment, at: Instant) {
        self.course = Course::Open;
        match self.prediction(segment) {
            Some(prediction) => self.on_predicted(prediction, segment, at),
            None => self.on_any_segment(segment, at),
        }
    }

    #[inline(never)]
    fn on_any_segment(&mut self, segment: &Segment, at: Instant) {
        match self.state {
            State::Closed => {}
            State::SynSent => self.on_answer(segment, at),
            _ => self.on_synchronised(segment, at),
        }
    }

    /// SYN-SENT (RFC 9293 section 3.10.7.3).
    fn on_answer(&mut self, segment: &Segment, at: Instant) {
        if !segment.flags.has(Flags::ACK) {
            return;
        }
        let acceptable = segment.ack == Seq::FIRST + 1;
        if segment.flags.has(Flags::RST) {
            if acceptable {
                self.finish(Event::Reset);
            }
            return;
        }
        if !acceptable {
            self.reset = Some(Reset::Refuse(segment.ack));
            return;
        }
        if !segment.flags.has(Flags::SYN) {
            return;
        }
        self.agree(segment);
        self.receiver.synchronise(segment);
        self.receiver.ack_now();
        self.update_window(segment);
        self.sender.on_ack(segment, at);
        self.establish();
    }

    /// Takes the smaller of what both ends offered.
    pub(super) fn agree(&mut self, syn: &Segment) {
        let options = syn.syn_options();
        self.agreed = Agreed {
            timestamps: self.config.timestamps && syn.timestamps().is_some(),
            sack: self.config.sack && options.sack_permitted,
            window_shift: match (self.config.window_scale, options.window_scale) {
                (Some(own), Some(_)) => Some(own.min(MAX_WINDOW_SHIFT)),
                _ => None,
            },
        };
        let mss = u32::from(options.mss.unwrap_or(536).min(self.config.mss));
        let shrinks = self.agreed.timestamps && self.config.timestamp.in_mss;
        let payload = if shrinks { mss.saturating_sub(TIMESTAMP_BYTES) } else { mss };
        self.smss = payload.max(1);
    }

    fn establish(&mut self) {
        self.sender.start(self.smss);
        self.state = match self.state {
            State::SynSent | State::SynReceived if !self.sender.is_closed() => State::Established,
            _ => State::FinWait1,
        };
        self.connected = true;
        self.push_event(Event::Connected);
    }

    /// All states behind SYN-SENT (RFC 9293 section 3.10.7.4).
    fn on_synchronised(&mut self, segment: &Segment, at: Instant) {
        let reset = segment.flags.has(Flags::RST);
        if !reset {
            self.receiver.note_rxt(segment);
        }
        // RFC 7323 section 5.3 (R1) comes before the window test.
        if self.agreed.timestamps && self.receiver.is_old(segment, at) && !reset {
            self.receiver.drop_old(segment);
            return;
        }
        if self.agreed.timestamps {
            self.receiver.note_timestamp(segment, at);
        }
        if !self.receiver.accepts(segment) {
            if !reset {
                self.on_unacceptable(segment, at);
            }
            return;
        }
        if reset {
            self.finish(Event::Reset);
            return;
        }
        if segment.flags.has(Flags::SYN) || !segment.flags.has(Flags::ACK) {
            self.receiver.ack_now();
            return;
        }
        if !self.on_acknowledgment(segment, at) {
            return;
        }
        self.receiver.take(segment, at);
        if self.receiver.finished() {
            self.on_fin(at);
        }
    }

    /// A segment outside the window is acknowledged, so that the peer learns what is expected; a
    /// repeated SYN is answered as the first one was.
    fn on_unacceptable(&mut self, segment: &Segment, at: Instant) {
        if segment.flags.has(Flags::SYN) {
            match self.state {
                State::SynReceived => self.sender.resend_head = Some(Cause::Answer),
                _ => self.receiver.ack_now(),
            }
            return;
        }
        self.receiver.take(segment, at);
        self.receiver.ack_now();
        if self.state == State::TimeWait && segment.flags.has(Flags::FIN) {
            self.wait(at);
        }
    }

    /// The acknowledgment field; `false` if the segment is to be dropped for it.
    fn on_acknowledgment(&mut self, segment: &Segment, at: Instant) -> bool {
        let flight = self.sender.flight();
        if !self.connected && (segment.ack <= flight.una() || segment.ack > flight.max()) {
            self.reset = Some(Reset::Refuse(segment.ack));
            return false;
        }
        if segment.ack > flight.max() {
            self.receiver.ack_now();
            return false;
        }
        if segment.ack < flight.una() {
            return true;
        }
        self.update_window(segment);
        self.sender.on_ack(segment, at);
        if !self.connected && self.sender.flight().una() > Seq::FIRST {
            self.establish();
        }
        if self.sender.fin_acknowledged() {
            self.on_fin_acknowledged(at);
        }
        true
    }

    /// An older segment does not change the window (RFC 9293 section 3.10.7.4, fifth check). One
    /// that acknowledges more than any before is not older, even if it is a retransmission and its
    /// sequence number is.
    #[inline]
    pub(super) fn update_window(&mut self, segment: &Segment) {
        let advances = segment.ack > self.sender.flight().una();
        if advances || self.updated_by <= (segment.seq, segment.ack) {
            self.updated_by = (segment.seq, segment.ack);
            self.sender.offer(segment.ack + segment.window);
        }
    }

    fn on_fin_acknowledged(&mut self, at: Instant) {
        match self.state {
            State::FinWait1 => {
                self.state = State::FinWait2;
                self.push_event(Event::CloseAcknowledged);
            }
            State::Closing => {
                self.push_event(Event::CloseAcknowledged);
                self.wait(at);
            }
            State::LastAck => self.finish(Event::Closed),
            _ => {}
        }
    }

    pub(super) fn on_fin(&mut self, at: Instant) {
        match self.state {
            State::SynReceived | State::Established => {
                self.state = State::CloseWait;
                self.push_event(Event::PeerClosed);
            }
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.wait(at),
            _ => {}
        }
    }

    fn wait(&mut self, at: Instant) {
        self.state = State::TimeWait;
        self.time_wait = Some(at + self.time_wait());
    }
}
