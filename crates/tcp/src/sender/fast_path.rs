//! The fast path of the sender: there is no loss, no retransmission and no episode
//! (`TCP_CA_Open`), and the acknowledgment is of the next data. Of [`Sender::on_ack`] it takes only
//! the round-trip sample, the growth of cwnd and the restart of the timer.

use rtolab_time::Instant;

use super::{Chunk, SendPermission, Sender};
use crate::config::{RtoFloor, Sampling, Validation, WindowLimited};
use crate::flight::{AckFacts, Cause, FastPathAck};
use crate::recovery::LossRecovery;
use crate::segment::{Flags, Segment};
use crate::seq::Seq;
use crate::timer::Timer;

impl Sender {
    /// Is the sender in plain slow start or congestion avoidance (`TCP_CA_Open`)? The slow path
    /// enters the fast path after an ACK of new data. It ends when a timer expires, an ACK is not a
    /// plain one of new data, or the configuration changes.
    #[inline]
    pub fn is_on_fast_path(&self) -> bool {
        debug_assert!(
            !self.on_fast_path || self.can_enter_fast_path(),
            "the fast path was not left"
        );
        self.on_fast_path
    }

    fn can_enter_fast_path(&self) -> bool {
        self.has_fast_path_config()
            && self.flight.una() > Seq::FIRST
            && self.flight.is_clean()
            && self.nxt >= self.flight.max()
            && self.recovery.is_idle()
            && self.reduction.cwr_end().is_none()
            && self.controller.is_none()
            && self.retransmit_head.is_none()
            && self.timed_out_at.is_none()
            && self.rto_adaptation.is_none()
            && self.permission == SendPermission::Windows
            && !self.without_retransmission
            && !self.spurious_dupacks.are_pending()
            && !self.is_awaiting_verdict()
    }

    /// Enters the fast path, if the slow path has nothing to do for the next acknowledgment.
    pub(super) fn enter_fast_path(&mut self, ack: &AckFacts) {
        self.on_fast_path = ack.is_new() && self.can_enter_fast_path();
        if self.on_fast_path {
            self.flight.shrink();
        }
    }

    /// Does the configuration allow the fast path? Some options need the slow path at every ACK or
    /// transmission.
    fn has_fast_path_config(&self) -> bool {
        let (rto, window) = (&self.config.rto, &self.config.window);
        !self.loss_recovery.is_time_based()
            && rto.sampling != Sampling::EverySegment
            && !matches!(rto.floor, RtoFloor::DelayedAck(..))
            && window.validation == Validation::Off
            && window.max_burst.is_none()
            && window.overrun == 0
            && !matches!(self.config.frto_window_limited, WindowLimited::Reserve(_))
    }

    /// [`Sender::on_ack`] on the fast path, for an ACK of new data without SACK blocks or flags.
    #[inline(always)]
    pub fn on_fast_path_ack(&mut self, segment: &Segment, at: Instant) {
        let ack = self.flight.on_fast_path_ack(segment);
        self.burst = u32::MAX;
        self.sample_on_fast_path(&ack, at);
        self.last_activity.received = Some(at);
        self.recovery.note_newest(&ack);
        self.window.grow(ack.advanced);
        self.restart_timer(at);
    }

    /// Takes the same round-trip sample as [`Sender::on_ack`].
    #[inline(always)]
    fn sample_on_fast_path(&mut self, ack: &FastPathAck, at: Instant) {
        let sent = match (self.config.rto.sampling, ack.echo) {
            (Sampling::EveryAck, Some(echo)) => Some(self.instant_of(echo, at)),
            (Sampling::Linux, _) | (Sampling::EveryAck, None) => ack.sent,
            (Sampling::OncePerWindow | Sampling::EverySegment, _) => {
                let timed = self.timed.take_if(|(seq, _)| *seq < self.flight.una());
                timed.map(|(_, sent)| sent)
            }
        };
        let echo = ack.echo.filter(|_| self.config.rto.sampling == Sampling::Linux);
        let measured = sent.map(|sent| self.rtt.measure(sent, at));
        let Some(rtt) = measured.or_else(|| echo.map(|echo| self.echoed_rtt(echo, at))) else {
            return;
        };
        self.rtt.expect_samples(ack.flight_size, self.window.smss());
        self.rtt.sample(rtt, self.flight.una(), self.flight.max());
    }

    /// [`Sender::next_chunk`] on the fast path: new data, if the windows allow it.
    #[inline(always)]
    pub(super) fn next_new_chunk(&mut self, at: Instant) -> Option<Chunk> {
        if self.flight.max() == self.write_seq && !self.fin {
            return None;
        }
        if self.flight.size() == 0 {
            self.restart_after_idle(at);
        }
        if self.window_is_full() {
            return None;
        }
        let chunk = self.next_full_chunk().or_else(|| self.next_small_chunk())?;
        if !self.timers.is_running(Timer::Retransmission) {
            self.restart_retransmission_timer(at);
        }
        self.timed.get_or_insert((chunk.seq, at));
        Some(chunk)
    }

    /// After all segments are sent: does data wait for the windows alone? Further writes then
    /// change nothing before an ACK arrives or a timer expires.
    pub fn is_backlogged(&self) -> bool {
        let waiting = self.write_seq.since(self.flight.max());
        self.is_on_fast_path() && self.flight.size() > 0 && waiting >= self.window.smss()
    }

    /// On the fast path: can the sender send nothing before an ACK arrives or the application
    /// writes?
    #[inline]
    pub fn is_waiting(&self) -> bool {
        (self.flight.size() > 0 && self.window_is_full())
            || (self.flight.max() == self.write_seq && !self.fin)
    }

    /// As [`Sender::on_pure_ack`], for a segment that has no other flags or options and advertises
    /// `window` bytes.
    #[inline(always)]
    pub(crate) fn on_plain_pure_ack(&mut self, window: u32, at: Instant) {
        self.flight.note_window(window);
        self.burst = u32::MAX;
        self.last_activity.received = Some(at);
    }

    /// Is all written data sent and acknowledged?
    pub fn has_sent_all(&self) -> bool {
        self.flight.size() == 0
            && self.flight.max() == self.write_seq
            && !self.fin
            && !self.timers.is_running(Timer::Retransmission)
    }

    /// The length in bytes of the full segment to send after an acknowledgment that leaves data
    /// outstanding, as [`Sender::next_chunk`] chooses it. If this returns `None`, call
    /// [`Sender::next_chunk`].
    #[inline(always)]
    pub fn next_len_on_fast_path(&mut self, at: Instant) -> Option<u32> {
        let waits = self.flight.size() == 0 || self.window_is_full();
        if waits || !self.timers.is_running(Timer::Retransmission) {
            return None;
        }
        let chunk = self.next_full_chunk()?;
        self.timed.get_or_insert((chunk.seq, at));
        Some(chunk.len)
    }

    /// Records that this segment is sent.
    #[inline(always)]
    pub fn note_sent_on_fast_path(&mut self, segment: &Segment, at: Instant) {
        self.flight.sent_new(segment, at);
        self.last_activity.sent = Some(at);
        self.nxt = self.flight.max();
        self.validate_sent(segment, at, Cause::New);
    }

    /// Does the congestion window have no room for a segment?
    #[inline]
    const fn window_is_full(&self) -> bool {
        self.flight.size() + self.window.smss() > self.window.cwnd()
    }

    /// A full segment that more data follows, if the advertised window has room for it.
    #[inline]
    fn next_full_chunk(&self) -> Option<Chunk> {
        let (seq, smss) = (self.flight.max(), self.window.smss());
        let fits = self.wnd_edge.since(seq) >= smss && self.write_seq.since(seq) > smss;
        let chunk = Chunk { seq, len: smss as u32, flags: Flags::NONE, cause: Cause::New };
        fits.then_some(chunk)
    }
}
