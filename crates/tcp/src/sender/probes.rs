//! Tail loss probes (RFC 8985 section 7): their timer and their segment.

use rtolab_time::Instant;

use super::{Chunk, Sender};
use crate::config::Restarts;
use crate::event::Event;
use crate::flight::{Cause, Sent};
use crate::recovery::{LossRecovery, ProbeStep, TailLossProbe};
use crate::seq::Seq;
use crate::timer::Timer;

impl Sender {
    /// Arms the probe timer (section 7.2) when new data is sent or acknowledged. `outstanding` is
    /// the data in flight after that, in bytes. The timer expires at `latest` at the latest.
    pub(super) fn arm_probe(&mut self, outstanding: u64, at: Instant, latest: Option<Instant>) {
        let pto = self.may_probe(outstanding).then(|| {
            let being_sent = usize::from(outstanding > self.flight.size());
            let single = self.flight.outstanding() + being_sent == 1;
            let srtt = self.rtt.estimate().map(|estimate| estimate.srtt);
            at + TailLossProbe::pto(srtt, single, &self.config.recovery.rack)
        });
        match (pto, latest) {
            (None, _) => self.timers.stop(Timer::LossProbe),
            (Some(pto), latest) => {
                let due = latest.map_or(pto, |latest| latest.min(pto));
                self.timers.schedule(Timer::LossProbe, due, at);
            }
        }
    }

    /// New data is sent; `outstanding` counts it, too, in bytes. Arms the probe timer. In
    /// Linux it takes the place of the reordering timer outside of a recovery (`tcp_write_xmit`).
    /// If no probe may be sent, the timer of the head continues (`tcp_event_new_data_sent`).
    pub(super) fn arm_probe_for_new_data(&mut self, outstanding: u64, at: Instant) {
        let is_linux = self.config.rto.restarts == Restarts::Linux;
        if is_linux && self.may_probe_unless_reordering(outstanding) {
            self.timers.stop(Timer::Reordering);
        }
        let ran = self.timers.is_running(Timer::LossProbe);
        self.arm_probe(outstanding, at, self.latest_probe(at));
        if ran && self.rack_timer().is_none() {
            self.restart_timer_from_head(at);
        }
    }

    /// May the probe timer run with this many bytes `outstanding`? It may not while losses are
    /// known or suspected.
    pub(super) fn may_probe(&self, outstanding: u64) -> bool {
        !self.timers.is_running(Timer::Reordering) && self.may_probe_unless_reordering(outstanding)
    }

    fn may_probe_unless_reordering(&self, outstanding: u64) -> bool {
        self.loss_recovery.may_probe()
            && self.config.recovery.rack.tail_loss_probe
            && outstanding > 0
            && self.flight.una() > Seq::FIRST
            && self.flight.uses_sack()
            && self.flight.sacked() == 0
            && !self.recovery.is_in_fast_recovery()
    }

    /// The probe timer expired: `TLP_send_probe` (section 7.3). The retransmission timer restarts.
    /// If no probe is sent, Linux continues with the timer of the head (`tcp_send_loss_probe`).
    pub(super) fn on_probe_timer(&mut self, at: Instant) {
        self.timers.stop(Timer::LossProbe);
        let step = self.loss_recovery.on_probe_timer();
        if step == ProbeStep::RestartTimerFromHead {
            return self.restart_timer_from_head(at);
        }
        if step == ProbeStep::Send && !self.can_send_new() {
            if let Some(tail) = self.flight.last_unsacked().map(|sent| sent.seq) {
                self.push_event(Event::Probe(self.retransmission(tail, at)));
            }
        }
        self.restart_retransmission_timer(at);
    }

    /// The segment that a probe retransmitted, until it is acknowledged.
    pub(crate) fn outstanding_probe(&self) -> Option<Sent> {
        self.loss_recovery.is_time_based().then(|| self.flight.probed().copied()).flatten()
    }

    /// The probe, if one is due: new data, else the last segment.
    pub(super) fn choose_probe(&mut self) -> Option<Chunk> {
        if self.loss_recovery.has_probe() {
            return self.choose_probe_of_timeout();
        }
        if !self.loss_recovery.probe()?.take() {
            return None;
        }
        let retransmission = || self.chunk_at(self.flight.last_unsacked()?.seq, Cause::Probe);
        let chunk = self.new_chunk().or_else(retransmission)?;
        let end = self.flight.max().max(chunk.end());
        self.loss_recovery.probe()?.on_sent(end, chunk.cause == Cause::Probe);
        Some(chunk)
    }
}
