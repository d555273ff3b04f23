//! The state that all loss recoveries share: duplicate acknowledgments and fast recovery.

use super::Context;
use crate::config::{Bugfix, RecoveryConfig};
use crate::flight::{AckFacts, FastPathAck};
use crate::seq::Seq;

/// The state that all loss recoveries share: duplicate acknowledgments and fast recovery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recovery {
    /// The number of duplicate acknowledgments since the last new one.
    pub dupacks: u32,
    /// The number of those that limited transmit answers: with SACK only those with new
    /// information.
    informative: u32,
    /// The bytes sent by limited transmit since then. They do not count in `ssthresh` (RFC 3042).
    pub limited: u64,
    /// The sequence number after the highest one sent when recovery began or the timer expired:
    /// `recover` of RFC 6582, `send_high` of RFC 2582, RecoveryPoint of RFC 6675.
    pub recover: Seq,
    /// In fast recovery: cwnd without the inflation by duplicate acknowledgments, in bytes.
    pub(super) base_cwnd: u64,
    /// cwnd before fast recovery, in bytes (`prior_cwnd` of Linux).
    pub prior_cwnd: u64,
    /// The amount by which spurious fast retransmits have raised `dupthresh` since the last timeout
    /// (Blanton and Allman 2002).
    raised: u32,
    /// Is fast recovery under way?
    fast: bool,
    /// The last new acknowledgment, for the heuristics of RFC 6582 section 4.
    newest: NewestAck,
}

/// The facts about the last new acknowledgment that the heuristics of RFC 6582 section 4 need.
#[derive(Clone, Copy, Debug, Default)]
struct NewestAck {
    /// The number of bytes by which it advanced SND.UNA.
    advanced: u64,
    /// Did it echo the timestamp of the last transmission of the data that it acknowledged?
    echoes_last_transmission: bool,
}

impl Default for Recovery {
    /// The state of a new connection.
    fn default() -> Self {
        Self {
            dupacks: 0,
            informative: 0,
            limited: 0,
            recover: Seq::FIRST,
            base_cwnd: 0,
            prior_cwnd: 0,
            raised: 0,
            fast: false,
            newest: NewestAck::default(),
        }
    }
}

impl Recovery {
    /// Is fast recovery under way?
    pub const fn is_in_fast_recovery(&self) -> bool {
        self.fast
    }

    /// Is there neither fast recovery nor a duplicate acknowledgment?
    pub const fn is_idle(&self) -> bool {
        !self.fast && self.dupacks == 0 && self.informative == 0 && self.limited == 0
    }

    /// Records a new acknowledgment for the heuristics of RFC 6582 section 4.
    #[inline]
    pub fn note_newest(&mut self, ack: &FastPathAck) {
        let echoes_last_transmission = ack.echo.is_some() && ack.echo == ack.newest_timestamp;
        self.newest = NewestAck { advanced: ack.advanced, echoes_last_transmission };
    }

    /// `cwnd` without the inflation of fast recovery, in bytes.
    pub const fn deflated(&self, cwnd: u64) -> u64 {
        if self.fast { self.base_cwnd } else { cwnd }
    }

    /// Resets the counts for a new acknowledgment, and records it for the heuristics.
    pub fn on_new_ack(&mut self, ack: &AckFacts) {
        if !self.fast {
            self.leave();
        }
        let sent = ack.newest_acked.map(|newest| newest.timestamp);
        let echoes_last_transmission = ack.echo.is_some() && ack.echo == sent;
        self.newest = NewestAck { advanced: ack.advanced, echoes_last_transmission };
    }

    /// Enters fast recovery until `recover` is acknowledged: cwnd is reduced from `prior_cwnd` to
    /// `base_cwnd` bytes.
    pub const fn enter(&mut self, base_cwnd: u64, prior_cwnd: u64, recover: Seq) {
        (self.base_cwnd, self.prior_cwnd) = (base_cwnd, prior_cwnd);
        (self.recover, self.fast) = (recover, true);
    }

    /// A fast retransmit begins slow start (Tahoe). The next one needs `max` to be acknowledged.
    pub const fn on_slow_start(&mut self, max: Seq) {
        (self.recover, self.limited, self.informative) = (max, 0, 0);
    }

    /// A timeout ends fast recovery. The next one needs `max` to be acknowledged.
    pub fn on_timeout(&mut self, max: Seq) {
        self.recover = max;
        self.raised = 0;
        self.leave();
    }

    /// Raises `dupthresh` by `increment` after a spurious fast retransmit.
    pub const fn raise_dupthresh(&mut self, increment: u32) {
        self.raised = self.raised.saturating_add(increment);
    }

    /// DupThresh, including the amount by which spurious fast retransmits have raised it.
    pub(super) const fn dupthresh(&self, config: &RecoveryConfig) -> u32 {
        config.dupthresh.saturating_add(self.raised)
    }

    /// Leaves fast recovery, and resets the counts of duplicate acknowledgments.
    pub fn leave(&mut self) {
        let Self { recover, raised, newest, .. } = *self;
        *self = Self { recover, raised, newest, ..Self::default() };
    }

    /// Counts a duplicate acknowledgment; `informative` if limited transmit answers it.
    pub(super) const fn count_dupack(&mut self, informative: bool) {
        self.dupacks += 1;
        self.informative += informative as u32;
    }

    /// May losses on the scoreboard start fast recovery? They may after the data of the last
    /// recovery or timeout is acknowledged (RFC 6675 section 5.1).
    pub(super) fn may_enter_by_scoreboard(&self, cx: &Context<'_>) -> bool {
        !cx.suppressed && cx.flight.una() >= self.recover
    }

    /// May duplicate acknowledgments start fast recovery? After a timeout they may answer its
    /// retransmissions (the "bugfix" of RFC 2582 section 3).
    pub(super) fn may_enter(&self, cx: &Context<'_>) -> bool {
        let (una, smss) = (cx.flight.una(), cx.window.smss());
        match cx.config.recovery.bugfix {
            _ if cx.suppressed => false,
            Bugfix::LessCareful => una >= self.recover,
            Bugfix::None => true,
            _ if una > self.recover => true,
            Bugfix::Careful => false,
            Bugfix::AckHeuristic => cx.window.cwnd() > smss && self.newest.advanced <= 4 * smss,
            Bugfix::TimestampHeuristic => self.newest.echoes_last_transmission,
        }
    }

    /// The bytes that limited transmit allows beyond cwnd: a segment for each of the first two
    /// duplicate acknowledgments (RFC 3042).
    pub fn limited_transmit(&self, config: &RecoveryConfig, smss: u64) -> u64 {
        match config.limited_transmit && !self.fast {
            true => u64::from(self.informative.min(2)) * smss,
            false => 0,
        }
    }
}
