//! SACK recovery as in ns-2.35 (tcp-sack1.cc, scoreboard-rq.cc), with its default `partial_ack_`
//! off.
//!
//! The pipe is a counter that every acknowledgment decrements, whatever it reports. Lost segments
//! stay in it, except the three that the first duplicate acknowledgments stand for. Every hole
//! below the highest SACKed segment is lost at once. Outside of recovery each new acknowledgment
//! clears the scoreboard.

use super::early_retransmit::dupthresh;
use super::{Context, Entry, LossRecovery, NextSeg, Recovery, RecoveryAction, Retransmit};
use crate::config::RecoveryConfig;
use crate::flight::{AckFacts, Flight, Sent};
use crate::seq::Seq;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sack1 {
    /// The sequence number after the highest one retransmitted (`h_seqno_`).
    high_rxt: Seq,
    /// The estimated number of segments in flight (`pipe_`).
    pipe: i64,
    smss: u64,
}

impl LossRecovery for Sack1 {
    fn on_ack(
        &mut self,
        recovery: &mut Recovery,
        ack: &AckFacts,
        cx: &mut Context<'_>,
    ) -> RecoveryAction {
        match recovery.is_in_fast_recovery() {
            true => self.recover(recovery, ack, cx),
            false => self.count_dupacks(recovery, ack, cx),
        }
    }

    fn pipe(&self, recovery: &Recovery, _: &Flight, _: &RecoveryConfig) -> Option<u64> {
        recovery.is_in_fast_recovery().then(|| u64::try_from(self.pipe).unwrap_or(0) * self.smss)
    }

    fn has_next_seg(&self, recovery: &Recovery) -> bool {
        recovery.is_in_fast_recovery()
    }

    fn times_retransmissions(&self) -> bool {
        false
    }

    /// Only fast recovery uses the scoreboard (`send_one`).
    fn retransmits_sacked(&self) -> bool {
        true
    }

    fn can_grow_on_leaving(&self) -> bool {
        false
    }

    /// The next hole below SACKed data, then new data.
    fn next_seg(&mut self, _recovery: &Recovery, cx: &mut Context<'_>) -> Option<NextSeg> {
        let hole = cx.flight.unsacked_from(self.high_rxt.max(cx.flight.una())).copied();
        let hole = hole.filter(|hole| hole.seq < cx.flight.sacked_end());
        self.pipe += i64::from(hole.is_some() || cx.can_send_new);
        match hole {
            Some(hole) => {
                self.high_rxt = hole.end();
                Some(NextSeg::Retransmission(hole.seq))
            }
            None => cx.can_send_new.then_some(NextSeg::New),
        }
    }
}

impl Sack1 {
    /// Counts duplicate acknowledgments with new SACK information outside recovery, except between
    /// a timeout and the first new acknowledgment.
    fn count_dupacks(
        &mut self,
        recovery: &mut Recovery,
        ack: &AckFacts,
        cx: &mut Context<'_>,
    ) -> RecoveryAction {
        if ack.is_new() || cx.timed_out {
            clear_sacked(cx.flight);
            return RecoveryAction::None;
        }
        if ack.newly_sacked == 0 {
            return RecoveryAction::None;
        }
        recovery.count_dupack(true);
        if recovery.dupacks != dupthresh(recovery, cx) || !recovery.may_enter(cx) {
            return RecoveryAction::None;
        }
        // Each duplicate acknowledgment shows that a segment left the network. The retransmission
        // of the head does not count in the pipe.
        self.high_rxt = cx.flight.head().map_or(cx.flight.una(), Sent::end);
        self.smss = cx.window.smss();
        let outstanding = cx.flight.data().div_ceil(self.smss);
        self.pipe = outstanding as i64 - i64::from(recovery.dupacks);
        RecoveryAction::Enter(Entry { retransmit: Retransmit::HeadAlone, ..Entry::HEAD })
    }

    /// Processes an acknowledgment in recovery: it decrements the pipe. A partial one decrements it
    /// by two, for the lost original and its retransmission (Fall and Floyd 1996).
    fn recover(
        &mut self,
        recovery: &mut Recovery,
        ack: &AckFacts,
        cx: &mut Context<'_>,
    ) -> RecoveryAction {
        if ack.ack >= recovery.recover {
            recovery.leave();
            // `recover_` is zero after recovery.
            recovery.recover = Seq::FIRST;
            clear_sacked(cx.flight);
            return RecoveryAction::Leave { cwnd: None };
        }
        let partial = ack.is_new();
        let counts = partial || ack.duplicate || ack.newly_sacked > 0;
        self.pipe -= i64::from(counts) + i64::from(partial);
        RecoveryAction::None
    }
}

fn clear_sacked(flight: &mut Flight) {
    if flight.sacked() > 0 {
        flight.clear_scoreboard();
    }
}
