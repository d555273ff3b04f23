//! What a connection sends: data, retransmissions, acknowledgments, each with its header.

use rtolab_time::Instant;

use super::arrivals::MAX_WINDOW_SHIFT;
use super::reset::Reset;
use super::states::FastPath;
use super::{Connection, State};
use crate::receiver::SackUse;
use crate::segment::{Flags, Segment, SynOptions, Timestamps};
use crate::sender::Chunk;
use crate::timer::Timer;

impl Connection {
    /// The next segment to leave now; `None` when nothing may leave before something arrives or a
    /// timer expires.
    #[inline(always)]
    pub fn poll_transmit(&mut self, at: Instant) -> Option<Segment> {
        self.fast_path = FastPath::None;
        if self.has_something_urgent() {
            if let Some(segment) = self.next_urgent(at) {
                return Some(segment);
            }
        }
        if self.state == State::Closed && !self.receiver.owes_ack() {
            return None;
        }
        if let Some(chunk) = self.sender.next_chunk(at) {
            return Some(self.send(chunk, at));
        }
        if self.receiver.owes_ack() && self.state != State::SynSent {
            return Some(self.acknowledges(at));
        }
        match self.sender.is_blocked() {
            true => {
                let rto = self.sender.rto();
                self.persist.watch(&mut self.sender.timers, at, rto);
            }
            false => self.persist.stop(&mut self.sender.timers),
        }
        None
    }

    /// Is it certain that nothing leaves now? Then [`Connection::poll_transmit`] need not be
    /// called.
    #[inline(always)]
    pub fn is_silent(&self) -> bool {
        !self.has_something_urgent()
            && !self.sender.timers.is_running(Timer::Persist)
            && !self.receiver.owes_ack()
            && self.sender.waits()
    }

    /// An acknowledgment without data.
    #[inline(always)]
    pub(super) fn acknowledges(&mut self, at: Instant) -> Segment {
        let max = self.sender.flight().max();
        self.with_ack(Segment::new(max, 0, Flags::ACK), at)
    }

    /// May there be something that comes before all that the windows allow?
    #[inline(always)]
    fn has_something_urgent(&self) -> bool {
        self.reset.is_some()
            || self.receiver.owes_rxt()
            || self.persist.has_probe()
            || !self.sender.is_on_fast_path()
    }

    #[inline(never)]
    fn next_urgent(&mut self, at: Instant) -> Option<Segment> {
        if let Some(reset) = self.reset.take() {
            return Some(self.resets(reset, at));
        }
        if self.state == State::Closed && !self.receiver.owes_ack() {
            return None;
        }
        let ack_of_syn_ack_pending =
            core::mem::take(&mut self.ack_of_syn_ack_pending) && self.receiver.owes_ack();
        if ack_of_syn_ack_pending || self.receiver.owes_rxt() {
            return Some(self.acknowledges(at));
        }
        if self.sender.take_probe() {
            let below = self.sender.flight().una() - 1;
            return Some(self.with_ack(Segment::new(below, 0, Flags::ACK), at));
        }
        self.persist.take_probe().then(|| self.probe(at))
    }

    #[cold]
    fn resets(&mut self, reset: Reset, at: Instant) -> Segment {
        reset.segment().unwrap_or_else(|| {
            let max = self.sender.flight().max();
            self.with_ack(Segment::new(max, 0, Flags::RST | Flags::ACK), at)
        })
    }

    /// Asks for a larger window.
    #[cold]
    #[inline(never)]
    fn probe(&mut self, at: Instant) -> Segment {
        if let Some(chunk) = self.sender.next_chunk_however_small(at) {
            return self.send(chunk, at);
        }
        // A segment below the window is answered. A byte beyond it would be refused, and be
        // outstanding.
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
        if self.config.push && self.sender.empties_buffer(&chunk) {
            segment.flags |= Flags::PSH;
        }
        let again = chunk.seq < self.sender.flight().max();
        if again && self.sender.marks() && !chunk.flags.has(Flags::SYN) {
            segment.flags |= Flags::RXT;
        }
        if chunk.flags.has(Flags::SYN) {
            segment.set_syn_options(self.offer());
            segment.flags |= self.ecn_setup();
            // Only the SYN leaves before it is answered.
            if self.state == State::SynSent {
                return self.first_syn(segment, at);
            }
        }
        if let Some(ecn) = self.sender.ecn.as_mut().filter(|_| self.agreed.ecn && !again) {
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

    /// What a SYN says of ECN (RFC 3168 section 6.1.1); a retransmitted one has no ECN flags,
    /// because the path may drop those that have (section 6.1.1.1).
    fn ecn_setup(&self) -> Flags {
        match self.state {
            State::SynSent if self.config.ecn && !self.sender.syn_timed_out() => {
                Flags::ECE | Flags::CWR
            }
            State::SynSent => Flags::NONE,
            _ if self.agreed.ecn => Flags::ECE,
            _ => Flags::NONE,
        }
    }

    /// What the SYN offers, or the SYN-ACK agrees to.
    fn offer(&self) -> SynOptions {
        let answers = self.state != State::SynSent;
        SynOptions {
            mss: Some(self.config.mss),
            window_scale: match answers {
                true => self.agreed.window_shift,
                false => self.config.window_scale.map(|shift| shift.min(MAX_WINDOW_SHIFT)),
            },
            sack_permitted: if answers { self.agreed.sack } else { self.config.sack },
        }
    }

    /// The window to offer in `segment`: what its 16 bits can say.
    fn window_for(&self, segment: &Segment) -> u32 {
        let shift = match segment.flags.has(Flags::SYN) {
            true => 0,
            false => self.window_shift(),
        };
        in_units(self.receiver.window(self.smss), shift)
    }

    /// Adds acknowledgment, window, timestamps and SACK blocks: every segment but the first SYN
    /// carries them.
    #[inline(always)]
    fn with_ack(&mut self, mut segment: Segment, at: Instant) -> Segment {
        segment.flags |= Flags::ACK;
        segment.ack = self.receiver.nxt();
        segment.window = self.window_for(&segment);
        let echoes = self.receiver.echoes();
        if echoes != Flags::NONE && !segment.flags.any(Flags::SYN | Flags::RST) {
            segment.flags |= echoes;
        }
        if self.agreed.timestamps {
            let value = self.sender.timestamp(at);
            let echo = self.receiver.recent().unwrap_or(0);
            segment.set_timestamps(Timestamps { value, echo });
        }
        let sack = match (self.agreed.sack, self.config.dsack) {
            _ if segment.flags.any(Flags::SYN | Flags::RST) => SackUse::None,
            (false, _) => SackUse::None,
            (true, false) => SackUse::Blocks,
            (true, true) => SackUse::WithDuplicates,
        };
        if !self.receiver.is_honest() {
            self.receiver.lie(&mut segment, self.smss, at);
        }
        self.receiver.acknowledge(&mut segment, sack);
        segment
    }
}

/// Such a window as 16 bits can express it.
#[inline(always)]
pub(super) fn in_units(window: u32, shift: u8) -> u32 {
    (window >> shift).min(u32::from(u16::MAX)) << shift
}
