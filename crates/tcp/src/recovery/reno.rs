//! Reno: fast retransmit and fast recovery (RFC 5681 section 3.2), with the "bugfix" variants of
//! RFC 2582 section 3.

use super::early_retransmit::dupthresh;
use super::{Context, Entry, LossRecovery, Recovery, RecoveryAction, Retransmit};
use crate::config::Reduction;
use crate::flight::AckFacts;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Reno;

impl LossRecovery for Reno {
    fn on_ack(
        &mut self,
        recovery: &mut Recovery,
        ack: &AckFacts,
        cx: &mut Context<'_>,
    ) -> RecoveryAction {
        if !recovery.is_in_fast_recovery() {
            return count_dupacks(recovery, ack, cx);
        }
        if ack.duplicate {
            return inflate(cx);
        }
        if !ack.is_new() {
            return RecoveryAction::None;
        }
        // Step 6: "the TCP MUST set cwnd to ssthresh (the value set in step 2)".
        let cwnd = Some(recovery.base_cwnd);
        recovery.leave();
        RecoveryAction::Leave { cwnd }
    }
}

/// Counts duplicate acknowledgments outside fast recovery. The third starts it with
/// `cwnd = ssthresh + 3 * SMSS` (steps 2 and 3; RFC 6582 section 3.2 step 2).
pub(super) fn count_dupacks(
    recovery: &mut Recovery,
    ack: &AckFacts,
    cx: &Context<'_>,
) -> RecoveryAction {
    if !ack.duplicate {
        return RecoveryAction::None;
    }
    recovery.count_dupack(true);
    let dupthresh = dupthresh(recovery, cx);
    if recovery.dupacks < dupthresh || !recovery.may_enter(cx) {
        return RecoveryAction::None;
    }
    let inflation = match cx.config.recovery.reduction {
        Reduction::RateHalving => 0,
        Reduction::AtOnce | Reduction::Prr(_) => u64::from(dupthresh) * cx.window.smss(),
    };
    RecoveryAction::Enter(Entry { inflation, ..Entry::HEAD })
}

/// Inflates cwnd by SMSS for a further duplicate acknowledgment in fast recovery (step 4).
pub(super) const fn inflate(cx: &Context<'_>) -> RecoveryAction {
    let cwnd = cx.window.cwnd() + cx.window.smss();
    RecoveryAction::Stay { cwnd, retransmit: Retransmit::Nothing }
}
