//! What is lost? Loss recovery by duplicate acknowledgments or by time: what Tahoe, Reno, NewReno,
//! SACK recovery and RACK share.

mod early_retransmit;
mod newreno;
mod prr;
mod rack;
mod rate_halving;
mod reno;
mod sack;
mod sack1;
mod tahoe;
mod tlp;

use rtolab_time::Instant;

use crate::config::{
    Algorithm, Bugfix, FullAck, PartialAckTimer, RecoveryConfig, Reduction, SackRules,
};
use crate::event::Event;
use crate::flight::{AckFacts, Cause, CleanAck, Sent};
use crate::sender::{Sender, Settled};
use crate::seq::Seq;
pub(crate) use prr::Prr;
pub(crate) use rack::Rack;
use rate_halving::Rate;
pub(crate) use rate_halving::WindowReduction;

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
    /// The window before that, in bytes.
    before: u64,
    /// Fast recovery, while it lasts.
    fast: Option<Fast>,
    /// What the heuristics of RFC 6582 section 4 keep of the last new acknowledgment.
    newest: NewestAck,
    /// Rate halving: acknowledgments counted, and the window in bytes that they have led to.
    rate: Rate,
}

/// What the heuristics of RFC 6582 section 4 keep of the last new acknowledgment.
#[derive(Clone, Copy, Debug, Default)]
struct NewestAck {
    /// By how many bytes it advanced SND.UNA.
    advanced: u64,
    /// Did it echo the timestamp of the last sending of what it acknowledged?
    answers_last_sending: bool,
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
    /// SACK recovery of ns-2.
    Sack1 {
        /// Behind the highest sequence number retransmitted (`h_seqno_`).
        high_rxt: Seq,
        /// Segments taken to be under way (`pipe_`).
        pipe: i64,
    },
    /// By time.
    Rack,
}

impl Default for Recovery {
    fn default() -> Self {
        Self {
            dupacks: 0,
            informative: 0,
            limited: 0,
            recover: Seq::FIRST,
            halved: 0,
            before: 0,
            fast: None,
            newest: NewestAck::default(),
            rate: Rate::default(),
        }
    }
}

impl Recovery {
    /// Is fast recovery under way?
    pub const fn is_fast(&self) -> bool {
        self.fast.is_some()
    }

    /// Is no fast recovery under way, and none begun to be counted towards?
    pub const fn is_idle(&self) -> bool {
        self.fast.is_none() && self.dupacks == 0 && self.informative == 0 && self.limited == 0
    }

    /// Keeps what the heuristics of RFC 6582 section 4 want to know.
    #[inline]
    pub fn note_newest(&mut self, clean: &CleanAck) {
        let answers_last_sending = clean.echo.is_some() && clean.echo == clean.newest_timestamp;
        self.newest = NewestAck { advanced: clean.advanced, answers_last_sending };
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
        *self = Self { recover: self.recover, newest: self.newest, ..Self::default() };
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
            Some(Fast::Sack1 { pipe, .. }) => Some(sender.sack1_outstanding(pipe)),
            _ => None,
        }
    }
}

impl Sender {
    /// Loss recovery's part of an acknowledgment.
    #[inline]
    pub(crate) fn recover(&mut self, facts: &AckFacts, settled: Settled) {
        if facts.is_new() && !self.recovery.is_fast() {
            self.recovery.leave();
        }
        if facts.is_new() {
            let sent = facts.newest_acked.map(|newest| newest.timestamp);
            let answers_last_sending = facts.echo.is_some() && facts.echo == sent;
            self.recovery.newest = NewestAck { advanced: facts.advanced, answers_last_sending };
        }
        // After an undo RACK looks anew, or what is truly lost would stay unnoticed.
        let looks_anew = self.rack.is_some() && settled == Settled::Restored;
        if settled.freezes() && !looks_anew {
            return;
        }
        if looks_anew {
            self.rack_looks_anew();
        }
        let (recovering, losses) = (self.recovery.is_fast(), self.losses());
        match (self.config.recovery.algorithm, self.recovery.is_fast()) {
            (Algorithm::Tahoe, _) => self.tahoe_counts(facts),
            (Algorithm::Reno, true) => self.reno_recovers(facts),
            (Algorithm::Reno, false) => self.reno_counts(facts, Fast::Reno),
            (Algorithm::NewReno, true) => self.newreno_recovers(facts),
            (Algorithm::NewReno, false) => self.reno_counts(facts, Fast::NEWRENO),
            (Algorithm::Sack, true) if self.is_sack1() => self.sack1_recovers(facts),
            (Algorithm::Sack, false) if self.is_sack1() => self.sack1_counts(facts),
            (Algorithm::Sack, true) => self.sack_recovers(facts),
            (Algorithm::Sack, false) => self.sack_counts(facts),
            (Algorithm::Rack, _) => self.rack_recovers(facts),
        }
        match self.config.recovery.reduction {
            Reduction::AtOnce => {}
            Reduction::RateHalving => self.halve_rate(facts, recovering),
            Reduction::Prr(_) => self.reduce_in_proportion(facts, recovering, losses),
        }
    }

    /// Is SACK recovery that of ns-2?
    pub(crate) fn is_sack1(&self) -> bool {
        let recovery = &self.config.recovery;
        recovery.algorithm == Algorithm::Sack && recovery.sack.rules == SackRules::Ns2
    }

    /// May duplicate acknowledgments start fast recovery, or do they come from what a timeout
    /// retransmitted (RFC 2582 section 3, RFC 6675 section 5.1)?
    fn may_recover(&self) -> bool {
        let (una, recover) = (self.flight().una(), self.recovery.recover);
        match (self.config.recovery.algorithm, self.config.recovery.bugfix) {
            _ if self.without_retransmission => false,
            (Algorithm::Rack, _) | (_, Bugfix::LessCareful) => una >= recover,
            (Algorithm::Sack, _) if !self.is_sack1() => una >= recover,
            (_, Bugfix::None) => true,
            _ if una > recover => true,
            (_, Bugfix::Careful) => false,
            (_, Bugfix::AckHeuristic) => {
                let smss = self.window.smss;
                self.window.cwnd > smss && self.recovery.newest.advanced <= 4 * smss
            }
            (_, Bugfix::TimestampHeuristic) => self.recovery.newest.answers_last_sending,
        }
    }

    /// Enters fast recovery: `ssthresh` and the window are halved, the head is retransmitted
    /// (RFC 5681 section 3.2), and go-back-N is over.
    fn enter(&mut self, fast: Fast, at: Instant) {
        let una = self.flight.una();
        self.push_event(Event::FastRetransmit(self.retransmission(self.first_repair(), at)));
        let flight_size = self.flight.size() - self.recovery.limited;
        let before = self.window;
        // What a window reduction under way has halved is not halved again.
        let half = match self.reduction.take() {
            None => self.halve_at_loss(flight_size, at),
            Some(_) => self.window.ssthresh,
        };
        match self.config.window.full_ack {
            FullAck::Halved => self.window.set_half(half, &before),
            FullAck::FlightSize | FullAck::Ssthresh => self.window.cwnd = self.window.ssthresh,
        }
        (self.recovery.halved, self.recovery.before) = (self.window.cwnd, before.cwnd);
        self.recovery.recover = self.flight.max();
        self.recovery.fast = Some(fast);
        self.nxt = match self.config.recovery.go_back_n_on_duplicates {
            true if self.rack.is_none() => self.nxt.max(self.flight.head().map_or(una, Sent::end)),
            _ => self.flight.max(),
        };
        if self.config.recovery.reduction == Reduction::RateHalving {
            self.begin_rate_halving(flight_size);
        }
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
