//! The choice of the next segment to send: retransmissions first, then new data.

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
    /// The next chunk to send at `at`, recorded as sent; `None` if nothing may be sent.
    #[inline(always)]
    pub fn next_chunk(&mut self, at: Instant) -> Option<Chunk> {
        if self.is_on_fast_path() {
            return self.next_new_chunk(at);
        }
        self.next_chunk_slow_path(at)
    }

    #[inline(never)]
    fn next_chunk_slow_path(&mut self, at: Instant) -> Option<Chunk> {
        if self.has_nothing_to_send() {
            self.end_train(at);
            return None;
        }
        if self.must_pace(at) {
            return None;
        }
        self.restart_after_idle(at);
        let Some(chunk) = self.choose(at) else {
            self.validate_blocked(at);
            self.end_train(at);
            return None;
        };
        self.burst = self.burst.saturating_sub(1);
        let retransmission = chunk.seq < self.flight.max();
        // In ns-2 a retransmission in recovery affects neither the timer nor the timed segment.
        let untimed = chunk.cause == Cause::Recovery && !self.loss_recovery.times_retransmissions();
        let in_recovery =
            matches!(chunk.cause, Cause::FastRetransmit | Cause::Recovery) && !untimed;
        let restarts = (in_recovery && self.config.rto.restart_on_retransmit)
            || self.restarts_timer_with(&chunk);
        if restarts || !self.timers.is_running(Timer::Retransmission) {
            self.restart_retransmission_timer(at);
        }
        if retransmission && !untimed {
            self.timed = None;
        } else if !retransmission && self.timed.is_none() {
            self.timed = Some((chunk.seq, at));
        }
        self.reduction.on_sent(u64::from(chunk.len));
        self.note_chunk(&chunk, at);
        Some(chunk)
    }

    /// Is there data that was never sent?
    pub(crate) fn has_unsent(&self) -> bool {
        self.flight.max() < self.write_seq
    }

    /// Is nothing outstanding and nothing to be sent? This is the normal state of an end that only
    /// receives.
    #[inline]
    fn has_nothing_to_send(&self) -> bool {
        self.flight.max() == self.write_seq
            && self.flight.size() == 0
            && !self.fin
            && !self.recovery.is_in_fast_recovery()
            && self.retransmit_head.is_none()
            && self.permission == SendPermission::Windows
    }

    /// Records that the segment of the last chunk is sent.
    #[inline(always)]
    pub fn note_sent(&mut self, segment: &Segment, at: Instant, cause: Cause) {
        let in_order = self.nxt >= self.flight.max();
        let is_retransmission = segment.seq < self.flight.max();
        if self.controller.is_some() {
            self.note_paced(segment, at);
        }
        self.flight.sent(segment, at, cause);
        if is_retransmission {
            self.note_retransmission(segment.seq, cause);
        }
        self.note_train(segment, cause);
        self.last_activity.sent = Some(at);
        if in_order {
            self.nxt = self.flight.max();
        }
        self.validate_sent(segment, at, cause);
    }

    /// Passes a sent `segment` to the delayed-ACK tracker: new and go-back-N segments belong to a
    /// train, other retransmissions do not.
    #[inline]
    fn note_train(&mut self, segment: &Segment, cause: Cause) {
        if !matches!(self.config.rto.floor, RtoFloor::DelayedAck(..)) || segment.len == 0 {
            return;
        }
        match cause {
            Cause::New | Cause::GoBackN => {
                self.track_delayed_acks(|tracker| tracker.on_sent(segment.end()));
            }
            _ => self.track_delayed_acks(|tracker| tracker.mark_delayed(segment.end())),
        }
    }

    /// Restarts the window after a long idle time (RFC 5681 section 4.1).
    #[inline]
    pub(super) fn restart_after_idle(&mut self, at: Instant) {
        let since = match self.config.window.idle_restart {
            IdleRestart::Off => return,
            IdleRestart::LastSent => self.last_activity.sent,
            IdleRestart::LastReceived => self.last_activity.received,
        };
        let idle = self.flight.size() == 0 && since.is_some_and(|since| at - since > self.rto());
        if idle && !self.has_model() && self.new_chunk().is_some() {
            let initial = self.window.initial(&self.config.window);
            self.window.limit_cwnd(initial);
            self.keep_own_cwnd();
            self.track_delayed_acks(DelayedAckTracker::begin_slow_start);
        }
    }

    #[inline(always)]
    fn choose(&mut self, at: Instant) -> Option<Chunk> {
        if let Some(cause) = self.retransmit_head.take() {
            let seq = match cause {
                Cause::Timeout => self.flight.una(),
                _ => self.first_retransmission(),
            };
            return self.chunk_at(seq, cause);
        }
        if let Some(probe) = self.choose_probe() {
            return Some(probe);
        }
        if let SendPermission::New(count) = self.permission {
            let chunk = if count > 0 { self.new_chunk() } else { None };
            self.permission = SendPermission::New(count - u32::from(chunk.is_some()));
            return chunk;
        }
        if self.permission == SendPermission::NewInWindow {
            let chunk = self.choose_new_in_window();
            if chunk.is_some() || self.permission == SendPermission::NewInWindow {
                return chunk;
            }
        }
        if let SendPermission::Fallback(fallback) = self.permission {
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

    /// The next chunk of go-back-N, from SND.NXT on. Data SACKed since the timeout is skipped.
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

    /// The next segment of go-back-N. In ns-2 only fast recovery uses the scoreboard.
    fn next_go_back_n(&self) -> Option<Sent> {
        let next = match self.loss_recovery.retransmits_sacked() {
            true => self.flight.segment_at(self.nxt),
            false => self.flight.unsacked_from(self.nxt),
        };
        next.filter(|sent| sent.seq < self.go_back_end).copied()
    }

    /// Begins go-back-N at `seq`; it ends at the current SND.MAX.
    pub(super) fn go_back_from(&mut self, seq: Seq) {
        (self.nxt, self.go_back_end) = (seq, self.flight.max());
    }

    /// The next chunk of new data, if the windows or limited transmit allow it.
    #[inline(always)]
    pub(crate) fn choose_new(&mut self) -> Option<Chunk> {
        // A short last segment needs the room of a full one, as in stacks that count segments.
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

    /// The next chunk of new data in step 2 b of F-RTO. If the window allows none at all, F-RTO
    /// ends (Linux: `tcp_xmit_recovery`).
    fn choose_new_in_window(&mut self) -> Option<Chunk> {
        let has_room = self.outstanding() + self.window.smss() <= self.window.cwnd();
        let chunk = if has_room { self.new_chunk() } else { None };
        if chunk.is_none() && self.flight.max() <= self.recovery.recover {
            self.stop_frto();
        }
        chunk
    }

    /// The next chunk that was never sent, if there is one, the SYN is acknowledged, and the
    /// advertised window has room.
    #[inline]
    pub(crate) fn new_chunk(&self) -> Option<Chunk> {
        let seq = self.flight.max();
        if seq > self.write_seq || self.flight.una() == Seq::FIRST {
            return None;
        }
        let room = self.usable_wnd_edge().since(seq);
        let waiting = self.write_seq.since(seq);
        let len = waiting.min(room).min(self.window.smss());
        // The FIN is sent with the last byte of data, if the window has room for both.
        let fin = self.fin && len == waiting && len < room;
        // RFC 9293 section 3.8.6.2.1: a part of a segment is sent only if it is at least half of
        // the largest window.
        let partial = len < waiting.min(self.window.smss())
            && !self.override_silly_window
            && len * 2 < u64::from(self.largest_window);
        // The segment ends with the FIN, for which the window has no room.
        let held = self.config.fin_waits_for_window
            && (self.fin && len == waiting && !fin)
            && !self.override_silly_window;
        if partial || held || (len == 0 && !fin) {
            return None;
        }
        let flags = if fin { Flags::FIN } else { Flags::NONE };
        Some(Chunk { seq, len: len as u32, flags, cause: Cause::New })
    }

    /// As [`Sender::next_chunk`], but without silly window avoidance: the chunk may be as small as
    /// the advertised window (RFC 9293 section 3.8.6.2.1: the override timeout).
    pub fn next_chunk_overriding_sws(&mut self, at: Instant) -> Option<Chunk> {
        self.override_silly_window = true;
        let chunk = self.next_chunk(at);
        self.override_silly_window = false;
        chunk
    }

    /// Does the chunk end with the last byte that the application has written?
    pub fn empties_buffer(&self, chunk: &Chunk) -> bool {
        chunk.len > 0 && chunk.seq + chunk.len == self.write_seq
    }

    /// Is the chunk the first full segment after half the largest window (Linux, `forced_push`), if
    /// all data was written at once? Such pushes are equally far apart, so that retransmissions
    /// keep them.
    pub(crate) fn is_forced_push(&self, chunk: &Chunk) -> bool {
        let smss = self.window.smss();
        let every = (u64::from(self.largest_window / 2) / smss + 1) * smss;
        let end = (chunk.seq + chunk.len).since(Seq::FIRST + 1);
        self.config.forced_push && chunk.len > 0 && end % every == 0
    }

    /// Is the sender blocked by the advertised window alone? Nothing is outstanding, so that no
    /// acknowledgment will update the window.
    #[inline]
    pub fn is_blocked(&self) -> bool {
        if self.flight.size() > 0 {
            return false;
        }
        let next = self.flight.max();
        let waits = next < self.write_seq || (self.fin && next == self.write_seq);
        let connected = self.flight.una() > Seq::FIRST;
        connected && waits && self.new_chunk().is_none()
    }

    /// The outstanding segment at `seq`, to be retransmitted.
    pub(crate) fn chunk_at(&self, seq: Seq, cause: Cause) -> Option<Chunk> {
        let segment = self.flight.segment_at(seq)?;
        let control = u32::from(segment.flags.any(Flags::SYN | Flags::FIN));
        // A retransmission does not repeat the ECN flags.
        let flags = segment.flags.without(Flags::ECE | Flags::CWR);
        Some(Chunk { seq: segment.seq, len: segment.len - control, flags, cause })
    }
}
