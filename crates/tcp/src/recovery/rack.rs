//! RACK (RFC 8985 sections 5 and 6), with the steps under their numbers. A segment is lost if one
//! that was sent later has been delivered, and the round trip of that one plus the reordering
//! window have passed since its transmission.

mod delivery;
mod linux;

use rtolab_time::{Duration, Instant};

use super::tlp::{ProbeStep, TailLossProbe};
use super::{
    AfterTimeout, Context, Entry, LossRecovery, NextSeg, Recovery, RecoveryAction, Retransmit,
};
use crate::config::{RackConfig, RackRoundTrip, RackThreshold, RecoveryConfig, ReorderingWindow};
use crate::flight::{AckFacts, Flight, RackLosses, Sent};
use crate::seq::Seq;
use crate::timer::{Timer, TimerTable};
use delivery::Delivery;
pub(super) use linux::LinuxRack;

/// The initial `RACK.reo_wnd_persist`, in recoveries.
const REO_WND_PERSIST: u32 = 16;

/// The largest reordering that counts, in segments (`tcp_max_reordering` of Linux).
const MAX_REORDERING: u64 = 300;

/// The variables of RACK (RFC 8985 section 5.3).
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// When the most recently sent of the delivered segments was sent (`RACK.xmit_ts`).
    xmit_ts: Option<Instant>,
    /// Its ending sequence number (`RACK.end_seq`).
    end_seq: Seq,
    /// Its round trip (`RACK.rtt`).
    rtt: Duration,
    /// The smallest round trip, and when it was measured (`RACK.min_RTT`).
    min_rtt: Option<(Duration, Instant)>,
    /// The sequence number after the highest one delivered (`RACK.fack`).
    fack: Seq,
    /// Was an original delivered after a segment with higher sequence numbers
    /// (`RACK.reordering_seen`)?
    reordering_seen: bool,
    /// The reordering window (`RACK.reo_wnd`).
    reo_wnd: Duration,
    /// The reordering window in quarters of the smallest round trip (`RACK.reo_wnd_mult`).
    reo_wnd_mult: u64,
    /// The number of recoveries until the multiplier is reset (`RACK.reo_wnd_persist`).
    reo_wnd_persist: u32,
    /// SND.NXT at the last D-SACK that counted (`RACK.dsack_round`). Until it is acknowledged, no
    /// other D-SACK counts.
    dsack_round: Option<Seq>,
    /// The deliveries of the current acknowledgment.
    delivery: Delivery,
    /// The largest reordering seen, in segments (`reordering` of Linux).
    reordering: u64,
    /// The number of retransmitted segments (`total_retrans` of Linux).
    total_retrans: u32,
    /// Is a recovery from a timeout under way?
    timed_out: bool,
    /// All losses below this have been retransmitted.
    retransmitted_up_to: Seq,
    probe: TailLossProbe,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            xmit_ts: None,
            end_seq: Seq::FIRST,
            rtt: Duration::ZERO,
            min_rtt: None,
            fack: Seq::FIRST,
            reordering_seen: false,
            reo_wnd: Duration::ZERO,
            reo_wnd_mult: 1,
            reo_wnd_persist: REO_WND_PERSIST,
            dsack_round: None,
            delivery: Delivery::after(None, Seq::FIRST),
            reordering: 0,
            total_retrans: 0,
            timed_out: false,
            retransmitted_up_to: Seq::FIRST,
            probe: TailLossProbe::default(),
        }
    }
}

impl LossRecovery for Rack {
    fn begin_ack(&mut self) {
        self.delivery = Delivery::after(self.min_rtt.map(|(least, _)| least), self.fack);
    }

    /// Section 6.2, steps 1 to 3, for a segment that the acknowledgment is the first to report.
    fn on_delivered(
        &mut self,
        sent: &Sent,
        ack: &AckFacts,
        (_, config): (&Recovery, &RecoveryConfig),
    ) {
        // Step 1: Update RACK.min_RTT.
        self.update_min_rtt(sent, ack.at, &config.rack);
        // Step 2: Update the state for the most recently sent segment that has been delivered.
        // rtt = Now() - Segment.xmit_ts
        let rtt = ack.at - sent.last_sent;
        if !self.delivery.is_spurious_retransmission(sent, rtt, ack.echo) {
            self.delivery.update(sent, ack);
        }
        // Step 3: Detect data segment reordering.
        self.detect_reordering(sent);
    }

    fn end_ack(&mut self, ack: &AckFacts, config: &RecoveryConfig, smss: u64) -> bool {
        self.update_rtt(ack, &config.rack, smss);
        false
    }

    /// Section 6.2, steps 4 and 5, after steps 1 to 3 for every delivered segment.
    fn on_ack(
        &mut self,
        recovery: &mut Recovery,
        ack: &AckFacts,
        cx: &mut Context<'_>,
    ) -> RecoveryAction {
        let recovered = self.leave_recovery(recovery, ack);
        // Step 4: Update RACK reordering window.
        self.update_reo_wnd_mult(ack, recovered);
        // Step 5: Detect losses.
        self.on_reordering_timer(recovery, cx)
    }

    fn on_reordering_timer(&mut self, recovery: &Recovery, cx: &mut Context<'_>) -> RecoveryAction {
        match self.detect_loss(recovery, cx) {
            None => RecoveryAction::None,
            Some(_) => self.enter_recovery(recovery, cx),
        }
    }

    fn on_timeout(&mut self, recovery: &Recovery, cx: &mut Context<'_>) -> AfterTimeout {
        self.mark_losses_on_rto(self.reo_wnd, recovery, cx)
    }

    /// Section 7.3: a probe is sent only if a round trip was measured since the last one.
    fn on_probe_timer(&mut self) -> ProbeStep {
        match self.probe.on_timer(true) {
            true => ProbeStep::Send,
            false => ProbeStep::RestartTimer,
        }
    }

    fn on_retransmission(&mut self, seq: Seq, _: u32, flight: &mut Flight) {
        self.total_retrans = self.total_retrans.saturating_add(1);
        let lost = flight.segment_at(seq).filter(|sent| sent.is_lost()).map(Sent::end);
        if let Some(end) = lost {
            flight.mark_retransmitted(seq);
            let next = flight.lost_from(self.retransmitted_up_to);
            if next.is_none_or(|sent| sent.seq >= end) {
                self.retransmitted_up_to = end;
            }
        }
    }

    fn forget_losses(&mut self, timers: &mut TimerTable, flight: &mut Flight) {
        self.end_loss_state(timers);
        flight.clear_losses();
    }

    /// The data neither SACKed nor lost, plus retransmissions. Without limited transmit SACKed data
    /// counts until recovery begins.
    fn pipe(&self, recovery: &Recovery, flight: &Flight, config: &RecoveryConfig) -> Option<u64> {
        let sacked =
            match recovery.is_in_fast_recovery() || self.timed_out || config.limited_transmit {
                true => flight.sacked(),
                false => 0,
            };
        Some(flight.size() - sacked - flight.lost() + flight.retrans_out())
    }

    fn has_next_seg(&self, _recovery: &Recovery) -> bool {
        true
    }

    /// Lost segments, then new data.
    fn next_seg(&mut self, _recovery: &Recovery, cx: &mut Context<'_>) -> Option<NextSeg> {
        let lost = self.first_lost(cx.flight).map(NextSeg::Retransmission);
        lost.or(cx.can_send_new.then_some(NextSeg::NewAsUsual))
    }

    fn first_lost(&self, flight: &Flight) -> Option<Seq> {
        flight.lost_from(self.retransmitted_up_to).map(|sent| sent.seq)
    }

    fn is_time_based(&self) -> bool {
        true
    }

    fn probe(&mut self) -> Option<&mut TailLossProbe> {
        Some(&mut self.probe)
    }

    fn may_probe(&self) -> bool {
        !self.timed_out && !self.probe.is_due()
    }
}

impl Rack {
    /// Step 1: `RACK_update_min_RTT`.
    fn update_min_rtt(&mut self, sent: &Sent, at: Instant, config: &RackConfig) {
        if !sent.was_retransmitted() {
            self.note_min_rtt(at - sent.last_sent, at, config);
        }
    }

    /// Takes a round trip that was measured at `at`.
    fn note_min_rtt(&mut self, rtt: Duration, at: Instant, config: &RackConfig) {
        let outdated = |since| config.min_rtt_window.is_some_and(|window| at - since > window);
        match self.min_rtt {
            Some((least, since)) if least < rtt && !outdated(since) => {}
            _ => self.min_rtt = Some((rtt, at)),
        }
    }

    /// Step 3: `RACK_detect_reordering`.
    fn detect_reordering(&mut self, sent: &Sent) {
        // If Segment.end_seq < RACK.fack AND Segment.retransmitted is FALSE,
        // RACK.reordering_seen = TRUE; else RACK.fack = Segment.end_seq if that is larger.
        if !sent.was_retransmitted() && sent.end() < self.delivery.fack {
            self.delivery.note_reordered(sent.seq);
        }
        self.fack = self.fack.max(sent.end());
    }

    /// The end of step 2: sets `RACK.xmit_ts`, `RACK.end_seq` and `RACK.rtt` from all segments that
    /// the acknowledgment delivers. Returns whether it gave a round trip.
    fn update_rtt(&mut self, ack: &AckFacts, config: &RackConfig, smss: u64) -> bool {
        let [acked, sacked] = self.delivery.highest;
        let sent = match config.round_trip {
            RackRoundTrip::SentLast => self.delivery.latest.map(|(sent, _)| sent),
            RackRoundTrip::ProcessedLast => acked.or(sacked).map(|(_, sent)| sent),
        };
        // RACK.rtt = rtt
        if let Some(sent) = sent {
            self.rtt = ack.at - sent;
        }
        if let Some(low) = self.delivery.reordered {
            self.note_reordered_from(low, smss);
        }
        // If RACK_sent_after(Segment, RACK): RACK.xmit_ts = Segment.xmit_ts,
        // RACK.end_seq = Segment.end_seq
        let known = self.xmit_ts.map(|xmit_ts| (xmit_ts, self.end_seq));
        if let Some((xmit_ts, end_seq)) = known.max(self.delivery.latest) {
            (self.xmit_ts, self.end_seq) = (Some(xmit_ts), end_seq);
        }
        sent.is_some()
    }

    /// Step 4, its first half: D-SACKs widen the reordering window.
    fn update_reo_wnd_mult(&mut self, ack: &AckFacts, recovered: bool) {
        // If SND.UNA >= RACK.dsack_round, RACK.dsack_round = None.
        if self.dsack_round.is_some_and(|round| ack.ack >= round) {
            self.dsack_round = None;
        }
        // "Grow the reordering window per round that sees DSACK. Reset the window after 16
        // DSACK-free recoveries."
        if ack.dsack.is_some() && self.dsack_round.is_none() {
            self.dsack_round = Some(ack.max);
            self.reo_wnd_mult += 1;
            self.reo_wnd_persist = REO_WND_PERSIST;
        } else if recovered {
            self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
            if self.reo_wnd_persist == 0 {
                self.reo_wnd_mult = 1;
            }
        }
    }

    /// Step 4, its second half: `RACK_update_reo_wnd`.
    fn updated_reo_wnd(&self, recovery: &Recovery, cx: &Context<'_>) -> Duration {
        let RackConfig { reordering_window, threshold, .. } = cx.config.recovery.rack;
        let counts = threshold == RackThreshold::Dupthresh;
        let enough = || counts && has_sacked_enough(cx.flight, &cx.config.recovery);
        // If not RACK.reordering_seen: RACK.reo_wnd = 0 in Fast or RTO recovery, or if
        // RACK.segs_sacked >= DupThresh.
        if !self.reordering_seen && (recovery.is_in_fast_recovery() || self.timed_out || enough()) {
            return Duration::ZERO;
        }
        let mult = match reordering_window {
            ReorderingWindow::Adaptive => self.reo_wnd_mult,
            ReorderingWindow::Static => 1,
        };
        // RACK.reo_wnd = min (RACK.reo_wnd_mult * RACK.min_RTT / 4, SRTT)
        let min_rtt = self.min_rtt.map_or(Duration::ZERO, |(least, _)| least);
        let reo_wnd = min_rtt.saturating_mul(mult) / 4;
        cx.srtt.map_or(reo_wnd, |srtt| reo_wnd.min(srtt))
    }

    /// Step 5: `RACK_detect_loss_and_arm_timer`. `None` if retransmission is suppressed or nothing
    /// has been delivered yet.
    fn detect_loss(&mut self, recovery: &Recovery, cx: &mut Context<'_>) -> Option<RackLosses> {
        if cx.suppressed {
            return None;
        }
        self.reo_wnd = self.updated_reo_wnd(recovery, cx);
        cx.timers.stop(Timer::Reordering);
        let xmit_ts = self.xmit_ts?;
        // remaining = Segment.xmit_ts + RACK.rtt + RACK.reo_wnd - Now(); lost if remaining <= 0
        let timeout = self.rtt + self.reo_wnd;
        let losses = cx.flight.detect_loss((xmit_ts, self.end_seq), timeout, cx.now);
        if let Some(lost) = losses.lost {
            self.retransmitted_up_to = self.retransmitted_up_to.min(lost);
        }
        // timeout = max (remaining, timeout); RestartTimer (timeout)
        let slack = cx.config.recovery.rack.timer_slack;
        let due = losses.awaited.map(|sent| sent + timeout + slack);
        if let Some(due) = due {
            cx.timers.schedule(Timer::Reordering, due, cx.now);
        }
        Some(losses)
    }

    /// Begins fast recovery if data is lost outside of recovery.
    fn enter_recovery(&self, recovery: &Recovery, cx: &Context<'_>) -> RecoveryAction {
        let begins = cx.flight.lost() > 0 && !self.timed_out && !recovery.is_in_fast_recovery();
        match begins && recovery.may_enter_by_scoreboard(cx) {
            true => self.enter(cx.flight, false),
            false => RecoveryAction::None,
        }
    }

    /// The entry into fast recovery. If all losses have been retransmitted already, it retransmits
    /// nothing.
    fn enter(&self, flight: &Flight, ends_timeout: bool) -> RecoveryAction {
        let retransmit = match self.first_lost(flight) {
            Some(_) => Retransmit::Head,
            None => Retransmit::Nothing,
        };
        RecoveryAction::Enter(Entry { retransmit, ends_timeout, ..Entry::HEAD })
    }

    /// Ends fast recovery or the recovery from a timeout if the acknowledgment covers its end.
    /// Returns whether it does.
    fn leave_recovery(&mut self, recovery: &mut Recovery, ack: &AckFacts) -> bool {
        let recovering = self.timed_out || recovery.is_in_fast_recovery();
        let ends = recovering && ack.ack >= recovery.recover;
        if ends {
            self.timed_out = false;
            recovery.leave();
        }
        ends
    }

    /// The retransmission timer expired (section 6.3, `RACK_mark_losses_on_RTO`). The scoreboard
    /// stays, unless a SACKed head shows that the receiver reneged.
    fn mark_losses_on_rto(
        &mut self,
        reo_wnd: Duration,
        recovery: &Recovery,
        cx: &mut Context<'_>,
    ) -> AfterTimeout {
        self.reset_reordering(recovery, cx);
        if cx.flight.head().is_some_and(Sent::is_sacked) {
            cx.flight.clear_scoreboard();
        }
        // "If SEG.SEQ == SND.UNA OR SEG.xmit_ts + RACK.rtt + RACK.reo_wnd - Now() <= 0:
        // SEG.lost = TRUE"
        cx.flight.mark_lost_on_timeout(self.rtt + reo_wnd, cx.now);
        self.end_loss_state(cx.timers);
        self.timed_out = true;
        AfterTimeout::Losses
    }

    /// Resets the reordering if `dupthresh` segments are SACKed and no loss was detected: then it
    /// was overestimated (Linux: `tcp_enter_loss`).
    fn reset_reordering(&mut self, recovery: &Recovery, cx: &Context<'_>) {
        let undetected = !recovery.is_in_fast_recovery() && !self.timed_out;
        if undetected && has_sacked_enough(cx.flight, &cx.config.recovery) {
            self.reordering = 0;
        }
    }

    /// Records that the segment at `low` was delivered after some above it, up to `RACK.fack`
    /// (Linux: `tcp_check_sack_reordering`).
    fn note_reordered_from(&mut self, low: Seq, smss: u64) {
        if low < self.fack {
            self.reordering_seen = true;
            let segments = self.fack.since(low).div_ceil(smss);
            self.reordering = self.reordering.max(segments.min(MAX_REORDERING));
        }
    }

    /// Ends the recovery from a timeout, and stops the timers.
    fn end_loss_state(&mut self, timers: &mut TimerTable) {
        self.timed_out = false;
        self.retransmitted_up_to = Seq::FIRST;
        timers.stop(Timer::Reordering);
        timers.stop(Timer::LossProbe);
        self.probe.stop();
    }
}

/// Are at least `dupthresh` segments SACKed (`RACK.segs_sacked`)?
fn has_sacked_enough(flight: &Flight, config: &RecoveryConfig) -> bool {
    let enough = config.dupthresh as usize;
    let sacked = flight.segments_from(flight.una()).filter(|sent| sent.is_sacked());
    flight.sacked() > 0 && sacked.take(enough).count() == enough
}
