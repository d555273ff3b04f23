//! What the sender sends: retransmissions first, then new data, as the windows allow.

use rtolab_time::Instant;

use super::{Chunk, SendPermission, Sender};
use crate::config::{IdleRestart, RtoFloor};
use crate::flight::{Cause, Sent};
use crate::recovery::LossRecovery;
use crate::reduction::ReductionAlgorithm;
use crate::rtt::DelayedAckTracker;
use crate::segment::{Flags, Segment};
use crate::seq::Seq;
use crate::timer::Timer;

impl Sender {
    /// The next chunk to leave now, noted as sent; `None` when nothing may leave.
    #[inline(always)]
    pub fn next_chunk(&mut self, at: Instant) -> Option<Chunk> {
        if self.is_on_fast_path() {
            return self.next_new_chunk(at);
        }
        self.next_chunk_of_any_kind(at)
    }

    #[inline(never)]
    fn next_chunk_of_any_kind(&mut self, at: Instant) -> Option<Chunk> {
        if self.has_nothing_to_send() {
            self.end_train(at);
            return None;
        }
        self.restart_after_idle(at);
        let Some(chunk) = self.choose(at) else {
            self.end_train(at);
            return None;
        };
        self.burst = self.burst.saturating_sub(1);
        let retransmission = chunk.seq < self.flight.max();
        // In ns-2 a retransmission in recovery affects neither the timer nor the timed segment.
        let fills = chunk.cause == Cause::Recovery && !self.loss_recovery.times_retransmissions();
        let repairs = matches!(chunk.cause, Cause::FastRetransmit | Cause::Recovery) && !fills;
        let restarts =
            (repairs && self.config.rto.restart_on_retransmit) || self.restarts_with(&chunk);
        if restarts || !self.timers.is_running(Timer::Retransmission) {
            self.restart_retransmission_timer(at);
        }
        if retransmission && !fills {
            self.timed = None;
        } else if !retransmission && self.timed.is_none() {
            self.timed = Some((chunk.seq, at));
        }
        self.reduction.on_sent(u64::from(chunk.len));
        self.note_chunk(&chunk, at);
        Some(chunk)
    }

    /// Is nothing outstanding and nothing waiting? That is the normal state of an end that only
    /// receives.
    #[inline]
    fn has_nothing_to_send(&self) -> bool {
        self.flight.max() == self.limit
            && self.flight.size() == 0
            && !self.fin
            && !self.recovery.is_fast()
            && self.resend_head.is_none()
            && self.permission == SendPermission::Windows
    }

    /// The segment made of the last chunk leaves.
    #[inline(always)]
    pub fn note_sent(&mut self, segment: &Segment, at: Instant, cause: Cause) {
        let in_order = self.nxt >= self.flight.max();
        let again = segment.seq < self.flight.max();
        self.flight.sent(segment, at, cause);
        if again {
            self.note_resent(segment.seq, cause);
        }
        self.note_train(segment, cause);
        self.last_activity.sent = Some(at);
        if in_order {
            self.nxt = self.flight.max();
        }
        self.validate_sent(segment, at, cause);
    }

    /// Where the timeout's floor is for delayed acknowledgments: `segment` belongs to a train, or
    /// is a retransmission on its own.
    #[inline]
    fn note_train(&mut self, segment: &Segment, cause: Cause) {
        if !matches!(self.config.rto.floor, RtoFloor::DelayedAck(..)) || segment.len == 0 {
            return;
        }
        match cause {
            Cause::New | Cause::GoBackN => {
                self.track_delayed_acks(|tracker| tracker.sent(segment.end()));
            }
            _ => self.track_delayed_acks(|tracker| tracker.delay(segment.end())),
        }
    }

    /// After a long idle time the window restarts (RFC 5681 section 4.1).
    #[inline]
    pub(super) fn restart_after_idle(&mut self, at: Instant) {
        let since = match self.config.window.idle_restart {
            IdleRestart::Off => return,
            IdleRestart::LastSent => self.last_activity.sent,
            IdleRestart::LastReceived => self.last_activity.received,
        };
        let idle = self.flight.size() == 0 && since.is_some_and(|since| at - since > self.rto());
        if idle && self.new_chunk().is_some() {
            let initial = self.window.initial(&self.config.window);
            self.window.limit_cwnd(initial);
            self.open_window();
            self.track_delayed_acks(DelayedAckTracker::slow_start);
        }
    }

    #[inline(always)]
    fn choose(&mut self, at: Instant) -> Option<Chunk> {
        if let Some(cause) = self.resend_head.take() {
            return self.chunk_at(self.first_retransmission(), cause);
        }
        if let Some(probe) = self.choose_probe() {
            return Some(probe);
        }
        if let SendPermission::New(count) = self.permission {
            let chunk = if count > 0 { self.new_chunk() } else { None };
            self.permission = SendPermission::New(count - u32::from(chunk.is_some()));
            return chunk;
        }
        if let SendPermission::Instead(fallback) = self.permission {
            return self.choose_fallback(fallback);
        }
        if self.burst == 0 {
            return None;
        }
        if self.flight.max() == Seq::FIRST {
            return Some(Chunk { seq: Seq::FIRST, len: 0, flags: Flags::SYN, cause: Cause::New });
        }
        if self.loss_recovery.has_next_seg(&self.recovery) {
            return self.choose_next_seg(at);
        }
        if self.nxt < self.flight.max() {
            return self.choose_go_back_n();
        }
        self.choose_new()
    }

    /// Go-back-N: retransmits from SND.NXT on, except for data SACKed since.
    #[inline(never)]
    fn choose_go_back_n(&mut self) -> Option<Chunk> {
        let Some(next) = self.next_go_back_n() else {
            self.nxt = self.flight.max();
            return self.choose_new();
        };
        self.nxt = next.seq;
        // In ns-2 limited transmit also sends retransmissions (`send_one`).
        let retransmits_sacked = self.loss_recovery.retransmits_sacked();
        let limited = if retransmits_sacked { self.limited_transmit() } else { 0 };
        if self.outstanding() + u64::from(next.len) > self.window.cwnd() + limited {
            return None;
        }
        self.nxt = next.end();
        self.chunk_at(next.seq, Cause::GoBackN)
    }

    /// What go-back-N sends next. In ns-2 only fast recovery looks at the scoreboard.
    fn next_go_back_n(&self) -> Option<Sent> {
        let next = match self.loss_recovery.retransmits_sacked() {
            true => self.flight.segment_at(self.nxt),
            false => self.flight.unsacked_from(self.nxt),
        };
        next.filter(|sent| sent.seq < self.go_back_end).copied()
    }

    /// Begins go-back-N: retransmits the data outstanding from `seq` on.
    pub(super) fn go_back_from(&mut self, seq: Seq) {
        (self.nxt, self.go_back_end) = (seq, self.flight.max());
    }

    /// New data, as the windows and limited transmit allow.
    #[inline(always)]
    pub(crate) fn choose_new(&mut self) -> Option<Chunk> {
        // A short last segment needs the room of a whole one, as in stacks that count segments.
        let smss = self.window.smss();
        if self.outstanding() + smss > self.window.cwnd() + self.limited_transmit() {
            return None;
        }
        let chunk = self.next_small_chunk()?;
        if self.flight.size() + smss > self.window.cwnd() {
            self.recovery.limited += u64::from(chunk.len);
        }
        Some(chunk)
    }

    /// The next chunk that was never sent, if the SYN is acknowledged, there is one, and the
    /// offered window has room.
    #[inline]
    pub(crate) fn new_chunk(&self) -> Option<Chunk> {
        let seq = self.flight.max();
        if seq > self.limit || self.flight.una() == Seq::FIRST {
            return None;
        }
        let room = self.usable_wnd_edge().since(seq);
        let waiting = self.limit.since(seq);
        let len = waiting.min(room).min(self.window.smss());
        // The FIN goes with the last byte of data, if the window has room for it too.
        let fin = self.fin && len == waiting && len < room;
        // RFC 9293 section 3.8.6.2.1: a part of a segment leaves only if it is half of the largest
        // window.
        let partial = len < waiting.min(self.window.smss())
            && !self.override_silly_window
            && len * 2 < u64::from(self.largest_window);
        if partial || (len == 0 && !fin) {
            return None;
        }
        let flags = if fin { Flags::FIN } else { Flags::NONE };
        Some(Chunk { seq, len: len as u32, flags, cause: Cause::New })
    }

    /// As `next_chunk`, but what the offered window has room for need not be a whole segment (RFC
    /// 9293 section 3.8.6.2.1: after a while silly windows are no longer avoided).
    pub fn next_chunk_however_small(&mut self, at: Instant) -> Option<Chunk> {
        self.override_silly_window = true;
        let chunk = self.next_chunk(at);
        self.override_silly_window = false;
        chunk
    }

    /// Does the chunk end with the last byte that the application has written?
    pub fn empties_buffer(&self, chunk: &Chunk) -> bool {
        chunk.len > 0 && chunk.seq + chunk.len == self.limit
    }

    /// Does something wait that only a larger offered window lets go? Nothing is outstanding whose
    /// acknowledgment could bring one.
    #[inline]
    pub fn is_blocked(&self) -> bool {
        if self.flight.size() > 0 {
            return false;
        }
        let next = self.flight.max();
        let waits = next < self.limit || (self.fin && next == self.limit);
        let connected = self.flight.una() > Seq::FIRST;
        connected && waits && self.new_chunk().is_none()
    }

    /// The outstanding segment at `seq`, to be retransmitted.
    pub(crate) fn chunk_at(&self, seq: Seq, cause: Cause) -> Option<Chunk> {
        let segment = self.flight.segment_at(seq)?;
        let taken = u32::from(segment.flags.any(Flags::SYN | Flags::FIN));
        // What it said of congestion it does not say again.
        let flags = segment.flags.without(Flags::ECE | Flags::CWR);
        Some(Chunk { seq: segment.seq, len: segment.len - taken, flags, cause })
    }
}
