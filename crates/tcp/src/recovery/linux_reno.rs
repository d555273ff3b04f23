//! Loss recovery of Linux without SACK (`net/ipv4/tcp_input.c` and `tcp_newreno_mark_lost`).
//!
//! Linux counts duplicate acknowledgments as if each reported a segment (`sacked_out`). Fast
//! recovery marks the first outstanding segment lost, and a timeout marks all. Both last until more
//! than `high_seq` is acknowledged, so that duplicates of retransmissions start no recovery
//! (`tcp_is_non_sack_preventing_reopen`). Until then duplicates are not counted. F-RTO ends the one
//! after a timeout earlier.

use super::{
    AfterTimeout, Context, Entry, LossRecovery, NextSeg, Recovery, RecoveryAction, Retransmit,
};
use crate::config::RecoveryConfig;
use crate::flight::{AckFacts, Flight, Sent};
use crate::seq::Seq;
use crate::timer::TimerTable;

/// The largest reordering that counts, in segments (`tcp_max_reordering`).
const MAX_REORDERING: u32 = 300;

/// The state of loss recovery without SACK.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinuxReno {
    /// The segments that duplicate acknowledgments stand for (`sacked_out`).
    sacked_out: u32,
    /// The number of duplicates that shows a loss, if reordering has changed it (`reordering`).
    reordering: Option<u32>,
    /// Is a recovery from a timeout under way (`TCP_CA_Loss`)? An undo by timestamps does not end
    /// it.
    in_loss: bool,
    /// Is the last reduction undone (`undo_marker` is zero)?
    undone: bool,
    /// Did the current acknowledgment undo it?
    undone_now: bool,
    /// Did it do so in fast recovery, whose end it does not reach?
    undone_partially: bool,
    /// May F-RTO still end a recovery that an undo by timestamps did not end (`frto`)?
    frto: bool,
    /// Does the current acknowledgment cover data below `high_seq` that was never retransmitted
    /// (`FLAG_ORIG_SACK_ACKED`)?
    covers_original: bool,
    /// Does it cover retransmitted data (`FLAG_RETRANS_DATA_ACKED`)?
    covers_retransmitted: bool,
    /// The segments that the current acknowledgment covers.
    acked: u32,
    /// The segments that it delivers (`delivered`).
    delivered: u32,
    /// The size of a full segment, in bytes.
    smss: u64,
    /// Did an acknowledgment arrive after the peer's SYN? The first one updates the window, because
    /// its sequence number is above that of the SYN, so that it is no duplicate
    /// (`tcp_may_update_window`). For a passive opener it is the one that ends the handshake.
    window_updated: bool,
    /// Is the current acknowledgment the first one?
    is_first: bool,
}

impl LossRecovery for LinuxReno {
    fn begin_ack(&mut self) {
        (self.acked, self.delivered, self.undone_now) = (0, 0, false);
        (self.covers_original, self.covers_retransmitted) = (false, false);
        self.undone_partially = false;
    }

    fn on_delivered(
        &mut self,
        sent: &Sent,
        _: &AckFacts,
        (recovery, _): (&Recovery, &RecoveryConfig),
    ) {
        self.acked += 1;
        match sent.was_retransmitted() {
            true => self.covers_retransmitted = true,
            false => self.covers_original |= sent.end() <= recovery.recover,
        }
    }

    fn end_ack(&mut self, _: &AckFacts, _: &RecoveryConfig, smss: u64) -> bool {
        self.smss = smss;
        false
    }

    fn on_passive_open(&mut self) {
        self.window_updated = true;
    }

    fn on_ack(
        &mut self,
        recovery: &mut Recovery,
        ack: &AckFacts,
        cx: &mut Context<'_>,
    ) -> RecoveryAction {
        self.is_first = !ack.acks_syn() && !core::mem::replace(&mut self.window_updated, true);
        if self.acked > 0 {
            self.remove_sacks(cx.flight);
        }
        if self.undone_partially {
            self.note_reordering(cx);
        }
        if ack.acks_syn() && self.covers_retransmitted {
            self.begin_in_loss(recovery, ack, cx);
        }
        if self.in_loss || recovery.is_in_fast_recovery() {
            if self.ends_loss_by_frto() && ack.ack != recovery.recover {
                self.in_loss = false;
                recovery.leave();
                return RecoveryAction::None;
            }
            if ack.ack < recovery.recover {
                return self.stay(recovery, ack, cx);
            }
            if self.in_loss && self.undone_now {
                return RecoveryAction::None;
            }
            if recovery.is_in_fast_recovery() {
                self.sacked_out = 0;
            }
            if ack.ack == recovery.recover {
                return RecoveryAction::None;
            }
            self.in_loss = false;
            recovery.leave();
        }
        // After an undo by a partial ACK the count stays (`tcp_try_undo_partial`).
        if ack.is_new() && !self.undone_now {
            self.sacked_out = 0;
        }
        self.count(ack, cx.flight);
        self.detect_loss(cx)
    }

    /// Marks all segments lost (`tcp_timeout_mark_lost`).
    fn on_timeout(&mut self, recovery: &Recovery, cx: &mut Context<'_>) -> AfterTimeout {
        self.sacked_out = 0;
        self.frto = cx.config.frto.is_some() && (self.in_loss || !recovery.is_in_fast_recovery());
        (self.in_loss, self.undone) = (true, false);
        cx.flight.mark_lost_from(cx.flight.una());
        AfterTimeout::Losses
    }

    fn on_retransmission(&mut self, seq: Seq, _: u32, flight: &mut Flight) {
        if flight.segment_at(seq).is_some_and(Sent::is_lost) {
            flight.mark_retransmitted(seq);
        }
    }

    /// A recovery whose end is acknowledged exactly continues. One from a timeout continues after
    /// any undo but that of F-RTO (`tcp_try_undo_loss`).
    fn keeps_state_on_undo(&mut self, recovery: &Recovery, flight: &Flight, by_frto: bool) -> bool {
        let una = flight.una();
        (self.undone, self.undone_now) = (true, true);
        self.undone_partially = recovery.is_in_fast_recovery() && una < recovery.recover;
        if self.in_loss && by_frto && una != recovery.recover {
            (self.in_loss, self.undone_now) = (false, false);
        }
        recovery.is_in_fast_recovery() && una == recovery.recover
    }

    fn is_undone(&self) -> bool {
        self.undone
    }

    /// PRR needs no inflation, and the state outlasts the recovery (`tcp_enter_loss`).
    fn inflates_window(&self) -> bool {
        false
    }

    fn is_in_loss(&self) -> bool {
        self.in_loss
    }

    fn forget_losses(&mut self, _: &mut TimerTable, flight: &mut Flight) {
        flight.unmark_lost();
    }

    /// `tcp_packets_in_flight`.
    fn pipe(&self, _: &Recovery, flight: &Flight, _: &RecoveryConfig) -> Option<u64> {
        let out = flight.size() - flight.lost() + flight.retrans_out();
        Some(out.saturating_sub(u64::from(self.sacked_out) * self.smss))
    }

    fn delivered(&self) -> Option<u64> {
        Some(u64::from(self.delivered) * self.smss)
    }

    fn has_next_seg(&self, _recovery: &Recovery) -> bool {
        true
    }

    /// Lost segments, then new data.
    fn next_seg(&mut self, _recovery: &Recovery, cx: &mut Context<'_>) -> Option<NextSeg> {
        let lost = self.first_lost(cx.flight).filter(|_| cx.flight.has_unretransmitted_losses());
        let lost = lost.map(NextSeg::Retransmission);
        lost.or(cx.can_send_new.then_some(NextSeg::NewAsUsual))
    }

    fn first_lost(&self, flight: &Flight) -> Option<Seq> {
        flight.lost_from(flight.una()).map(|sent| sent.seq)
    }

    fn is_time_based(&self) -> bool {
        true
    }
}

impl LinuxReno {
    /// After a timeout of the SYN a connection begins in `TCP_CA_Loss`, and leaves it when more
    /// than the SYN is acknowledged (`tcp_enter_loss`, `tcp_try_undo_recovery`).
    fn begin_in_loss(&mut self, recovery: &mut Recovery, ack: &AckFacts, cx: &Context<'_>) {
        self.frto = cx.config.frto.is_some();
        (self.in_loss, self.undone) = (true, true);
        recovery.recover = ack.ack;
    }

    /// An acknowledgment of new data: one segment filled the hole, and the others were counted
    /// before (`tcp_remove_reno_sacks`).
    fn remove_sacks(&mut self, flight: &Flight) {
        self.delivered += self.acked.saturating_sub(self.sacked_out).max(1);
        self.sacked_out = self.sacked_out.saturating_sub(self.acked - 1);
        self.limit_sacks(self.acked, flight);
    }

    /// Counts a duplicate acknowledgment (`tcp_add_reno_sack`).
    fn count(&mut self, ack: &AckFacts, flight: &Flight) {
        if ack.duplicate && !self.is_first {
            let before = self.sacked_out;
            self.sacked_out += 1;
            self.limit_sacks(0, flight);
            self.delivered += self.sacked_out.saturating_sub(before);
        }
    }

    /// More duplicates than segments beside the hole show reordering
    /// (`tcp_check_reno_reordering`).
    fn limit_sacks(&mut self, acked: u32, flight: &Flight) {
        let packets_out = flight.outstanding() as u32;
        let lost_out = flight.lost().div_ceil(self.smss) as u32;
        let holes = lost_out.max(1).min(packets_out);
        if self.sacked_out + holes > packets_out {
            self.sacked_out = packets_out - holes;
            self.reordering = Some((packets_out + acked).min(MAX_REORDERING));
        }
    }

    /// F-RTO finds a timeout spurious that timestamps have found spurious before: original data is
    /// acknowledged (`tcp_process_loss`, step 3.b).
    fn ends_loss_by_frto(&self) -> bool {
        let original = self.covers_original && !self.covers_retransmitted;
        self.in_loss && self.undone && !self.undone_now && self.frto && original
    }

    /// The original that a partial acknowledgment reports was overtaken by the segments behind it
    /// that are acknowledged, too (`tcp_try_undo_partial` and `tcp_check_sack_reordering`; without
    /// SACK `highest_sack` is the first outstanding segment).
    fn note_reordering(&mut self, cx: &Context<'_>) {
        if self.acked > self.reordering(cx) {
            self.reordering = Some(self.acked.min(MAX_REORDERING));
        }
    }

    /// The number of duplicates that shows a loss.
    fn reordering(&self, cx: &Context<'_>) -> u32 {
        self.reordering.unwrap_or(cx.config.recovery.dupthresh)
    }

    /// A recovery continues with an acknowledgment below its end.
    fn stay(
        &mut self,
        recovery: &Recovery,
        ack: &AckFacts,
        cx: &mut Context<'_>,
    ) -> RecoveryAction {
        if !self.in_loss {
            match ack.is_new() {
                true => cx.flight.mark_head_lost(),
                false => self.count(ack, cx.flight),
            }
        } else if ack.duplicate && ack.max > recovery.recover {
            self.frto = false;
            self.count(ack, cx.flight);
        } else if ack.is_new() && !self.undone_now {
            self.sacked_out = 0;
        }
        RecoveryAction::None
    }

    /// Begins fast recovery after enough duplicates (`tcp_newreno_mark_lost`).
    fn detect_loss(&mut self, cx: &mut Context<'_>) -> RecoveryAction {
        if cx.suppressed || cx.flight.size() == 0 {
            return RecoveryAction::None;
        }
        if self.sacked_out >= self.reordering(cx) {
            cx.flight.mark_head_lost();
        }
        if cx.flight.lost() == 0 {
            return RecoveryAction::None;
        }
        self.undone = false;
        let retransmit = match self.first_lost(cx.flight) {
            Some(_) if cx.flight.has_unretransmitted_losses() => Retransmit::Head,
            _ => Retransmit::Nothing,
        };
        RecoveryAction::Enter(Entry { retransmit, ..Entry::HEAD })
    }
}
