//! What arrives: RFC 9293 section 3.10.7, in the order that it prescribes.

use alloc::sync::Arc;

use rtolab_time::Instant;

use super::reset::Reset;
use super::states::{FastPath, Opened};
use super::{Agreed, Connection, Failure, State};
use crate::config::{Algorithm, EcnFallback, Handshake, RepeatedSyn};
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
        self.fast_path = FastPath::None;
        match self.prediction(segment) {
            Some(prediction) => self.on_predicted(prediction, segment, at),
            None => self.on_any_segment(segment, at),
        }
    }

    #[inline(never)]
    pub(super) fn on_any_segment(&mut self, segment: &Segment, at: Instant) {
        match self.state {
            State::Closed => self.on_closed(segment),
            State::SynSent => self.on_answer(segment, at),
            _ => self.on_synchronised(segment, at),
        }
    }

    /// SYN-SENT (RFC 9293 section 3.10.7.3).
    fn on_answer(&mut self, segment: &Segment, at: Instant) {
        let answers = segment.flags.has(Flags::ACK);
        let acceptable = segment.ack == self.sender.flight().max() && segment.ack > Seq::FIRST;
        if segment.flags.has(Flags::RST) {
            if answers && acceptable {
                self.fail(Failure::Refused);
            }
            return;
        }
        if answers && !acceptable {
            self.reset = Some(Reset::Refuse(segment.ack));
            return;
        }
        if !segment.flags.has(Flags::SYN) {
            return;
        }
        self.agree(segment);
        self.receiver.synchronise(segment);
        if !answers {
            self.on_crossing_syn();
            return;
        }
        self.receiver.ack_now();
        self.update_window(segment);
        self.sender.on_ack(segment, at);
        self.establish(at);
        if self.config.connection.handshake == Handshake::Alone {
            self.ack_of_syn_ack_pending = true;
            self.sender.leave_fast_path();
        }
    }

    /// Both ends have sent a SYN (RFC 9293 section 3.5, figure 8): it is retransmitted, and now
    /// acknowledges the other one.
    #[cold]
    fn on_crossing_syn(&mut self) {
        self.state = State::SynReceived;
        if self.sender.flight().size() > 0 {
            self.sender.resend_head = Some(Cause::Answer);
        }
    }

    /// Takes the smaller of what both ends offered.
    pub(super) fn agree(&mut self, syn: &Segment) {
        let options = syn.syn_options();
        self.sender.note_window(syn.window);
        self.agreed = Agreed {
            timestamps: self.config.timestamps && syn.timestamps().is_some(),
            sack: self.config.sack && options.sack_permitted,
            ecn: self.config.ecn && self.offers_ecn(syn.flags),
            window_shift: match (self.config.window_scale, options.window_scale) {
                (Some(own), Some(_)) => Some(own.min(MAX_WINDOW_SHIFT)),
                _ => None,
            },
        };
        if let (Some(_), Some(shift)) = (self.agreed.window_shift, options.window_scale) {
            self.cold.largest_window = u32::from(u16::MAX) << shift.min(MAX_WINDOW_SHIFT);
        }
        let mss = u32::from(options.mss.unwrap_or(536).min(self.config.mss));
        let shrinks = self.agreed.timestamps && self.config.timestamp.in_mss;
        let payload = if shrinks { mss.saturating_sub(TIMESTAMP_BYTES) } else { mss };
        self.smss = payload.max(1);
        if self.agreed.ecn && !self.has_fallen_back_from_ecn() {
            self.sender.ecn.get_or_insert_default();
        }
    }

    /// Does the peer's SYN say that it is ECN-capable (RFC 3168 section 6.1.1)? An answer with both
    /// bits only reflects those of this end's SYN.
    const fn offers_ecn(&self, flags: Flags) -> bool {
        match self.state {
            State::SynSent => flags.has(Flags::ECE) && !flags.has(Flags::CWR),
            _ => flags.has(Flags::ECE) && flags.has(Flags::CWR),
        }
    }

    /// Are data not ECN-capable because this end has sent a SYN without ECN? Marks are echoed in
    /// any case.
    fn has_fallen_back_from_ecn(&self) -> bool {
        let not_capable = self.config.connection.ecn_fallback == EcnFallback::NotCapable;
        self.state == State::SynSent && self.sender.syn_timed_out() && not_capable
    }

    /// Without SACK at the peer NewReno replaces loss recovery by SACK (RFC 6582 section 1).
    fn fall_back(&mut self) {
        let by_sack = matches!(self.config.recovery.algorithm, Algorithm::Sack | Algorithm::Rack);
        if by_sack && !self.agreed.sack {
            let mut config = (*self.config).clone();
            (config.recovery.algorithm, config.sack) = (Algorithm::NewReno, false);
            self.config = Arc::new(config);
            self.sender.reconfigure(self.config.clone());
        }
    }

    fn establish(&mut self, at: Instant) {
        self.fall_back();
        self.sender.start(self.smss);
        self.state = match self.state {
            State::SynSent | State::SynReceived if !self.sender.is_closed() => State::Established,
            _ => State::FinWait1,
        };
        self.connected = true;
        self.keep_alive(at);
        self.push_event(Event::Connected);
    }

    /// All states after SYN-SENT (RFC 9293 section 3.10.7.4).
    fn on_synchronised(&mut self, segment: &Segment, at: Instant) {
        let reset = segment.flags.has(Flags::RST);
        if !reset {
            self.receiver.note_rxt(segment);
        }
        // RFC 7323 section 5.3 (R1) comes before the window test.
        let old = self.agreed.timestamps && self.receiver.is_old(segment, at) && !reset;
        if old && !self.takes_old_timestamp(segment) {
            if self.answers_outside(segment, at) {
                self.receiver.drop_old(segment);
            }
            return;
        }
        if reset {
            self.on_reset(segment, at);
            return;
        }
        let echoes = self.agreed.timestamps && !self.keeps_first_syn(segment);
        if echoes && segment.ack <= self.sender.flight().max() {
            self.receiver.note_timestamp(segment, at);
        }
        if !self.receiver.accepts(segment) {
            self.on_unacceptable(segment, at);
            return;
        }
        if segment.flags.has(Flags::SYN) {
            self.on_syn(at);
            return;
        }
        if !segment.flags.has(Flags::ACK) || !self.on_acknowledgment(segment, at) {
            return;
        }
        if self.refuses_data(segment) {
            return;
        }
        if self.receiver.finished() {
            // The peer has closed.
            self.receiver.ack_if_any(segment);
            return;
        }
        if self.agreed.ecn {
            self.receiver.note_congestion(segment);
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
            self.on_syn_again(segment, at);
            return;
        }
        // A closed window refuses data, but not what they acknowledge (RFC 9293 section 3.10.7.4).
        let refused = segment.seq == self.receiver.nxt() && segment.flags.has(Flags::ACK);
        if refused && !self.on_acknowledgment(segment, at) {
            return;
        }
        self.receiver.take(segment, at);
        if self.answers_outside(segment, at) {
            self.receiver.ack_now();
        }
        if self.state == State::TimeWait && segment.flags.has(Flags::FIN) {
            self.wait(at);
        }
    }

    /// A SYN below the window: a retransmission, or in a simultaneous open its answer.
    fn on_syn_again(&mut self, segment: &Segment, at: Instant) {
        let flight = self.sender.flight();
        let (una, max) = (flight.una(), flight.max());
        let known = segment.seq + 1 == self.receiver.nxt();
        if self.connected || !known {
            self.challenge(at);
        } else if segment.flags.has(Flags::ACK) && una < segment.ack && segment.ack <= max {
            self.on_acknowledgment(segment, at);
        } else {
            self.sender.resend_head = Some(Cause::Answer);
            if self.keeps_first_syn(segment) {
                self.sender.restart_retransmission_timer(at);
            }
        }
    }

    /// Is it a SYN that is repeated, and the first one's timestamp is echoed all the same?
    fn keeps_first_syn(&self, segment: &Segment) -> bool {
        segment.flags.has(Flags::SYN) && self.config.receiver.repeated_syn == RepeatedSyn::Linux
    }

    /// A SYN in the window (RFC 9293 section 3.10.7.4, fourth check; RFC 5961 section 4).
    #[cold]
    fn on_syn(&mut self, at: Instant) {
        match (self.state, self.cold.opened) {
            // Back to LISTEN, which is the [`Listener`](super::Listener).
            (State::SynReceived, Opened::Passively) => self.fail(Failure::Reset),
            _ => self.challenge(at),
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
            self.challenge(at);
            return false;
        }
        if segment.ack < flight.una() {
            let takes = self.takes_old(segment, at);
            if takes {
                self.on_late_acknowledgment(segment, at);
            }
            return takes;
        }
        self.sender.note_window(segment.window);
        self.update_window(segment);
        self.sender.on_ack(segment, at);
        if !self.connected && self.sender.flight().una() > Seq::FIRST {
            self.establish(at);
        }
        if self.sender.fin_acknowledged() {
            self.on_fin_acknowledged(at);
        }
        true
    }

    /// May a segment that acknowledges less than others before still bring data? RFC 5961 section
    /// 5.2: not, if that was before all of a window. The fast path does not note windows, so the
    /// largest possible one counts.
    #[cold]
    fn takes_old(&mut self, segment: &Segment, at: Instant) -> bool {
        let largest = self.cold.largest_window.max(self.sender.largest_window());
        let takes = self.sender.flight().una().since(segment.ack) <= u64::from(largest);
        if !takes {
            self.challenge(at);
        }
        takes
    }

    /// An acknowledgment was overtaken by another. What it reports by SACK may be news all the same
    /// (Linux, `tcp_ack`); only loss detection by time tells it from a duplicate acknowledgment.
    fn on_late_acknowledgment(&mut self, segment: &Segment, at: Instant) {
        let una = self.sender.flight().una();
        let by_time = self.config.recovery.algorithm == Algorithm::Rack;
        if !by_time || !segment.sack_blocks().any(|block| block.end > una) {
            return;
        }
        let mut current = Segment::new(segment.seq, segment.len, segment.flags);
        (current.ack, current.window) = (una, segment.window);
        for block in segment.sack_blocks().filter(|block| block.start >= una) {
            current.push_sack(block);
        }
        self.sender.on_ack(&current, at);
    }

    /// An older segment does not change the window (RFC 9293 section 3.10.7.4, fifth check). One
    /// that acknowledges more than any before is not older, even if it is a retransmission and its
    /// sequence number is.
    #[inline]
    pub(super) fn update_window(&mut self, segment: &Segment) {
        let advances = segment.ack > self.sender.flight().una();
        if advances || self.updated_by <= (segment.seq, segment.ack) {
            self.updated_by = (segment.seq, segment.ack);
            self.sender.set_wnd_edge(segment.ack + segment.window);
        }
    }

    fn on_fin_acknowledged(&mut self, at: Instant) {
        match self.state {
            State::FinWait1 => {
                self.state = State::FinWait2;
                self.push_event(Event::CloseAcknowledged);
                self.await_fin(at);
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
}
