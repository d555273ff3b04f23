//! Proportional rate reduction: RFC 6937, and RFC 9937 after it. While the window comes down, what
//! leaves is in proportion to what arrives; once it is down, what leaves makes up for losses, within
//! a bound.

use alloc::boxed::Box;

use crate::config::{Outstanding, PrrBound, Reduction};
use crate::flight::AckFacts;
use crate::sender::Sender;
use crate::seq::Seq;

/// Fast recovery as PRR sees it, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prr {
    /// Which recovery: where it ends.
    recover: Seq,
    /// Delivered in it (`prr_delivered`).
    delivered: u64,
    /// Sent in it (`prr_out`).
    out: u64,
    /// What might be delivered in it (`RecoverFS`), but at least what it comes down to: where the
    /// window was smaller than that, no more leaves than is delivered.
    flight: u64,
}

/// What was taken for lost and what was repaired, in bytes, before an acknowledgment was looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Losses {
    lost: u64,
    repaired: u64,
}

impl Prr {
    /// So much leaves in recovery.
    pub const fn sent(&mut self, bytes: u64) {
        self.out += bytes;
    }

    /// Of `ssthresh`, as much as of the flight is delivered.
    fn share(&self, ssthresh: u64) -> u64 {
        let share = u128::from(self.delivered) * u128::from(ssthresh);
        u64::try_from(share.div_ceil(u128::from(self.flight))).unwrap_or(u64::MAX)
    }
}

impl Sender {
    /// How far the rate is reduced in proportion: with SACK alone, for what is delivered is not known
    /// without.
    pub(super) fn prr_bound(&self) -> Option<PrrBound> {
        match self.config.recovery.reduction {
            Reduction::Prr(bound) if self.config.tells_delivered() => Some(bound),
            _ => None,
        }
    }

    /// What is taken for lost so far.
    pub(crate) const fn losses(&self) -> Losses {
        Losses { lost: self.flight.lost(), repaired: self.flight.repaired() }
    }

    /// An acknowledgment arrived, in fast recovery, or it began that, or ended it if the sender was
    /// `recovering`. `before` it was looked at, so much was lost.
    pub(crate) fn reduce_in_proportion(
        &mut self,
        facts: &AckFacts,
        recovering: bool,
        before: Losses,
    ) {
        let Some(bound) = self.prr_bound() else { return };
        let flight_size = facts.max.since(facts.una_before);
        let unsacked = flight_size - facts.sacked_before;
        let delivered = unsacked - (self.flight.size() - self.flight.sacked());
        let delivered = delivered + self.delivered_twice(facts);
        if self.is_reducing_for_echo() {
            if delivered > 0 {
                self.send_in_proportion(bound, delivered, facts.is_new());
            }
            return;
        }
        if !self.recovery.is_fast() {
            if self.prr.take().is_some() || recovering {
                self.window.cwnd = self.window.ssthresh;
            }
            return;
        }
        let Losses { lost, repaired } = self.losses();
        // What was repaired and has arrived counts in neither.
        let further = lost + before.repaired > before.lost + repaired;
        let safe = facts.is_new() && !further;
        self.begin_prr(match bound {
            PrrBound::Crb | PrrBound::Ssrb => flight_size,
            PrrBound::Rfc9937 => unsacked,
            PrrBound::Linux => self.recovery.before,
        });
        // RFC 6937 computes it for every acknowledgment, RFC 9937 where something is delivered.
        if delivered > 0 || matches!(bound, PrrBound::Crb | PrrBound::Ssrb) {
            self.send_in_proportion(bound, delivered, safe);
        }
    }

    /// The peer echoes a mark, and the window of `before` bytes comes down as in fast recovery, until
    /// more than what is outstanding now is acknowledged (`tcp_enter_cwr` of Linux).
    pub(crate) fn begin_reducing_for_echo(&mut self, facts: &AckFacts, before: u64) {
        self.count_anew(self.flight.max(), before);
        let acked = facts.max.since(facts.una_before) - facts.sacked_before;
        let delivered = acked - (self.flight.size() - self.flight.sacked());
        if delivered > 0 {
            self.send_in_proportion(PrrBound::Linux, delivered, facts.is_new());
        }
    }

    /// Does the window come down outside fast recovery?
    pub(crate) fn is_reducing_for_echo(&self) -> bool {
        self.prr.is_some() && !self.recovery.is_fast() && self.is_answering_echo()
    }

    /// Fast recovery began between two acknowledgments.
    pub(crate) fn reduce_in_proportion_at_timer(&mut self) {
        if let (Some(bound), true) = (self.prr_bound(), self.recovery.is_fast()) {
            self.begin_prr(match bound {
                PrrBound::Crb | PrrBound::Ssrb => self.flight.size(),
                PrrBound::Rfc9937 => self.flight.size() - self.flight.sacked(),
                PrrBound::Linux => self.recovery.before,
            });
            // As if a segment had been delivered (`tcp_rack_reo_timeout`).
            let delivered = if bound == PrrBound::Linux { self.window.smss } else { 0 };
            self.send_in_proportion(bound, delivered, false);
        }
    }

    /// Counts anew, unless this recovery is counted.
    fn begin_prr(&mut self, flight: u64) {
        let recover = self.recovery.recover;
        if self.prr.as_ref().is_none_or(|prr| prr.recover != recover) {
            self.count_anew(recover, flight);
        }
    }

    fn count_anew(&mut self, recover: Seq, flight: u64) {
        let flight = flight.max(self.window.ssthresh);
        self.prr = Some(Box::new(Prr { recover, delivered: 0, out: 0, flight }));
    }

    /// Bytes of the fast retransmit, where they count as outstanding before it leaves.
    fn counted_early(&self) -> u64 {
        let head = self.flight.head().filter(|head| head.is_repaired());
        let pipe = self.config.recovery.sack.outstanding == Outstanding::Pipe;
        let waits = head.filter(|_| pipe && self.resend_head.is_some());
        waits.map_or(0, |head| u64::from(head.len))
    }

    /// The window lets out as much as is due (RFC 9937 section 6.2, RFC 6937 section 3).
    fn send_in_proportion(&mut self, bound: PrrBound, delivered: u64, safe: bool) {
        let (ssthresh, smss) = (self.window.ssthresh, self.window.smss);
        let pipe = self.outstanding() - self.counted_early();
        let Some(prr) = &mut self.prr else { return };
        prr.delivered += delivered;
        let due = if pipe > ssthresh {
            let share = match bound {
                PrrBound::Linux => prr.share(ssthresh).div_ceil(smss) * smss,
                PrrBound::Crb | PrrBound::Ssrb | PrrBound::Rfc9937 => prr.share(ssthresh),
            };
            share.saturating_sub(prr.out)
        } else {
            let owed = prr.delivered.saturating_sub(prr.out);
            let limit = match bound {
                PrrBound::Crb => owed,
                PrrBound::Ssrb => owed.max(delivered) + smss,
                PrrBound::Rfc9937 | PrrBound::Linux => {
                    owed.max(delivered) + if safe { smss } else { 0 }
                }
            };
            limit.min(ssthresh - pipe)
        };
        // The fast retransmit leaves in any case.
        let due = if prr.out == 0 { due.max(smss) } else { due };
        self.window.cwnd = (pipe + due).max(smss);
    }
}
