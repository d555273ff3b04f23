//! What is lost? Loss recovery by duplicate acknowledgments: what Tahoe, Reno, NewReno and SACK
//! recovery share.

mod newreno;
mod reno;
mod sack;
mod tahoe;

use rtolab_time::Instant;

use crate::config::{Algorithm, Bugfix, FullAck, PartialAckTimer, RecoveryConfig};
use crate::event::Event;
use crate::flight::{AckFacts, Cause};
use crate::sender::{Sender, Settled};
use crate::seq::Seq;

/// Loss recovery under way, and what it has counted so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recovery {
    /// Duplicate acknowledgments since the last new one.
    pub dupacks: u32,
    /// Those of them that limited transmit answers: with SACK only those with new information.
    informative: u32,
    /// Bytes sent by limited transmit since then; they do not count in `ssthresh` (RFC 3042).
    pub limited: u64,
    /// Behind the highest sequence number sent when recovery began or the timer expired:
    /// `recover` of RFC 6582, `send_high` of RFC 2582, RecoveryPoint of RFC 6675.
    pub recover: Seq,
    /// In fast recovery: the window without what duplicate acknowledgments add to it, in bytes.
    halved: u64,
    /// Fast recovery, while it lasts.
    fast: Option<Fast>,
}

/// Fast recovery under way.
#[derive(Clone, Copy, Debug)]
enum Fast {
    Reno,
    NewReno {
        /// Partial acknowledgments so far.
        partials: u32,
    },
    Sack {
        /// Behind the highest sequence number retransmitted (HighRxt).
        high_rxt: Seq,
        /// A rescue retransmission waits until SND.UNA is beyond this (RescueRxt).
        rescue: Seq,
    },
}

impl Default for Recovery {
    fn default() -> Self {
        Self { dupacks: 0, informative: 0, limited: 0, recover: Seq::FIRST, halved: 0, fast: None }
    }
}

impl Recovery {
    /// Is fast recovery under way?
    pub const fn is_fast(&self) -> bool {
        self.fast.is_some()
    }

    /// The congestion window `cwnd` without what fast recovery added to it.
    pub const fn deflated(&self, cwnd: u64) -> u64 {
        if self.is_fast() { self.halved } else { cwnd }
    }

    /// A timeout ends fast recovery; none begins before `max` is acknowledged.
    pub fn on_timeout(&mut self, max: Seq) {
        self.recover = max;
        self.leave();
    }

    /// No duplicate acknowledgments count any more, and fast recovery is over.
    pub fn leave(&mut self) {
        *self = Self { recover: self.recover, ..Self::default() };
    }

    /// Does a new acknowledgment restart the retransmission timer (RFC 6582 section 4)?
    pub fn restarts_timer(&self, config: &RecoveryConfig) -> bool {
        match self.fast {
            Some(Fast::NewReno { partials }) => {
                partials <= 1 || config.newreno.timer == PartialAckTimer::SlowButSteady
            }
            _ => true,
        }
    }

    /// What counts as outstanding, where SACK recovery says so.
    pub fn outstanding(&self, sender: &Sender) -> Option<u64> {
        match self.fast {
            Some(Fast::Sack { .. }) => Some(sender.sack_outstanding()),
            _ => None,
        }
    }
}

impl Sender {
    /// Loss recovery's part of an acknowledgment.
    pub(crate) fn recover(&mut self, facts: &AckFacts, settled: Settled) {
        if facts.is_new() && !self.recovery.is_fast() {
            self.recovery.leave();
        }
        if settled.freezes() {
            return;
        }
        match (self.config.recovery.algorithm, self.recovery.is_fast()) {
            (Algorithm::Tahoe, _) => self.tahoe_counts(facts),
            (Algorithm::Reno, true) => self.reno_recovers(facts),
            (Algorithm::Reno, false) => self.reno_counts(facts, Fast::Reno),
            (Algorithm::NewReno, true) => self.newreno_recovers(facts),
            (Algorithm::NewReno, false) => self.reno_counts(facts, Fast::NEWRENO),
            (Algorithm::Sack, true) => self.sack_recovers(facts),
            (Algorithm::Sack, false) => self.sack_counts(facts),
        }
    }

    /// May duplicate acknowledgments start fast recovery, or do they come from what a timeout
    /// retransmitted (RFC 2582 section 3, RFC 6675 section 5.1)?
    fn may_recover(&self) -> bool {
        let (una, recover) = (self.flight().una(), self.recovery.recover);
        match (self.config.recovery.algorithm, self.config.recovery.bugfix) {
            _ if self.forbears => false,
            (Algorithm::Sack, _) | (_, Bugfix::LessCareful) => una >= recover,
            (_, Bugfix::Careful) => una > recover,
            (_, Bugfix::None) => true,
        }
    }

    /// Enters fast recovery: `ssthresh` and the window are halved, the head is retransmitted
    /// (RFC 5681 section 3.2), and go-back-N is over.
    fn enter(&mut self, fast: Fast, at: Instant) {
        let una = self.flight.una();
        self.push_event(Event::FastRetransmit(self.retransmission(una, at)));
        let half = self.halve(self.flight.size() - self.recovery.limited);
        self.recovery.halved = match self.config.window.full_ack {
            FullAck::Halved => half.max(self.window.smss),
            FullAck::FlightSize | FullAck::Ssthresh => self.window.ssthresh,
        };
        self.window.cwnd = self.recovery.halved;
        self.recovery.recover = self.flight.max();
        self.recovery.fast = Some(fast);
        self.nxt = self.flight.max();
        self.resend_head = Some(Cause::FastRetransmit);
    }

    /// How much limited transmit lets out beyond the congestion window: a segment for each of the
    /// first two duplicate acknowledgments (RFC 3042).
    pub(crate) fn limited_transmit(&self) -> u64 {
        if !self.config.recovery.limited_transmit || self.recovery.is_fast() {
            return 0;
        }
        u64::from(self.recovery.informative.min(2)) * self.window.smss
    }
}
