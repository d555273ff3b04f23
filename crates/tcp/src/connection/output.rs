//! The segments that a connection sends, with their headers: data, retransmissions, ACKs, resets.

use rtolab_time::Instant;

use super::outgoing_reset::Reset;
use super::states::FastPath;
use super::{Connection, State};
use crate::config::AckRules;
use crate::receiver::SackUse;
use crate::segment::{Flags, Segment, SynOptions, Timestamps};
use crate::sender::Chunk;
use crate::timer::Timer;

impl Connection {
    /// The next segment to send at `at`; `None` if nothing can be sent before a segment arrives, a
    /// timer expires or the application acts.
    ///
    /// # Panics
    ///
    /// With debug assertions, if `at` is before the time of an earlier call.
    #[inline(always)]
    pub fn poll_transmit(&mut self, at: Instant) -> Option<Segment> {
        self.fast_path = FastPath::None;
        if self.has_something_urgent() {
            if let Some(segment) = self.next_urgent(at) {
                return Some(segment);
            }
        }
        if self.state == State::Closed && !self.receiver.is_ack_due_now() {
            return None;
        }
        if let Some(chunk) = self.sender.next_chunk(at) {
            return Some(self.send(chunk, at));
        }
        if self.receiver.is_ack_due_now() && self.state != State::SynSent {
            return Some(self.pure_ack(at));
        }
        match self.sender.is_blocked() {
            true => {
                let rto = self.sender.rto();
                self.persist.start(&mut self.sender.timers, at, rto);
            }
            false => self.persist.stop(&mut self.sender.timers),
        }
        None
    }

    /// Is it certain that [`Connection::poll_transmit`] returns `None` now? It may do so even if it
    /// is not.
    #[inline(always)]
    pub fn has_nothing_to_transmit(&self) -> bool {
        !self.has_something_urgent()
            && !self.sender.timers.is_running(Timer::Persist)
            && !self.receiver.is_ack_due_now()
            && self.sender.is_waiting()
    }

    /// The next segment is an ACK without data, if one is due.
    pub(super) fn send_ack_alone(&mut self) {
        self.lone_ack_pending = true;
        self.sender.leave_fast_path();
    }

    /// Linux acknowledges at once before the application answers (`tcp_ack_snd_check`), unless data
    /// that was written before carries the ACK (`tcp_data_snd_check`).
    #[inline]
    pub(super) fn acknowledge_first(&mut self) {
        let acks_first = self.config.receiver.ack_rules == AckRules::Linux;
        if acks_first && self.receiver.is_ack_due_now() && !self.sender.has_unsent() {
            self.send_ack_alone();
        }
    }

    /// An ACK without data.
    #[inline(always)]
    pub(super) fn pure_ack(&mut self, at: Instant) -> Segment {
        let max = self.sender.flight().max();
        self.with_ack(Segment::new(max, 0, Flags::ACK), at)
    }

    /// May there be a segment to send that has priority over data?
    #[inline(always)]
    fn has_something_urgent(&self) -> bool {
        self.reset.is_some()
            || self.receiver.is_rxt_echo_due()
            || self.persist.has_probe()
            || !self.sender.is_on_fast_path()
    }

    #[inline(never)]
    fn next_urgent(&mut self, at: Instant) -> Option<Segment> {
        if let Some(reset) = self.reset.take() {
            return Some(self.reset_segment(reset, at));
        }
        if self.state == State::Closed && !self.receiver.is_ack_due_now() {
            return None;
        }
        let lone_ack_pending =
            core::mem::take(&mut self.lone_ack_pending) && self.receiver.is_ack_due_now();
        if lone_ack_pending || self.receiver.is_rxt_echo_due() {
            return Some(self.pure_ack(at));
        }
        if self.sender.take_frto_probe() {
            let below = self.sender.flight().una() - 1;
            return Some(self.with_ack(Segment::new(below, 0, Flags::ACK), at));
        }
        self.persist.take_probe().then(|| self.window_probe(at))
    }

    #[cold]
    fn reset_segment(&mut self, reset: Reset, at: Instant) -> Segment {
        reset.segment().unwrap_or_else(|| {
            let max = self.sender.flight().max();
            self.with_ack(Segment::new(max, 0, Flags::RST | Flags::ACK), at)
        })
    }

    /// A zero-window probe.
    #[cold]
    #[inline(never)]
    fn window_probe(&mut self, at: Instant) -> Segment {
        if let Some(chunk) = self.sender.next_chunk_overriding_sws(at) {
            return self.send(chunk, at);
        }
        // The peer answers a segment below its window. It would drop a byte beyond its window,
        // which would stay outstanding.
        let seq = self.sender.flight().max() - 1;
        self.with_ack(Segment::new(seq, 0, Flags::ACK), at)
    }

    #[inline(always)]
    fn send(&mut self, chunk: Chunk, at: Instant) -> Segment {
        let segment = self.fill_in(chunk, at);
        self.sender.note_sent(&segment, at, chunk.cause);
        segment
    }

    #[inline(always)]
    fn fill_in(&mut self, chunk: Chunk, at: Instant) -> Segment {
        let mut segment = Segment::new(chunk.seq, chunk.len, chunk.flags);
        let pushes = self.config.push || self.config.forced_push;
        if pushes && (self.sender.empties_buffer(&chunk) || self.sender.is_forced_push(&chunk)) {
            segment.flags |= Flags::PSH;
        }
        let is_retransmission = chunk.seq < self.sender.flight().max();
        if is_retransmission && self.sender.marks() && !chunk.flags.has(Flags::SYN) {
            segment.flags |= Flags::RXT;
        }
        if chunk.flags.has(Flags::SYN) {
            segment.set_syn_options(self.syn_options());
            segment.flags |= self.ecn_setup();
            // In SYN-SENT only the SYN is sent.
            if self.state == State::SynSent {
                return self.first_syn(segment, at);
            }
        }
        if let Some(ecn) =
            self.sender.ecn.as_mut().filter(|_| self.negotiated.ecn && !is_retransmission)
        {
            ecn.mark(&mut segment);
        }
        self.with_ack(segment, at)
    }

    /// The SYN of an active open.
    #[cold]
    fn first_syn(&self, mut segment: Segment, at: Instant) -> Segment {
        segment.window = self.config.receiver.buffer.min(u32::from(u16::MAX));
        if self.config.timestamps {
            let value = self.sender.timestamp(at);
            segment.set_timestamps(Timestamps { value, echo: 0 });
        }
        segment
    }

    /// The ECN flags of a SYN (RFC 3168 section 6.1.1). A retransmitted SYN has none, because the
    /// path may drop SYNs with ECN flags (section 6.1.1.1).
    fn ecn_setup(&self) -> Flags {
        match self.state {
            State::SynSent if self.config.ecn && !self.sender.syn_timed_out() => {
                Flags::ECE | Flags::CWR
            }
            State::SynSent => Flags::NONE,
            _ if self.negotiated.ecn => Flags::ECE,
            _ => Flags::NONE,
        }
    }

    /// The options of the SYN or SYN-ACK.
    fn syn_options(&self) -> SynOptions {
        let is_syn_ack = self.state != State::SynSent;
        SynOptions {
            mss: Some(self.config.mss),
            window_scale: match is_syn_ack {
                true => self.negotiated.window_shift,
                false => self.config.offered_window_scale(),
            },
            sack_permitted: if is_syn_ack { self.negotiated.sack } else { self.config.sack },
            compact: self.config.compact_syn,
        }
    }

    /// The window to advertise in `segment`, in bytes, rounded as its 16-bit field requires.
    #[inline]
    fn window_for(&self, segment: &Segment) -> u32 {
        let shift = match segment.flags.has(Flags::SYN) {
            true => 0,
            false => self.window_shift(),
        };
        representable_window(self.receiver.window(self.smss), shift)
    }

    /// Adds acknowledgment, window, timestamps and SACK blocks, which every segment except the
    /// first SYN carries.
    #[inline(always)]
    fn with_ack(&mut self, mut segment: Segment, at: Instant) -> Segment {
        segment.flags |= Flags::ACK;
        segment.ack = self.receiver.rcv_nxt();
        segment.window = self.window_for(&segment);
        let echoes = self.receiver.echo_flags();
        if echoes != Flags::NONE && !segment.flags.any(Flags::SYN | Flags::RST) {
            segment.flags |= echoes;
        }
        if self.negotiated.timestamps {
            let value = self.sender.timestamp(at);
            let echo = self.receiver.recent().unwrap_or(0);
            segment.set_timestamps(Timestamps { value, echo });
        }
        let sack = match (self.negotiated.sack, self.config.dsack) {
            _ if segment.flags.any(Flags::SYN | Flags::RST) => SackUse::None,
            (false, _) => SackUse::None,
            (true, false) => SackUse::Blocks,
            (true, true) => SackUse::WithDuplicates,
        };
        if !self.receiver.is_conforming() {
            self.receiver.falsify(&mut segment, self.smss, at);
        }
        self.receiver.acknowledge(&mut segment, sack);
        if segment.len > 0 {
            self.receiver.note_data_sent(at);
        }
        segment
    }
}

/// The largest window not above `window` that a 16-bit field with this shift can represent.
#[inline(always)]
pub(super) fn representable_window(window: u32, shift: u8) -> u32 {
    (window >> shift).min(u32::from(u16::MAX)) << shift
}
