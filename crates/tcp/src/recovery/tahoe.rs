//! Tahoe: fast retransmit without fast recovery (Jacobson, "Congestion Avoidance and Control",
//! 1988).
//!
//! The third duplicate acknowledgment has the effect of a timeout, without back-off.

use super::early_retransmit::dupthresh;
use super::{Context, LossRecovery, Recovery, RecoveryAction};
use crate::flight::AckFacts;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Tahoe;

impl LossRecovery for Tahoe {
    /// The third duplicate acknowledgment starts go-back-N in slow start; later ones have no
    /// effect.
    fn on_ack(
        &mut self,
        recovery: &mut Recovery,
        ack: &AckFacts,
        cx: &mut Context<'_>,
    ) -> RecoveryAction {
        if !ack.duplicate {
            return RecoveryAction::None;
        }
        recovery.count_dupack(true);
        match recovery.dupacks == dupthresh(recovery, cx) && recovery.may_enter(cx) {
            true => RecoveryAction::SlowStart,
            false => RecoveryAction::None,
        }
    }
}
