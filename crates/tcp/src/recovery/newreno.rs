//! NewReno (RFC 6582), with the "bugfix" variants of RFC 2582 section 3. It enters fast recovery as
//! Reno does.

use super::{Context, LossRecovery, Recovery, RecoveryAction, Retransmit, reno};
use crate::config::{FullAck, PartialAck, PartialAckTimer, RecoveryConfig};
use crate::flight::AckFacts;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NewReno {
    /// The number of partial acknowledgments in this fast recovery.
    partial_acks: u32,
}

impl LossRecovery for NewReno {
    fn on_ack(
        &mut self,
        recovery: &mut Recovery,
        ack: &AckFacts,
        cx: &mut Context<'_>,
    ) -> RecoveryAction {
        if !recovery.is_in_fast_recovery() {
            self.partial_acks = 0;
            return reno::count_dupacks(recovery, ack, cx);
        }
        match ack.is_new() {
            _ if ack.duplicate => reno::inflate(cx),
            true if ack.ack >= recovery.recover => full_ack(recovery, cx),
            true => self.partial_ack(ack.advanced, cx),
            false => RecoveryAction::None,
        }
    }

    /// Section 4: the Impatient variant restarts the timer for the first partial acknowledgment
    /// only, the Slow-but-Steady variant for each.
    fn restarts_timer(&self, config: &RecoveryConfig) -> bool {
        self.partial_acks <= 1 || config.newreno.timer == PartialAckTimer::SlowButSteady
    }
}

impl NewReno {
    /// Section 3.2 step 3, partial acknowledgments: retransmits the first unacknowledged segment,
    /// and deflates cwnd by the acknowledged data, less SMSS if that is a segment or more.
    fn partial_ack(&mut self, acked: u64, cx: &Context<'_>) -> RecoveryAction {
        self.partial_acks += 1;
        // "deflate the congestion window by the amount of new data acknowledged"; "if the partial
        // ACK acknowledges at least one SMSS of new data, then add back SMSS bytes"
        let smss = cx.window.smss();
        let cwnd = cx.window.cwnd().saturating_sub(acked).max(smss);
        let retransmit = match cx.config.recovery.newreno.partial_ack {
            PartialAck::AlsoNew => Retransmit::Head,
            PartialAck::RetransmissionOnly => Retransmit::HeadAlone,
        };
        RecoveryAction::Stay { cwnd: if acked >= smss { cwnd + smss } else { cwnd }, retransmit }
    }
}

/// Section 3.2 step 3, full acknowledgments: `cwnd = min(ssthresh, max(FlightSize, SMSS) + SMSS)`
/// (1), or `ssthresh` (2).
fn full_ack(recovery: &mut Recovery, cx: &Context<'_>) -> RecoveryAction {
    let smss = cx.window.smss();
    let cwnd = match cx.config.window.full_ack {
        FullAck::FlightSize => cx.window.ssthresh().min(cx.flight.size().max(smss) + smss),
        FullAck::Ssthresh | FullAck::Halved => recovery.base_cwnd,
    };
    recovery.leave();
    RecoveryAction::Leave { cwnd: Some(cwnd) }
}
