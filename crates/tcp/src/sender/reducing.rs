//! The sender's part of a window reduction: it passes ACKs to the algorithm and sets `cwnd`.

use super::Sender;
use crate::config::{Outstanding, PrrBound, Reduction};
use crate::flight::AckFacts;
use crate::recovery::LossRecovery;
use crate::reduction::{Prr, RateHalving, ReductionAck, ReductionAlgorithm, WindowReduction};
use crate::seq::Seq;

/// The bytes marked lost and the bytes retransmitted (`lost_out` and `retrans_out` of Linux), and
/// how often segments were marked lost (`lost`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossCounts {
    lost: u64,
    retransmitted: u64,
    marked: u16,
}

impl Sender {
    /// The current counts.
    pub(crate) const fn losses(&self) -> LossCounts {
        let (lost, retransmitted) = (self.flight.lost(), self.flight.retrans_out());
        LossCounts { lost, retransmitted, marked: self.flight.losses() }
    }

    /// Fast recovery begins with `flight_size` bytes outstanding and `cwnd` equal to `ssthresh`. A
    /// running PRR may continue.
    pub(crate) fn begin_reduction(&mut self, flight_size: u64) {
        if self.has_model() {
            self.reduction = WindowReduction::AtOnce;
        } else if self.config.recovery.reduction == Reduction::RateHalving {
            self.window.set_cwnd(flight_size);
            let halving = RateHalving::recovery(self.window.cwnd());
            self.reduction = WindowReduction::RateHalving(halving);
        } else if self.reduction.cwr_end().is_some() {
            self.reduction = WindowReduction::AtOnce;
        }
    }

    /// Reduces the window for an ACK in fast recovery. `recovering`: the sender was in fast
    /// recovery before it. `before`: the counts before it.
    pub(crate) fn reduce(&mut self, facts: &AckFacts, recovering: bool, before: LossCounts) {
        match self.config.recovery.reduction {
            _ if self.has_model() => {}
            Reduction::RateHalving if self.recovery.is_in_fast_recovery() => {
                self.reduce_rate(facts, !recovering);
            }
            Reduction::Prr(bound) if self.config.counts_delivered() => {
                self.prr_on_ack(bound, facts, (recovering, before));
            }
            Reduction::AtOnce | Reduction::RateHalving | Reduction::Prr(_) => {}
        }
    }

    /// Has an ECE flag reduced the window within the last window of data?
    pub(crate) fn has_ece_reduction(&self) -> bool {
        self.ecn.as_ref().is_some_and(|ecn| ecn.is_reducing(self.flight.una()))
    }

    /// An ACK ends a fast recovery and begins the next one, which starts from the window that PRR
    /// aims at (RFC 9937 section 5, Linux: `tcp_end_cwnd_reduction`).
    pub(crate) fn end_prr(&mut self) {
        let is_prr = matches!(self.config.recovery.reduction, Reduction::Prr(_));
        if is_prr && self.config.counts_delivered() && !self.has_model() {
            self.reduction.end_prr();
            self.window.set_cwnd(self.window.ssthresh());
        }
    }

    /// Reduces the window for an ECE flag: at most once per window of data, and not if a loss has
    /// reduced it (RFC 3168 section 6.1.2).
    pub(super) fn on_ece(&mut self, facts: &AckFacts) {
        let recovering = self.recovery.is_in_fast_recovery() || facts.ack <= self.recovery.recover;
        if self.has_ece_reduction() || recovering {
            return;
        }
        let flight_size = facts.max.since(facts.una_before);
        let cwnd = self.window.cwnd();
        let remainder = self.reduce_ssthresh(flight_size);
        if let Some(ecn) = &mut self.ecn {
            ecn.on_ece(self.flight.max());
        }
        match self.config.recovery.reduction {
            _ if self.has_model() => {}
            Reduction::RateHalving => self.begin_window_reduction(flight_size),
            Reduction::Prr(PrrBound::Linux) if self.loss_recovery.is_time_based() => {
                self.begin_prr_for_ece(facts, cwnd);
            }
            Reduction::AtOnce | Reduction::Prr(_) => {
                let least = remainder.max(self.window.smss()).min(self.window.ssthresh());
                self.window.limit_cwnd(least);
            }
        }
    }

    fn set_reduced(&mut self, ack: &ReductionAck) {
        self.window.set_cwnd(self.reduction.on_ack(ack, &self.window));
    }

    fn reduce_rate(&mut self, facts: &AckFacts, begins: bool) {
        if facts.duplicate || facts.newly_sacked > 0 || facts.is_new() {
            let pipe = self.outstanding();
            self.set_reduced(&ReductionAck { pipe, delivered_data: 0, safe_ack: false, begins });
        }
    }

    /// Begins rate halving with a window of `cwnd` bytes, at least a segment. It lasts until the
    /// outstanding data is acknowledged (Linux: `tcp_enter_cwr`).
    pub(crate) fn begin_window_reduction(&mut self, cwnd: u64) {
        self.window.set_cwnd(cwnd);
        self.reduction = WindowReduction::RateHalving(RateHalving::cwr(self.flight.max()));
    }

    /// Continues rate halving outside fast recovery at an ACK. Returns whether it is running, so
    /// that the window does not grow (Linux: `tcp_cwnd_down`, `tcp_complete_cwr`).
    pub(crate) fn reduce_in_cwr(&mut self, facts: &AckFacts) -> bool {
        let Some(high_seq) = self.reduction.cwr_end() else { return false };
        if facts.ack > high_seq {
            self.window.limit_cwnd(self.window.ssthresh());
            self.reduction = WindowReduction::AtOnce;
        } else {
            self.reduce_rate(facts, false);
        }
        true
    }

    fn prr_on_ack(
        &mut self,
        bound: PrrBound,
        facts: &AckFacts,
        (recovering, before): (bool, LossCounts),
    ) {
        let flight_size = facts.max.since(facts.una_before);
        let unsacked = flight_size - facts.sacked_before;
        let delivered = match self.loss_recovery.delivered_segments() {
            Some(segments) => u64::from(segments) * self.window.smss(),
            None => unsacked - (self.flight.size() - self.flight.sacked()),
        };
        let delivered = delivered + self.delivered_twice(facts);
        let delivered = self.loss_recovery.delivered().unwrap_or(delivered);
        if self.is_in_prr_for_ece() {
            if delivered > 0 {
                self.update_prr(delivered, facts.is_new());
            }
            return;
        }
        if !self.recovery.is_in_fast_recovery() {
            let ends = self.reduction.end_prr() || recovering;
            if ends && !self.loss_recovery.is_undone() {
                self.window.set_cwnd(self.window.ssthresh());
            }
            return;
        }
        let LossCounts { lost, retransmitted, marked } = self.losses();
        let further_loss = match self.loss_recovery.delivered_segments() {
            // An undo by the same acknowledgment may have cleared the marks before.
            Some(_) => marked != before.marked,
            // A delivered retransmission leaves both counts.
            None => lost + before.retransmitted > before.lost + retransmitted,
        };
        self.begin_prr(bound, flight_size, unsacked);
        // RFC 6937 runs PRR for every ACK, RFC 9937 for those that deliver data.
        if delivered > 0 || matches!(bound, PrrBound::Crb | PrrBound::Ssrb) {
            self.update_prr(delivered, facts.is_new() && !further_loss);
        }
    }

    /// Begins PRR for an ECE flag: it reduces the window of `cwnd` bytes until more than the
    /// outstanding data is acknowledged (Linux: `tcp_enter_cwr`).
    pub(crate) fn begin_prr_for_ece(&mut self, facts: &AckFacts, cwnd: u64) {
        self.start_prr(PrrBound::Linux, self.flight.max(), cwnd);
        let acked = facts.max.since(facts.una_before) - facts.sacked_before;
        let delivered = acked - (self.flight.size() - self.flight.sacked());
        if delivered > 0 {
            self.update_prr(delivered, facts.is_new());
        }
    }

    /// Does PRR reduce the window outside fast recovery?
    pub(crate) fn is_in_prr_for_ece(&self) -> bool {
        matches!(self.reduction, WindowReduction::Prr(_))
            && !self.recovery.is_in_fast_recovery()
            && self.has_ece_reduction()
    }

    /// Begins PRR if the reordering timer began fast recovery.
    pub(crate) fn reduce_at_timer(&mut self) {
        let Reduction::Prr(bound) = self.config.recovery.reduction else { return };
        let runs = self.config.counts_delivered() && !self.has_model();
        if runs && self.recovery.is_in_fast_recovery() {
            let flight_size = self.flight.size();
            self.begin_prr(bound, flight_size, flight_size - self.flight.sacked());
            // Linux assumes one delivered segment (`tcp_rack_reo_timeout`).
            let delivered = if bound == PrrBound::Linux { self.window.smss() } else { 0 };
            self.update_prr(delivered, false);
        }
    }

    /// Starts PRR, unless it runs for this recovery.
    fn begin_prr(&mut self, bound: PrrBound, flight_size: u64, unsacked: u64) {
        let recover = self.recovery.recover;
        if !matches!(&self.reduction, WindowReduction::Prr(prr) if prr.is_for(recover)) {
            let recover_fs = match bound {
                PrrBound::Crb | PrrBound::Ssrb => flight_size,
                PrrBound::Rfc9937 => unsacked,
                PrrBound::Linux => self.recovery.prior_cwnd,
            };
            self.start_prr(bound, recover, recover_fs);
        }
    }

    fn start_prr(&mut self, bound: PrrBound, recover: Seq, recover_fs: u64) {
        let prr = Prr::new(bound, recover, recover_fs, self.window.ssthresh());
        self.reduction = WindowReduction::Prr(prr);
    }

    fn update_prr(&mut self, delivered_data: u64, safe_ack: bool) {
        let pipe = self.outstanding() - self.counted_before_sent();
        self.set_reduced(&ReductionAck { pipe, delivered_data, safe_ack, begins: false });
    }

    /// The bytes of the fast retransmit, if they count in the pipe before it is sent.
    fn counted_before_sent(&self) -> u64 {
        let pipe = self.config.recovery.sack.outstanding == Outstanding::Pipe;
        if !pipe || self.retransmit_head.is_none() {
            return 0;
        }
        // RACK may retransmit another segment than the head, which still waits for its own.
        let next = self.flight.segment_at(self.first_retransmission());
        next.filter(|sent| sent.is_retrans_out()).map_or(0, |sent| u64::from(sent.len))
    }
}
