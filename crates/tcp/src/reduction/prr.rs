//! Proportional rate reduction (RFC 9937, and its predecessor RFC 6937). While the pipe is above
//! `ssthresh`, the sender sends in proportion to the delivered data. Below it the sender makes up
//! for losses, within a bound.

use super::{ReductionAck, ReductionAlgorithm};
use crate::config::PrrBound;
use crate::congestion::Window;
use crate::seq::Seq;

/// The variables of PRR in one recovery, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prr {
    bound: PrrBound,
    /// The end of this recovery.
    recover: Seq,
    /// `prr_delivered`: the data delivered in it.
    prr_delivered: u64,
    /// `prr_out`: the data sent in it.
    prr_out: u64,
    /// `RecoverFS`: FlightSize when it began.
    recover_fs: u64,
}

impl Prr {
    /// PRR for a recovery that ends at `recover`. `recover_fs` is raised to `ssthresh`, so that the
    /// sender never sends more than is delivered while the pipe is above `ssthresh`.
    pub fn new(bound: PrrBound, recover: Seq, recover_fs: u64, ssthresh: u64) -> Self {
        Self { bound, recover, prr_delivered: 0, prr_out: 0, recover_fs: recover_fs.max(ssthresh) }
    }

    /// Is it for the recovery that ends at `recover`?
    pub fn is_for(&self, recover: Seq) -> bool {
        self.recover == recover
    }

    /// `CEIL(prr_delivered * ssthresh / RecoverFS)`, in Linux rounded up to whole segments.
    fn proportion(&self, window: &Window) -> u64 {
        let product = u128::from(self.prr_delivered) * u128::from(window.ssthresh());
        let bytes = u64::try_from(product.div_ceil(u128::from(self.recover_fs)));
        match (self.bound, bytes.unwrap_or(u64::MAX)) {
            (PrrBound::Linux, bytes) => bytes.next_multiple_of(window.smss()),
            (PrrBound::Crb | PrrBound::Ssrb | PrrBound::Rfc9937, bytes) => bytes,
        }
    }
}

impl ReductionAlgorithm for Prr {
    /// RFC 9937 section 6.2, RFC 6937 section 3.
    fn on_ack(&mut self, ack: &ReductionAck, window: &Window) -> u64 {
        let (ssthresh, smss) = (window.ssthresh(), window.smss());
        let ReductionAck { pipe, delivered_data, safe_ack, .. } = *ack;
        // prr_delivered += DeliveredData
        self.prr_delivered += delivered_data;
        let sndcnt = if pipe > ssthresh {
            // sndcnt = CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out
            self.proportion(window).saturating_sub(self.prr_out)
        } else {
            let crb = self.prr_delivered.saturating_sub(self.prr_out);
            let limit = match self.bound {
                // limit = prr_delivered - prr_out
                PrrBound::Crb => crb,
                // limit = MAX(prr_delivered - prr_out, DeliveredData) + MSS
                PrrBound::Ssrb => crb.max(delivered_data) + smss,
                // The same, but + MSS only if SafeACK.
                PrrBound::Rfc9937 | PrrBound::Linux => {
                    crb.max(delivered_data) + if safe_ack { smss } else { 0 }
                }
            };
            // sndcnt = MIN(ssthresh - pipe, limit)
            limit.min(ssthresh - pipe)
        };
        // "Force a fast retransmit upon entering recovery": if prr_out is 0, sndcnt is at least MSS
        let sndcnt = if self.prr_out == 0 { sndcnt.max(smss) } else { sndcnt };
        // cwnd = pipe + sndcnt
        pipe + sndcnt
    }

    /// prr_out += data sent
    fn on_sent(&mut self, bytes: u64) {
        self.prr_out += bytes;
    }
}
