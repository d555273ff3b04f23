//! What all loss recoveries share: duplicate acknowledgments, and the fast recovery under way.

use super::Context;
use crate::config::{Bugfix, RecoveryConfig};
use crate::flight::{AckFacts, CleanAck};
use crate::seq::Seq;

/// What all loss recoveries share: duplicate acknowledgments, and the fast recovery under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recovery {
    /// Duplicate acknowledgments since the last new one.
    pub dupacks: u32,
    /// Those of them that limited transmit answers: with SACK only those with new information.
    informative: u32,
    /// Bytes sent by limited transmit since then; they do not count in `ssthresh` (RFC 3042).
    pub limited: u64,
    /// After the highest sequence number sent when recovery began or the timer expired:
    /// `recover` of RFC 6582, `send_high` of RFC 2582, RecoveryPoint of RFC 6675.
    pub recover: Seq,
    /// In fast recovery: the window without what duplicate acknowledgments add to it, in bytes.
    pub(super) halved: u64,
    /// The window before that, in bytes.
    pub before: u64,
    /// By how much fast retransmits that were found spurious have raised `dupthresh` since the
    /// timer last expired (Blanton and Allman 2002).
    raised: u32,
    /// Is fast recovery under way?
    fast: bool,
    /// What the heuristics of RFC 6582 section 4 keep of the last new acknowledgment.
    newest: NewestAck,
}

/// What the heuristics of RFC 6582 section 4 keep of the last new acknowledgment.
#[derive(Clone, Copy, Debug, Default)]
struct NewestAck {
    /// By how many bytes it advanced SND.UNA.
    advanced: u64,
    /// Did it echo the timestamp of the last sending of what it acknowledged?
    answers_last_sending: bool,
}

impl Default for Recovery {
    /// Nothing is lost yet.
    fn default() -> Self {
        Self {
            dupacks: 0,
            informative: 0,
            limited: 0,
            recover: Seq::FIRST,
            halved: 0,
            before: 0,
            raised: 0,
            fast: false,
            newest: NewestAck::default(),
        }
    }
}

impl Recovery {
    /// Is fast recovery under way?
    pub const fn is_fast(&self) -> bool {
        self.fast
    }

    /// Is there neither fast recovery nor a count of duplicates?
    pub const fn is_idle(&self) -> bool {
        !self.fast && self.dupacks == 0 && self.informative == 0 && self.limited == 0
    }

    /// Keeps the facts for the heuristics of RFC 6582 section 4.
    #[inline]
    pub fn note_newest(&mut self, clean: &CleanAck) {
        let answers_last_sending = clean.echo.is_some() && clean.echo == clean.newest_timestamp;
        self.newest = NewestAck { advanced: clean.advanced, answers_last_sending };
    }

    /// The congestion window `cwnd` without what fast recovery added to it.
    pub const fn deflated(&self, cwnd: u64) -> u64 {
        if self.fast { self.halved } else { cwnd }
    }

    /// A new acknowledgment resets the counts, and is kept for the heuristics.
    pub fn on_new_ack(&mut self, ack: &AckFacts) {
        if !self.fast {
            self.leave();
        }
        let sent = ack.newest_acked.map(|newest| newest.timestamp);
        let answers_last_sending = ack.echo.is_some() && ack.echo == sent;
        self.newest = NewestAck { advanced: ack.advanced, answers_last_sending };
    }

    /// Fast recovery begins: the window was `before` bytes, is `halved`, and ends with `recover`.
    pub const fn enter(&mut self, halved: u64, before: u64, recover: Seq) {
        (self.halved, self.before) = (halved, before);
        (self.recover, self.fast) = (recover, true);
    }

    /// A fast retransmit begins slow start, and none follows before `max` is acknowledged.
    pub const fn on_slow_start(&mut self, max: Seq) {
        (self.recover, self.limited, self.informative) = (max, 0, 0);
    }

    /// A timeout ends fast recovery; none begins before `max` is acknowledged.
    pub fn on_timeout(&mut self, max: Seq) {
        self.recover = max;
        self.raised = 0;
        self.leave();
    }

    /// A fast retransmit was spurious: `dupthresh` rises by `increment`.
    pub const fn raise_dupthresh(&mut self, increment: u32) {
        self.raised = self.raised.saturating_add(increment);
    }

    /// DupThresh, with what spurious fast retransmits have added to it.
    pub(super) const fn dupthresh(&self, config: &RecoveryConfig) -> u32 {
        config.dupthresh.saturating_add(self.raised)
    }

    /// No duplicate acknowledgments count any more, and fast recovery is over.
    pub fn leave(&mut self) {
        let Self { recover, raised, newest, .. } = *self;
        *self = Self { recover, raised, newest, ..Self::default() };
    }

    /// Another duplicate acknowledgment, `informative` if limited transmit answers it.
    pub(super) const fn count(&mut self, informative: bool) {
        self.dupacks += 1;
        self.informative += informative as u32;
    }

    /// May losses on the scoreboard start fast recovery? Not before the data of the last
    /// one, or of the last timeout, is acknowledged (RFC 6675 section 5.1).
    pub(super) fn may_enter_by_scoreboard(&self, cx: &Context<'_>) -> bool {
        !cx.suppressed && cx.flight.una() >= self.recover
    }

    /// May duplicate acknowledgments start fast recovery, or do they come from what a timeout
    /// retransmitted (RFC 2582 section 3)?
    pub(super) fn may_enter(&self, cx: &Context<'_>) -> bool {
        let (una, smss) = (cx.flight.una(), cx.window.smss());
        match cx.config.recovery.bugfix {
            _ if cx.suppressed => false,
            Bugfix::LessCareful => una >= self.recover,
            Bugfix::None => true,
            _ if una > self.recover => true,
            Bugfix::Careful => false,
            Bugfix::AckHeuristic => cx.window.cwnd() > smss && self.newest.advanced <= 4 * smss,
            Bugfix::TimestampHeuristic => self.newest.answers_last_sending,
        }
    }

    /// How much limited transmit lets out beyond the congestion window: a segment for each of the
    /// first two duplicate acknowledgments (RFC 3042).
    pub fn limited_transmit(&self, config: &RecoveryConfig, smss: u64) -> u64 {
        match config.limited_transmit && !self.fast {
            true => u64::from(self.informative.min(2)) * smss,
            false => 0,
        }
    }
}
