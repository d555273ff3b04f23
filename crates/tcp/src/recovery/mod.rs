//! What is lost? Loss recovery by duplicate acknowledgments: what NewReno and SACK recovery share.

mod newreno;
mod sack;

use rtolab_time::Instant;

use crate::config::{Algorithm, Bugfix, PartialAckTimer, RecoveryConfig};
use crate::event::Event;
use crate::flight::AckFacts;
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
    /// Fast recovery, while it lasts.
    fast: Option<Fast>,
}

/// Fast recovery under way.
#[derive(Clone, Copy, Debug)]
enum Fast {
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
        Self { dupacks: 0, informative: 0, limited: 0, recover: Seq::FIRST, fast: None }
    }
}

impl Recovery {
    /// Is fast recovery under way?
    pub const fn is_fast(&self) -> bool {
        self.fast.is_some()
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
            (Algorithm::NewReno, true) => self.newreno_recovers(facts),
            (Algorithm::NewReno, false) => self.newreno_counts(facts),
            (Algorithm::Sack, true) => self.sack_recovers(facts),
            (Algorithm::Sack, false) => self.sack_counts(facts),
        }
    }

    /// May duplicate acknowledgments start fast recovery, or do they come from what a timeout
    /// retransmitted (RFC 2582 section 3, RFC 6675 section 5.1)?
    fn may_recover(&self) -> bool {
        let (una, recover) = (self.flight().una(), self.recovery.recover);
        match (self.config.recovery.algorithm, self.config.recovery.newreno.bugfix) {
            (Algorithm::NewReno, Bugfix::None) => true,
            (Algorithm::NewReno, Bugfix::Careful) => una > recover,
            (Algorithm::NewReno, Bugfix::LessCareful) | (Algorithm::Sack, _) => una >= recover,
        }
    }

    /// Enters fast recovery: `ssthresh` is halved, the head is retransmitted (RFC 5681 section
    /// 3.2), and go-back-N is over.
    fn enter(&mut self, fast: Fast, at: Instant) {
        let una = self.flight.una();
        self.push_event(Event::FastRetransmit(self.retransmission(una, at)));
        self.window.halve(self.flight.size() - self.recovery.limited);
        self.recovery.recover = self.flight.max();
        self.recovery.fast = Some(fast);
        self.nxt = self.flight.max();
        self.resend_head = true;
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
