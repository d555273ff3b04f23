//! SACK-based loss recovery: RFC 6675, and its predecessor RFC 3517.

use super::early_retransmit::dupthresh;
use super::{Context, Entry, LossRecovery, NextSeg, Recovery, RecoveryAction};
use crate::config::{Outstanding, RecoveryConfig, SackRules};
use crate::flight::{AckFacts, Flight, LossRule, Sent};
use crate::seq::Seq;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sack {
    /// The sequence number after the highest one retransmitted (HighRxt).
    high_rxt: Seq,
    /// SND.UNA must be beyond this for a rescue retransmission (RescueRxt).
    rescue_rxt: Seq,
}

impl LossRecovery for Sack {
    fn on_ack(
        &mut self,
        recovery: &mut Recovery,
        ack: &AckFacts,
        cx: &mut Context<'_>,
    ) -> RecoveryAction {
        match recovery.is_in_fast_recovery() {
            true => recover(recovery, ack, cx),
            false => self.count_dupacks(recovery, ack, cx),
        }
    }

    /// SetPipe (section 4), or all outstanding data that is not SACKed.
    fn pipe(&self, recovery: &Recovery, flight: &Flight, config: &RecoveryConfig) -> Option<u64> {
        let unsacked = flight.size() - flight.sacked();
        recovery.is_in_fast_recovery().then(|| match config.sack.outstanding {
            Outstanding::Pipe => unsacked - flight.lost() + flight.retrans_out(),
            Outstanding::Classic => unsacked,
        })
    }

    fn has_next_seg(&self, recovery: &Recovery) -> bool {
        recovery.is_in_fast_recovery()
    }

    /// NextSeg (section 4).
    fn next_seg(&mut self, recovery: &Recovery, cx: &mut Context<'_>) -> Option<NextSeg> {
        // (1) the first lost hole
        if let Some(hole) = self.hole_below(cx.flight.lost_end(), cx.flight) {
            return Some(self.retransmit(hole, cx));
        }
        // (2) new data
        if cx.can_send_new {
            return Some(NextSeg::New);
        }
        // (3) the first hole below SACKed data
        if let Some(hole) = self.hole_below(cx.flight.sacked_end(), cx.flight) {
            return Some(self.retransmit(hole, cx));
        }
        // (4) once, the last segment, as the rescue retransmission
        let rescues = cx.config.recovery.sack.rules != SackRules::Rfc3517;
        if !rescues || cx.flight.una() <= self.rescue_rxt {
            return None;
        }
        let last = cx.flight.last_unsacked()?.seq;
        self.rescue_rxt = recovery.recover;
        Some(NextSeg::Retransmission(last))
    }
}

impl Sack {
    /// Counts duplicate acknowledgments outside recovery (section 5). RFC 3517 counts those of RFC
    /// 5681, RFC 6675 those with new SACK information.
    fn count_dupacks(
        &mut self,
        recovery: &mut Recovery,
        ack: &AckFacts,
        cx: &mut Context<'_>,
    ) -> RecoveryAction {
        let by_rfc3517 = cx.config.recovery.sack.rules == SackRules::Rfc3517;
        if ack.newly_sacked > 0 {
            cx.flight.mark_lost(loss_rule(recovery, cx));
        }
        if !(if by_rfc3517 { ack.duplicate } else { ack.newly_sacked > 0 }) {
            return RecoveryAction::None;
        }
        recovery.count_dupack(ack.newly_sacked > 0);
        let counted = recovery.dupacks >= dupthresh(recovery, cx);
        let head_lost = !by_rfc3517 && cx.flight.lost_end() > cx.flight.una();
        if !(counted || head_lost) || !recovery.may_enter_by_scoreboard(cx) {
            return RecoveryAction::None;
        }
        // Step 4.3: the head is retransmitted regardless of cwnd, and HighRxt is set to its end.
        self.high_rxt = cx.flight.head().map_or(cx.flight.una(), Sent::end);
        self.rescue_rxt = self.high_rxt;
        cx.flight.mark_retransmitted(cx.flight.una());
        RecoveryAction::Enter(Entry::HEAD)
    }

    /// The first hole from HighRxt on, if it lies below `edge`.
    fn hole_below(&self, edge: Seq, flight: &Flight) -> Option<Seq> {
        let from = self.high_rxt.max(flight.una());
        if from >= edge {
            return None;
        }
        let hole = flight.unsacked_from(from)?.seq;
        (hole < edge).then_some(hole)
    }

    fn retransmit(&mut self, seq: Seq, cx: &mut Context<'_>) -> NextSeg {
        self.high_rxt = cx.flight.segment_at(seq).map_or(seq, Sent::end);
        cx.flight.mark_retransmitted(seq);
        NextSeg::Retransmission(seq)
    }
}

/// Processes an acknowledgment in recovery (RFC 6675 section 5 steps A to C). Recovery ends when
/// RecoveryPoint is acknowledged.
fn recover(recovery: &mut Recovery, ack: &AckFacts, cx: &mut Context<'_>) -> RecoveryAction {
    let ends = ack.ack >= recovery.recover;
    if ends {
        recovery.leave();
    }
    if ack.newly_sacked > 0 || ack.is_new() {
        cx.flight.mark_lost(loss_rule(recovery, cx));
    }
    if ends { RecoveryAction::Leave { cwnd: None } } else { RecoveryAction::None }
}

/// IsLost (section 4 of both RFCs): above a lost segment DupThresh discontiguous sequences are
/// SACKed, or more than (DupThresh - 1) * SMSS bytes (RFC 6675), or DupThresh * SMSS bytes (RFC
/// 3517).
fn loss_rule(recovery: &Recovery, cx: &Context<'_>) -> LossRule {
    let (dupthresh, smss) = (recovery.dupthresh(&cx.config.recovery), cx.window.smss());
    let bytes = match cx.config.recovery.sack.rules {
        SackRules::Rfc3517 => u64::from(dupthresh) * smss,
        SackRules::Rfc6675 | SackRules::Ns2 => u64::from(dupthresh.max(1) - 1) * smss + 1,
    };
    LossRule { sacked_ranges: dupthresh, bytes }
}
