//! Loss recovery without a retransmission timeout (RFC 9002): the probe timeout with its probes,
//! the loss detection timer, and the undo of a reduction.

use rtolab_time::Instant;

use super::{Chunk, Sender};
use crate::event::Event;
use crate::flight::Cause;
use crate::recovery::{LossRecovery, NextSeg, Transmission};
use crate::response::ResponseState;
use crate::seq::Seq;
use crate::timer::Timer;

impl Sender {
    /// Does a probe timeout replace the retransmission timeout? It does not for the SYN.
    #[inline]
    pub(super) fn has_probe_timeout(&self) -> bool {
        self.loss_recovery.pto_count().is_some() && self.flight.una() > Seq::FIRST
    }

    /// The number of back-offs of the timer since the last acknowledgment or sample.
    pub(crate) fn backoff(&self) -> u32 {
        self.loss_recovery.pto_count().unwrap_or(self.rtt.backoff())
    }

    /// The number of probe timeouts since the last acknowledgment; zero without probe timeouts.
    pub(crate) fn probe_timeouts(&self) -> u32 {
        self.loss_recovery.pto_count().unwrap_or(0)
    }

    /// The probe timeout expired (section 6.2.1). Neither the windows nor the losses change.
    pub(super) fn on_probe_timeout(&mut self, at: Instant) {
        self.burst = u32::MAX;
        let lost = self.loss_recovery.first_lost(&self.flight);
        let oldest = || self.flight.unsacked_from(self.flight.una()).map(|sent| sent.seq);
        let retransmits = lost.is_some() || !self.can_send_new();
        if let Some(seq) = lost.or_else(oldest).filter(|_| retransmits) {
            self.push_event(Event::Probe(self.retransmission(seq, at)));
        }
        let (algorithm, _, mut cx) = self.recovery_context(at);
        algorithm.on_probe_timeout(&mut cx);
        self.set_loss_detection_timer(at, self.flight.size() > 0);
    }

    /// Sets the loss detection timer after data was sent or acknowledged, or the timer expired
    /// (section 6.2.1). `outstanding`: data is in flight.
    pub(super) fn set_loss_detection_timer(&mut self, at: Instant, outstanding: bool) {
        let (algorithm, _, mut cx) = self.recovery_context(at);
        algorithm.set_loss_detection_timer(outstanding, &mut cx);
    }

    /// The next probe, if one is due (section 6.2.4).
    pub(super) fn choose_probe_of_timeout(&mut self) -> Option<Chunk> {
        let can_send_new = self.can_send_new();
        match self.loss_recovery.take_probe(&self.flight, can_send_new)? {
            NextSeg::New | NextSeg::NewAsUsual => self.new_chunk(),
            NextSeg::Retransmission(seq) => self.chunk_at(seq, Cause::Probe),
        }
    }

    /// Reports the `chunk` that is sent, for which the timer starts again.
    pub(super) fn note_transmission(&mut self, chunk: &Chunk, at: Instant) {
        let timestamp = if self.config.timestamps { self.timestamp(at) } else { 0 };
        let (end, len) = (chunk.end(), chunk.end().since(chunk.seq));
        self.loss_recovery.on_sent(&Transmission { end, len, at, timestamp });
        if self.has_probe_timeout() {
            self.set_loss_detection_timer(at, true);
        }
    }

    /// Undoes the last reduction, if loss recovery finds that its losses were spurious. A window
    /// that has grown beyond the former one stays, and so does a reduction with an ECE flag.
    pub(super) fn undo_by_loss_recovery(&mut self, at: Instant) {
        if !self.loss_recovery.take_undo() {
            return;
        }
        let Some(saved) = self.saved.as_deref_mut() else { return };
        let before = saved.state;
        let stands = saved.congestion_echoed || saved.response != ResponseState::Pending;
        saved.response = ResponseState::Restored;
        if stands || self.window.cwnd() > before.cwnd {
            return;
        }
        self.window.set_cwnd(before.cwnd);
        self.window.set_ssthresh(before.ssthresh);
        self.recovery.leave();
        self.reduction.end_prr();
        self.undo_reduction(at);
    }

    /// Congestion is persistent (section 7.6.2): cwnd falls to kMinimumWindow, and slow start
    /// begins.
    pub(super) fn collapse_window(&mut self, at: Instant) {
        if let Some(controller) = &mut self.controller {
            controller.on_timeout(at, self.flight.max());
        }
        self.window.set_segments(2);
        self.recovery.leave();
        self.reduction.end_prr();
    }

    /// Another loss recovery takes over the connection.
    pub(super) fn adopt_flight(&mut self) {
        let estimate = self.rtt.estimate();
        self.loss_recovery.adopt(&self.flight, estimate);
        self.timers.stop(Timer::Reordering);
        self.timers.stop(Timer::LossProbe);
    }
}
