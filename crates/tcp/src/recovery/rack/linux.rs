//! RACK as in Linux (`net/ipv4/tcp_recovery.c` and `tcp_input.c`), where it differs from RFC 8985.

use rtolab_time::{Duration, Instant};

use super::delivery::echoes_earlier;
use super::{REO_WND_PERSIST, Rack};
use crate::config::RecoveryConfig;
use crate::flight::{AckFacts, DsackBlock, Flight, Sent};
use crate::recovery::tlp::{ProbeStep, TailLossProbe};
use crate::recovery::{
    AfterTimeout, Context, LossRecovery, NextSeg, Recovery, RecoveryAction, Retransmit,
};
use crate::seq::Seq;
use crate::timer::{Timer, TimerTable};

/// The largest reordering window, in quarters of a round trip.
const MAX_REO_WND_MULT: u64 = 255;

/// What the current event releases, as far as the windows allow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Releases {
    /// Retransmissions, then new data.
    #[default]
    All,
    /// New data only (`tcp_try_undo_partial`).
    New,
    /// Retransmissions only: the timer sends no new data (`tcp_rack_reo_timeout`). Until the next
    /// ACK that also holds for what the application writes, which Linux sends at once.
    Retransmissions,
}

/// RACK as in Linux.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinuxRack {
    rack: Rack,
    /// Was a segment delivered (`advanced`)? Only then losses are detected.
    advanced: bool,
    /// Must the reordering window widen, because a D-SACK has arrived (`dsack_seen`)?
    dsack_seen: bool,
    /// When the most recently sent segment of the current acknowledgment was sent.
    delivered: Option<Instant>,
    /// When a D-SACK last widened the reordering window (`last_delivered`).
    last_delivered: Option<Instant>,
    /// The number of segments reported as received twice (`dsack_dups`).
    dsack_dups: u32,
    /// TSval of the first retransmission since none was outstanding outside of a recovery
    /// (`retrans_stamp`).
    retrans_stamp: Option<u32>,
    /// Is data SACKed, lost or retransmitted outside of a recovery (`TCP_CA_Disorder`)?
    in_disorder: bool,
    /// Does the current acknowledgment answer a segment that was sent before the first
    /// retransmission (`tcp_packet_delayed`)?
    delayed: bool,
    releases: Releases,
    /// Is the reduction undone by the current acknowledgment?
    undone: bool,
    /// The segments that the current acknowledgment delivers (`delivered`).
    delivered_segments: u32,
    /// Do segments stay marked lost after that (`tcp_undo_cwnd_reduction`)?
    keeps_marks: bool,
}

impl From<Rack> for LinuxRack {
    fn from(rack: Rack) -> Self {
        Self { rack, ..Self::default() }
    }
}

impl From<LinuxRack> for Rack {
    fn from(linux: LinuxRack) -> Self {
        linux.rack
    }
}

impl LossRecovery for LinuxRack {
    fn begin_ack(&mut self) {
        self.rack.begin_ack();
        (self.delivered, self.delivered_segments) = (None, 0);
        (self.delayed, self.releases, self.undone) = (false, Releases::All, false);
    }

    /// Steps 1 to 3 of RFC 8985 section 6.2. The echo counts only if a retransmission is
    /// acknowledged cumulatively (`tcp_skb_spurious_retrans`).
    fn on_delivered(
        &mut self,
        sent: &Sent,
        ack: &AckFacts,
        (recovery, _): (&Recovery, &RecoveryConfig),
    ) {
        self.delivered_segments += 1;
        let (rack, rtt) = (&mut self.rack, ack.at - sent.last_sent);
        self.delivered = self.delivered.max(Some(sent.last_sent));
        let echo = ack.echo.filter(|_| sent.end() <= ack.ack);
        if !rack.delivery.is_spurious_retransmission(sent, rtt, echo) {
            rack.delivery.update(sent, ack);
        }
        // In fast recovery, a late original that fills a hole shows reordering, if it was sent
        // before the first retransmission (`tcp_try_undo_partial`, `tcp_packet_delayed`).
        let partial = recovery.is_in_fast_recovery() && ack.ack < recovery.recover;
        let filled = sent.was_retransmitted() && sent.seq < rack.delivery.fack;
        let delayed = self.retrans_stamp.is_some_and(|stamp| echoes_earlier(echo, stamp));
        if partial && filled && delayed {
            rack.delivery.note_reordered(ack.una_before);
        }
        rack.detect_reordering(sent);
    }

    /// Handles the D-SACK (`tcp_dsack_seen`): it counts only after reordering was seen, and not if
    /// it reports a tail loss probe.
    fn end_ack(&mut self, ack: &AckFacts, config: &RecoveryConfig, smss: u64) -> bool {
        let dsack_ignored = ack.dsack.is_some_and(|range| !self.is_plausible(&range, smss));
        let dsack = ack.dsack.filter(|_| !dsack_ignored && self.rack.reordering_seen);
        self.dsack_seen |= dsack.is_some_and(|range| !self.rack.probe.ends_at(range.end));
        self.advanced |= self.rack.update_rtt(ack, &config.rack, smss);
        self.delayed =
            ack.is_new() && self.retrans_stamp.is_some_and(|stamp| echoes_earlier(ack.echo, stamp));
        dsack_ignored
    }

    fn on_ack(
        &mut self,
        recovery: &mut Recovery,
        ack: &AckFacts,
        cx: &mut Context<'_>,
    ) -> RecoveryAction {
        let was_open = !self.rack.timed_out && !recovery.is_in_fast_recovery() && !self.undone;
        let recovered = self.rack.leave_recovery(recovery, ack);
        self.note_reported_reordering(ack, cx);
        self.update_reo_wnd_mult(ack.at, recovered);
        let is_dubious = !was_open
            || self.in_disorder
            || !ack.is_new()
            || ack.newly_sacked > 0
            || ack.dsack.is_some();
        if recovery.is_in_fast_recovery() && self.delayed && cx.flight.retrans_out() > 0 {
            self.releases = Releases::New;
            cx.timers.stop(Timer::Reordering);
            return RecoveryAction::None;
        }
        if is_dubious && was_open && !self.in_disorder {
            self.retrans_stamp = None;
        }
        let mut step = if is_dubious {
            self.detect_on_ack(recovery, ack, cx)
        } else {
            cx.timers.stop(Timer::Reordering);
            RecoveryAction::None
        };
        if is_dubious && step == RecoveryAction::None {
            // What is marked lost begins the next recovery (`tcp_time_to_recover`).
            step = self.begin_recovery(false, recovery, cx);
        }
        if is_dubious && !self.rack.timed_out && !recovery.is_in_fast_recovery() {
            self.try_keep_open(cx.flight);
        }
        step
    }

    /// The reordering timer expired.
    fn on_reordering_timer(&mut self, recovery: &Recovery, cx: &mut Context<'_>) -> RecoveryAction {
        self.releases = Releases::Retransmissions;
        self.detect(recovery, cx)
    }

    fn on_timeout(&mut self, recovery: &Recovery, cx: &mut Context<'_>) -> AfterTimeout {
        (self.releases, self.in_disorder) = (Releases::All, false);
        self.rack.mark_losses_on_rto(Duration::ZERO, recovery, cx)
    }

    /// If no probe is sent, the timer of the head continues (`tcp_send_loss_probe`).
    fn on_probe_timer(&mut self) -> ProbeStep {
        match self.rack.probe.on_timer(false) {
            true => ProbeStep::Send,
            false => ProbeStep::RestartTimerFromHead,
        }
    }

    /// `tcp_undo_cwnd_reduction`: the next acknowledgment detects losses again.
    fn on_undo(&mut self) {
        self.advanced = true;
    }

    /// The losses stay marked if D-SACKs undo a fast recovery that is not over.
    fn keeps_state_on_undo(&mut self, recovery: &Recovery, flight: &Flight, _: bool) -> bool {
        self.undone = true;
        let is_partial = recovery.is_in_fast_recovery() && flight.una() < recovery.recover;
        self.keeps_marks = is_partial && !(self.delayed && flight.retrans_out() == 0);
        false
    }

    fn on_round_trip(&mut self, rtt: Duration, at: Instant, config: &RecoveryConfig) {
        self.rack.note_min_rtt(rtt, at, &config.rack);
    }

    fn has_reordered_beyond(&self, dupthresh: u32) -> bool {
        self.rack.reordering > u64::from(dupthresh)
    }

    fn on_retransmission(&mut self, seq: Seq, timestamp: u32, flight: &mut Flight) {
        // A probe retransmits a segment that is not lost (`__tcp_retransmit_skb`).
        if flight.segment_at(seq).is_some_and(Sent::is_lost) {
            self.retrans_stamp.get_or_insert(timestamp);
        }
        self.rack.on_retransmission(seq, timestamp, flight);
    }

    /// Retransmissions stay in flight (`tcp_undo_cwnd_reduction`).
    fn forget_losses(&mut self, timers: &mut TimerTable, flight: &mut Flight) {
        self.rack.end_loss_state(timers);
        if !core::mem::take(&mut self.keeps_marks) {
            flight.unmark_lost();
        }
    }

    /// Linux counts segments (`tcp_packets_in_flight`).
    fn pipe(&self, recovery: &Recovery, flight: &Flight, config: &RecoveryConfig) -> Option<u64> {
        Some(self.rack.pipe(recovery, flight, config)? + flight.padding())
    }

    fn delivered_segments(&self) -> Option<u32> {
        Some(self.delivered_segments)
    }

    fn has_next_seg(&self, recovery: &Recovery) -> bool {
        self.rack.has_next_seg(recovery)
    }

    fn next_seg(&mut self, _: &Recovery, cx: &mut Context<'_>) -> Option<NextSeg> {
        let may_retransmit =
            self.releases != Releases::New && cx.flight.has_unretransmitted_losses();
        let lost = self.first_lost(cx.flight).filter(|_| may_retransmit);
        let lost = lost.map(NextSeg::Retransmission);
        let may_send_new = self.releases != Releases::Retransmissions && cx.can_send_new;
        lost.or(may_send_new.then_some(NextSeg::NewAsUsual))
    }

    fn first_lost(&self, flight: &Flight) -> Option<Seq> {
        self.rack.first_lost(flight)
    }

    fn is_time_based(&self) -> bool {
        true
    }

    fn probe(&mut self) -> Option<&mut TailLossProbe> {
        self.rack.probe()
    }

    fn may_probe(&self) -> bool {
        self.rack.may_probe() && !self.in_disorder
    }
}

impl LinuxRack {
    /// Can the reported duplicates come from retransmissions? If there are more duplicates than
    /// retransmissions, the network or the peer causes them (`tcp_dsack_seen`).
    fn is_plausible(&mut self, range: &DsackBlock, smss: u64) -> bool {
        let segments = range.end.since(range.start).div_ceil(smss) as u32;
        self.dsack_dups = self.dsack_dups.saturating_add(segments);
        self.dsack_dups <= self.rack.total_retrans
    }

    /// A D-SACK for a retransmitted segment that is SACKed shows reordering (`tcp_sacktag_one`).
    fn note_reported_reordering(&mut self, ack: &AckFacts, cx: &Context<'_>) {
        let above = |range: &DsackBlock| !ack.dsack_ignored && range.start >= cx.flight.una();
        let Some(range) = ack.dsack.filter(above) else { return };
        let reported = cx.flight.segment_at(range.start);
        if reported.is_some_and(|sent| sent.is_sacked() && sent.was_retransmitted()) {
            self.rack.note_reordered_from(range.start, cx.window.smss());
        }
    }

    /// Detects losses if a segment was delivered.
    fn detect_on_ack(
        &mut self,
        recovery: &Recovery,
        ack: &AckFacts,
        cx: &mut Context<'_>,
    ) -> RecoveryAction {
        if core::mem::take(&mut self.advanced) {
            return self.detect(recovery, cx);
        }
        // Linux has one timer, which now runs for the timeout or the probe (`tcp_set_xmit_timer`).
        if ack.is_new() {
            cx.timers.stop(Timer::Reordering);
        }
        RecoveryAction::None
    }

    fn detect(&mut self, recovery: &Recovery, cx: &mut Context<'_>) -> RecoveryAction {
        match self.rack.detect_loss(recovery, cx) {
            None => RecoveryAction::None,
            Some(losses) => self.begin_recovery(losses.lost_again, recovery, cx),
        }
    }

    /// Begins fast recovery if data is lost, or after a timeout if a retransmission is `lost_again`
    /// (`FLAG_LOST_RETRANS`).
    fn begin_recovery(
        &mut self,
        lost_again: bool,
        recovery: &Recovery,
        cx: &Context<'_>,
    ) -> RecoveryAction {
        let mut step = match lost_again && core::mem::take(&mut self.rack.timed_out) {
            true => self.rack.enter(cx.flight, true),
            false => self.rack.enter_recovery(recovery, cx),
        };
        if step != RecoveryAction::None {
            self.clean_up_retrans_stamp(cx.flight);
        }
        if let RecoveryAction::Enter(entry) = &mut step {
            // `tcp_init_cwnd_reduction` forgets the probe: the window is reduced once.
            self.rack.probe.stop();
            if !cx.flight.has_unretransmitted_losses() {
                entry.retransmit = Retransmit::Nothing;
            }
        }
        step
    }

    /// Outside of a recovery: is data missing or retransmitted (`tcp_try_keep_open`)?
    fn try_keep_open(&mut self, flight: &Flight) {
        let retransmitted = self.clean_up_retrans_stamp(flight);
        self.in_disorder = retransmitted || flight.sacked() > 0 || flight.lost() > 0;
    }

    /// Forgets the first retransmission unless one is outstanding (`tcp_retrans_stamp_cleanup`).
    /// Returns whether one is (`tcp_any_retrans_done`).
    fn clean_up_retrans_stamp(&mut self, flight: &Flight) -> bool {
        let outstanding =
            flight.retrans_out() > 0 || flight.head().is_some_and(Sent::was_retransmitted);
        if !outstanding {
            self.retrans_stamp = None;
        }
        outstanding
    }

    /// Widens the reordering window for a D-SACK (`tcp_rack_update_reo_wnd`), if the acknowledgment
    /// delivers a segment that was sent after the last widening.
    fn update_reo_wnd_mult(&mut self, at: Instant, recovered: bool) {
        let rack = &mut self.rack;
        if let Some(sent) = self.delivered {
            if self.last_delivered.is_some_and(|widened| sent < widened) {
                self.dsack_seen = false;
            }
            if core::mem::take(&mut self.dsack_seen) {
                rack.reo_wnd_mult = (rack.reo_wnd_mult + 1).min(MAX_REO_WND_MULT);
                self.last_delivered = Some(at);
                rack.reo_wnd_persist = REO_WND_PERSIST;
            } else if rack.reo_wnd_persist == 0 {
                rack.reo_wnd_mult = 1;
            }
        }
        rack.reo_wnd_persist = rack.reo_wnd_persist.saturating_sub(u32::from(recovered));
    }
}
