//! The processing of arriving segments (RFC 9293 section 3.10.7), in the prescribed order.

use alloc::sync::Arc;

use rtolab_time::Instant;

use super::outgoing_reset::Reset;
use super::states::{FastPath, Opened};
use super::{Connection, Failure, NegotiatedOptions, State};
use crate::config::{Algorithm, EcnFallback, Handshake, InWindow, MaxWindow, RepeatedSyn};
use crate::event::Event;
use crate::flight::Cause;
use crate::segment::{Flags, MAX_WINDOW_SHIFT, Segment};
use crate::seq::Seq;

/// The MSS of a peer that announces none, in bytes (RFC 9293 section 3.7.1).
const DEFAULT_MSS: u16 = 536;

impl Connection {
    /// Processes an arriving segment.
    ///
    /// # Panics
    ///
    /// With debug assertions, if `at` is before the time of an earlier call.
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
            State::SynSent => self.on_segment_in_syn_sent(segment, at),
            _ => self.on_synchronised(segment, at),
        }
    }

    /// SYN-SENT (RFC 9293 section 3.10.7.3).
    fn on_segment_in_syn_sent(&mut self, segment: &Segment, at: Instant) {
        let has_ack = segment.flags.has(Flags::ACK);
        let acceptable = segment.ack == self.sender.flight().max() && segment.ack > Seq::FIRST;
        if segment.flags.has(Flags::RST) {
            if has_ack && acceptable {
                self.fail(Failure::Refused);
            }
            return;
        }
        if has_ack && !acceptable {
            self.reset = Some(Reset::Refuse(segment.ack));
            return;
        }
        if !segment.flags.has(Flags::SYN) {
            return;
        }
        self.negotiate(segment);
        self.receiver.synchronise(segment);
        if !has_ack {
            self.on_simultaneous_open();
            return;
        }
        self.receiver.ack_now();
        self.update_window(segment);
        self.fall_back_to_newreno();
        self.sender.on_ack(segment, at);
        self.establish(at);
        if self.config.connection.handshake == Handshake::Alone {
            self.send_ack_alone();
        }
    }

    /// Both ends have sent a SYN (simultaneous open, RFC 9293 section 3.5, figure 8): this end
    /// retransmits its SYN with an acknowledgment of the other one.
    #[cold]
    fn on_simultaneous_open(&mut self) {
        self.state = State::SynReceived;
        if self.sender.flight().size() > 0 {
            self.sender.retransmit_head = Some(Cause::SynAnswer);
        }
    }

    /// Negotiates the options with those of the peer's SYN.
    pub(super) fn negotiate(&mut self, syn: &Segment) {
        let options = syn.syn_options();
        self.sender.note_window(syn.window);
        self.negotiated = NegotiatedOptions {
            timestamps: self.config.timestamps && syn.timestamps().is_some(),
            sack: self.config.sack && options.sack_permitted,
            ecn: self.config.ecn && self.offers_ecn(syn.flags),
            window_shift: options.window_scale.and_then(|_| self.config.offered_window_scale()),
        };
        if let (Some(_), Some(shift)) = (self.negotiated.window_shift, options.window_scale) {
            self.cold.largest_window = u32::from(u16::MAX) << shift.min(MAX_WINDOW_SHIFT);
        }
        let peer = options.mss.filter(|&mss| mss > 0).unwrap_or(DEFAULT_MSS);
        self.smss = self.payload_of(peer);
        if self.negotiated.ecn && !self.has_fallen_back_from_ecn() {
            self.sender.ecn.get_or_insert_default();
        }
    }

    /// Does the peer's SYN offer ECN (RFC 3168 section 6.1.1)? A SYN-ACK with both ECE and CWR does
    /// not: a faulty peer reflects the bits of the SYN.
    const fn offers_ecn(&self, flags: Flags) -> bool {
        match self.state {
            State::SynSent => flags.has(Flags::ECE) && !flags.has(Flags::CWR),
            _ => flags.has(Flags::ECE) && flags.has(Flags::CWR),
        }
    }

    /// Is data not sent as ECN-capable, because this end has retransmitted its SYN without ECN?
    /// Marks are echoed in any case.
    fn has_fallen_back_from_ecn(&self) -> bool {
        let not_capable = self.config.connection.ecn_fallback == EcnFallback::NotCapable;
        self.state == State::SynSent && self.sender.syn_timed_out() && not_capable
    }

    /// Replaces SACK-based loss recovery by NewReno if the peer does not support SACK (RFC 6582
    /// section 1).
    fn fall_back_to_newreno(&mut self) {
        let by_sack = self.config.recovery.algorithm.needs_sack();
        if by_sack && !self.negotiated.sack {
            let mut config = (*self.config).clone();
            (config.recovery.algorithm, config.sack) = (Algorithm::NewReno, false);
            self.config = Arc::new(config);
            self.sender.reconfigure(self.config.clone());
        }
    }

    fn establish(&mut self, at: Instant) {
        self.fall_back_to_newreno();
        if self.cold.opened == Opened::Passively {
            self.sender.on_passive_open();
        }
        self.sender.start(self.smss, at);
        self.state = match self.state {
            State::SynSent | State::SynReceived if !self.sender.is_closed() => State::Established,
            _ => State::FinWait1,
        };
        self.connected = true;
        self.cold.last_oow_ack = None;
        let srtt = self.sender.rtt().estimate().map(|known| known.srtt);
        self.receiver.note_established(at, srtt, self.sender.rto());
        self.start_keep_alive(at);
        self.push_event(Event::Connected);
    }

    /// All states after SYN-SENT (RFC 9293 section 3.10.7.4).
    fn on_synchronised(&mut self, segment: &Segment, at: Instant) {
        let reset = segment.flags.has(Flags::RST);
        if !reset {
            self.receiver.note_rxt(segment);
        }
        // RFC 7323 section 5.3 (R1) comes before the window test.
        let old = self.negotiated.timestamps && self.receiver.is_old(segment, at) && !reset;
        if old && !self.accepts_old_timestamp(segment) {
            self.on_old_timestamp(segment, at);
            return;
        }
        if reset {
            self.on_reset(segment, at);
            return;
        }
        let echoes = self.negotiated.timestamps && !self.keeps_first_syn_timestamp(segment);
        if echoes && segment.ack <= self.sender.flight().max() {
            self.receiver.note_timestamp(segment, at);
        }
        if !self.receiver.accepts(segment) {
            self.on_unacceptable(segment, at);
            return;
        }
        if segment.flags.has(Flags::SYN) {
            self.on_syn_in_window(at);
            return;
        }
        if !segment.flags.has(Flags::ACK) || !self.check_ack_field(segment, at) {
            return;
        }
        if self.reset_on_unread_data(segment) {
            return;
        }
        if self.receiver.has_received_fin() {
            // The peer has closed.
            self.receiver.drop_unacceptable(segment);
            return;
        }
        if self.negotiated.ecn {
            self.receiver.note_congestion(segment);
        }
        self.receiver.take(segment, at);
        if self.receiver.has_received_fin() {
            self.on_fin(at);
        }
    }

    /// PAWS drops the segment, and answers it. Linux answers a SYN as it does any other
    /// (`tcp_validate_incoming`).
    fn on_old_timestamp(&mut self, segment: &Segment, at: Instant) {
        let is_syn = segment.flags.has(Flags::SYN) && self.connected;
        if is_syn && self.config.receiver.repeated_syn == RepeatedSyn::Linux {
            self.send_challenge_ack(at);
        } else if self.may_answer_unacceptable(segment, at) {
            self.receiver.drop_by_paws(segment);
        }
    }

    /// A segment outside the window arrived. An ACK reports RCV.NXT to the peer; a retransmitted
    /// SYN is answered like the first one.
    fn on_unacceptable(&mut self, segment: &Segment, at: Instant) {
        if segment.flags.has(Flags::SYN) {
            self.on_retransmitted_syn(segment, at);
            return;
        }
        // A zero window refuses data, but not the acknowledgment (RFC 9293 section 3.10.7.4).
        let has_valid_ack = segment.seq == self.receiver.rcv_nxt() && segment.flags.has(Flags::ACK);
        if has_valid_ack && !self.check_ack_field(segment, at) {
            return;
        }
        self.receiver.take(segment, at);
        if self.may_answer_unacceptable(segment, at) {
            self.receiver.ack_now();
        }
        if self.state == State::TimeWait && segment.flags.has(Flags::FIN) {
            self.enter_time_wait(at);
        }
    }

    /// A SYN below the window arrived: a retransmission, or the SYN-ACK of a simultaneous open.
    fn on_retransmitted_syn(&mut self, segment: &Segment, at: Instant) {
        let flight = self.sender.flight();
        let (una, max) = (flight.una(), flight.max());
        let known = segment.seq + 1 == self.receiver.rcv_nxt();
        if self.connected || !known {
            self.send_challenge_ack(at);
        } else if segment.flags.has(Flags::ACK) && una < segment.ack && segment.ack <= max {
            self.check_ack_field(segment, at);
        } else if self.may_answer_now(at) {
            self.sender.retransmit_head = Some(Cause::SynAnswer);
            if self.keeps_first_syn_timestamp(segment) {
                self.sender.restart_retransmission_timer(at);
            }
        }
    }

    /// Is the segment a retransmitted SYN whose timestamp does not replace that of the first one
    /// (Linux)?
    fn keeps_first_syn_timestamp(&self, segment: &Segment) -> bool {
        segment.flags.has(Flags::SYN) && self.config.receiver.repeated_syn == RepeatedSyn::Linux
    }

    /// A SYN in the window arrived (RFC 9293 section 3.10.7.4, fourth check; RFC 5961 section 4).
    #[cold]
    fn on_syn_in_window(&mut self, at: Instant) {
        let ends = self.config.connection.challenge.syn_in_window == InWindow::Ends;
        match (self.state, self.cold.opened) {
            // The connection returns to LISTEN, which the [`Listener`](super::Listener) implements.
            (State::SynReceived, Opened::Passively) => self.fail(Failure::Reset),
            _ if ends && self.connected && self.state != State::TimeWait => {
                self.reset = Some(Reset::Abort);
                self.fail(Failure::Reset);
            }
            _ => self.send_challenge_ack(at),
        }
    }

    /// Checks and processes the ACK field (RFC 9293 section 3.10.7.4, fifth check). Returns `false`
    /// if the segment must be dropped.
    fn check_ack_field(&mut self, segment: &Segment, at: Instant) -> bool {
        let flight = self.sender.flight();
        if !self.connected && (segment.ack <= flight.una() || segment.ack > flight.max()) {
            self.reset = Some(Reset::Refuse(segment.ack));
            return false;
        }
        if segment.ack > flight.max() {
            self.send_challenge_ack(at);
            return false;
        }
        if segment.ack < flight.una() {
            let takes = self.accepts_old_ack(segment, at);
            if takes {
                self.on_old_ack(segment, at);
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

    /// Is a segment acceptable whose acknowledgment number is below SND.UNA? RFC 5961 section 5.2:
    /// not if it is more than a window below. The fast path does not record windows, so the largest
    /// possible one counts by default.
    #[cold]
    fn accepts_old_ack(&mut self, segment: &Segment, at: Instant) -> bool {
        let advertised = self.sender.largest_window();
        let largest = match self.config.connection.challenge.old_acks_within {
            MaxWindow::Possible => self.cold.largest_window.max(advertised),
            MaxWindow::Advertised => advertised,
        };
        let takes = self.sender.flight().una().since(segment.ack) <= u64::from(largest);
        if !takes {
            self.send_challenge_ack(at);
        }
        takes
    }

    /// Processes the SACK blocks of an old acknowledgment, which may contain new information
    /// (Linux: `tcp_ack`). Only loss detection by time does so; others would count a duplicate
    /// acknowledgment.
    fn on_old_ack(&mut self, segment: &Segment, at: Instant) {
        let una = self.sender.flight().una();
        let by_time = self.config.recovery.algorithm.is_time_based();
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

    /// Updates the send window, unless the segment is older than the last update (RFC 9293 section
    /// 3.10.7.4, fifth check). A segment that advances SND.UNA is not older, even if it is a
    /// retransmission with a lower sequence number.
    #[inline]
    pub(super) fn update_window(&mut self, segment: &Segment) {
        let advances = segment.ack > self.sender.flight().una();
        if advances || self.snd_wl <= (segment.seq, segment.ack) {
            self.snd_wl = (segment.seq, segment.ack);
            self.sender.set_wnd_edge(segment.ack + segment.window);
        }
    }

    fn on_fin_acknowledged(&mut self, at: Instant) {
        match self.state {
            State::FinWait1 => {
                self.state = State::FinWait2;
                self.push_event(Event::CloseAcknowledged);
                self.enter_fin_wait_2(at);
            }
            State::Closing => {
                self.push_event(Event::CloseAcknowledged);
                self.enter_time_wait(at);
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
            // This end has nothing to add, so the FIN is acknowledged at once.
            State::FinWait1 => {
                self.receiver.ack_now();
                self.state = State::Closing;
            }
            State::FinWait2 => {
                self.receiver.ack_now();
                self.enter_time_wait(at);
            }
            _ => {}
        }
    }
}
