//! Asks the window reduction what `cwnd` becomes, and sets it.

use super::Sender;
use crate::config::{Outstanding, PrrBound, Reduction};
use crate::flight::AckFacts;
use crate::recovery::LossRecovery;
use crate::reduction::{Prr, RateHalving, ReductionAck, ReductionAlgorithm, WindowReduction};
use crate::seq::Seq;

/// What was marked lost and what was retransmitted of it, in bytes, before an ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Losses {
    lost: u64,
    retransmitted: u64,
}

impl Sender {
    /// What is marked lost so far.
    pub(crate) const fn losses(&self) -> Losses {
        Losses { lost: self.flight.lost(), retransmitted: self.flight.retrans_out() }
    }

    /// Fast recovery begins with `flight_size` bytes outstanding, and `cwnd` is `ssthresh`. A PRR
    /// that is under way may go on.
    pub(crate) fn begin_reduction(&mut self, flight_size: u64) {
        if self.config.recovery.reduction == Reduction::RateHalving {
            self.window.set_cwnd(flight_size);
            let halving = RateHalving::recovery(self.window.cwnd());
            self.reduction = WindowReduction::RateHalving(halving);
        } else if self.reduction.cwr_end().is_some() {
            self.reduction = WindowReduction::AtOnce;
        }
    }

    /// An ACK arrived, in fast recovery if the sender was `recovering`; it may have begun or ended
    /// that. `before` it, these were the losses.
    pub(crate) fn reduce(&mut self, facts: &AckFacts, recovering: bool, before: Losses) {
        match self.config.recovery.reduction {
            Reduction::RateHalving if self.recovery.is_fast() => {
                self.reduce_rate(facts, !recovering);
            }
            Reduction::Prr(bound) if self.config.tells_delivered() => {
                self.reduce_in_proportion(bound, facts, (recovering, before));
            }
            Reduction::AtOnce | Reduction::RateHalving | Reduction::Prr(_) => {}
        }
    }

    /// Has a congestion mark reduced the window, and what was outstanding then is not acknowledged?
    pub(crate) fn is_answering_echo(&self) -> bool {
        self.ecn.as_ref().is_some_and(|ecn| ecn.is_reducing(self.flight.una()))
    }

    /// The peer echoes a mark. Once a window, and where no loss has done so, the window is reduced
    /// (RFC 3168 section 6.1.2).
    pub(super) fn answer_echo(&mut self, facts: &AckFacts) {
        let recovering = self.recovery.is_fast() || facts.ack <= self.recovery.recover;
        if self.is_answering_echo() || recovering {
            return;
        }
        let flight_size = facts.max.since(facts.una_before);
        let cwnd = self.window.cwnd();
        let remainder = self.halve(flight_size);
        if let Some(ecn) = &mut self.ecn {
            ecn.on_echo(self.flight.max());
        }
        match self.config.recovery.reduction {
            Reduction::RateHalving => self.begin_window_reduction(flight_size),
            Reduction::Prr(PrrBound::Linux) if self.loss_recovery.is_by_time() => {
                self.begin_prr_for_echo(facts, cwnd);
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

    /// Rate halving begins with a window of `cwnd` bytes, at least a segment, and lasts until the
    /// outstanding data are acknowledged (`tcp_enter_cwr`).
    pub(crate) fn begin_window_reduction(&mut self, cwnd: u64) {
        self.window.set_cwnd(cwnd);
        self.reduction = WindowReduction::RateHalving(RateHalving::cwr(self.flight.max()));
    }

    /// An ACK arrived: does rate halving go on outside fast recovery, so that the window does not
    /// grow (`tcp_cwnd_down`, `tcp_complete_cwr`)?
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

    fn reduce_in_proportion(
        &mut self,
        bound: PrrBound,
        facts: &AckFacts,
        (recovering, before): (bool, Losses),
    ) {
        let flight_size = facts.max.since(facts.una_before);
        let unsacked = flight_size - facts.sacked_before;
        let delivered = unsacked - (self.flight.size() - self.flight.sacked());
        let delivered = delivered + self.delivered_twice(facts);
        if self.is_reducing_for_echo() {
            if delivered > 0 {
                self.send_in_proportion(delivered, facts.is_new());
            }
            return;
        }
        if !self.recovery.is_fast() {
            if self.reduction.end_prr() || recovering {
                self.window.set_cwnd(self.window.ssthresh());
            }
            return;
        }
        let Losses { lost, retransmitted } = self.losses();
        // A retransmission that has arrived counts in neither.
        let further = lost + before.retransmitted > before.lost + retransmitted;
        self.begin_prr(bound, flight_size, unsacked);
        // RFC 6937 computes it for every ACK, RFC 9937 where something is delivered.
        if delivered > 0 || matches!(bound, PrrBound::Crb | PrrBound::Ssrb) {
            self.send_in_proportion(delivered, facts.is_new() && !further);
        }
    }

    /// The peer echoes a mark: PRR reduces the window of `cwnd` bytes until more than the
    /// outstanding data is acknowledged (`tcp_enter_cwr` of Linux).
    pub(crate) fn begin_prr_for_echo(&mut self, facts: &AckFacts, cwnd: u64) {
        self.count_anew(PrrBound::Linux, self.flight.max(), cwnd);
        let acked = facts.max.since(facts.una_before) - facts.sacked_before;
        let delivered = acked - (self.flight.size() - self.flight.sacked());
        if delivered > 0 {
            self.send_in_proportion(delivered, facts.is_new());
        }
    }

    /// Does PRR reduce the window outside fast recovery?
    pub(crate) fn is_reducing_for_echo(&self) -> bool {
        matches!(self.reduction, WindowReduction::Prr(_))
            && !self.recovery.is_fast()
            && self.is_answering_echo()
    }

    /// Fast recovery began between two ACKs.
    pub(crate) fn reduce_at_timer(&mut self) {
        let Reduction::Prr(bound) = self.config.recovery.reduction else { return };
        if self.config.tells_delivered() && self.recovery.is_fast() {
            let flight_size = self.flight.size();
            self.begin_prr(bound, flight_size, flight_size - self.flight.sacked());
            // As if a segment had been delivered (`tcp_rack_reo_timeout`).
            let delivered = if bound == PrrBound::Linux { self.window.smss() } else { 0 };
            self.send_in_proportion(delivered, false);
        }
    }

    /// Starts PRR, unless it runs for this recovery.
    fn begin_prr(&mut self, bound: PrrBound, flight_size: u64, unsacked: u64) {
        let recover = self.recovery.recover;
        if !matches!(&self.reduction, WindowReduction::Prr(prr) if prr.counts(recover)) {
            let recover_fs = match bound {
                PrrBound::Crb | PrrBound::Ssrb => flight_size,
                PrrBound::Rfc9937 => unsacked,
                PrrBound::Linux => self.recovery.before,
            };
            self.count_anew(bound, recover, recover_fs);
        }
    }

    fn count_anew(&mut self, bound: PrrBound, recover: Seq, recover_fs: u64) {
        let prr = Prr::new(bound, recover, recover_fs, self.window.ssthresh());
        self.reduction = WindowReduction::Prr(prr);
    }

    fn send_in_proportion(&mut self, delivered_data: u64, safe_ack: bool) {
        let pipe = self.outstanding() - self.counted_early();
        self.set_reduced(&ReductionAck { pipe, delivered_data, safe_ack, begins: false });
    }

    /// Bytes of the fast retransmit, where they count as outstanding before it leaves.
    fn counted_early(&self) -> u64 {
        let head = self.flight.head().filter(|head| head.is_retrans_out());
        let pipe = self.config.recovery.sack.outstanding == Outstanding::Pipe;
        let waits = head.filter(|_| pipe && self.resend_head.is_some());
        waits.map_or(0, |head| u64::from(head.len))
    }
}
