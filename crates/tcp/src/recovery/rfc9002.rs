//! Loss detection and recovery of QUIC (RFC 9002), with its variables and sections. A packet is
//! lost if one that was sent sufficiently later, in packets or in time, is acknowledged. There is
//! no retransmission timeout: a probe timeout sends probes and changes nothing else.
//!
//! TCP's wire lacks three things of QUIC's. What stands in for packet numbers is in
//! [`sent_packets`]. SACK blocks are the ranges of an ACK frame: at most three or four of them, and
//! once a segment is acknowledged, only a D-SACK tells that another copy arrived. The delay of an
//! acknowledgment is not told, so that a round trip includes it.

mod rtt;
mod sent_packets;
mod thresholds;
mod undo;

use alloc::vec::Vec;
use rtolab_time::{Duration, Instant};

use super::{Context, Entry, LossRecovery, NextSeg, Recovery, RecoveryAction, Retransmit};
use crate::config::{Config, RecoveryConfig, Rfc9002Config, UndoRule};
use crate::estimate::Estimate;
use crate::flight::{AckFacts, Flight, Sent};
use crate::seq::Seq;
use crate::timer::{Timer, TimerTable};
use rtt::RttStats;
pub(crate) use sent_packets::Transmission;
use sent_packets::{AckedPacket, LossCriteria, Losses, SentPackets};
use thresholds::{LateAcks, LateContext, Thresholds};
use undo::Undo;

/// kPersistentCongestionThreshold (section 7.6.1).
const PERSISTENT_CONGESTION_THRESHOLD: u64 = 3;

/// The variables of appendices A.3 and B.2.
#[derive(Clone, Debug)]
pub(crate) struct Rfc9002 {
    rtt: RttStats,
    /// The number of probe timeouts since the last acknowledgment.
    pto_count: u32,
    time_of_last_ack_eliciting_packet: Option<Instant>,
    largest_acked_packet: Option<u64>,
    /// When the next packet exceeds the time threshold.
    loss_time: Option<Instant>,
    sent_packets: SentPackets,
    /// The number of the first packet of the last recovery period. It stands for
    /// congestion_recovery_start_time, because in virtual time a packet may leave at that time.
    congestion_recovery_start: u64,
    thresholds: Thresholds,
    undo: Undo,
    /// The packets that the current acknowledgment names.
    newly_acked: Vec<AckedPacket>,
    /// All losses below this have been retransmitted.
    retransmitted_up_to: Seq,
    /// The number of probes that are to be sent.
    probes: u32,
    /// The sequence number from which on a probe retransmits.
    probe_from: Seq,
}

impl LossRecovery for Rfc9002 {
    fn begin_ack(&mut self) {
        self.newly_acked.clear();
    }

    fn on_delivered(&mut self, sent: &Sent, ack: &AckFacts, _: (&Recovery, &RecoveryConfig)) {
        let min_rtt = self.rtt.min_rtt;
        self.newly_acked.extend(self.sent_packets.on_acked(sent, ack, min_rtt));
    }

    /// OnAckReceived (appendix A.7), up to the detection of lost packets.
    fn end_ack(&mut self, ack: &AckFacts, config: &RecoveryConfig, _smss: u64) -> bool {
        let config = &config.rfc9002;
        let largest = self.newly_acked.iter().max_by_key(|packet| packet.number).copied();
        if let Some(range) = &ack.dsack {
            self.newly_acked.extend(self.sent_packets.on_dsack(range.start, range.end));
        }
        let advances =
            largest.is_some_and(|packet| Some(packet.number) > self.largest_acked_packet);
        if let Some(packet) = largest.filter(|_| advances) {
            self.largest_acked_packet = Some(packet.number);
            // "If the largest acknowledged is newly acked", update the RTT.
            if packet.certain {
                self.rtt.update(ack.at - packet.time_sent, ack.at);
            }
        }
        if largest.is_some() {
            self.pto_count = 0;
        }
        self.adapt_thresholds(ack.at, advances, config);
        if config.undo == UndoRule::Any {
            self.count_late(config.undo);
        }
        false
    }

    /// OnAckReceived (appendix A.7), from the detection of lost packets on.
    fn on_ack(
        &mut self,
        recovery: &mut Recovery,
        _ack: &AckFacts,
        cx: &mut Context<'_>,
    ) -> RecoveryAction {
        let left = self.leave_recovery(recovery);
        let action = match self.newly_acked.is_empty() {
            true => RecoveryAction::None,
            false => self.detect_lost(cx),
        };
        if cx.config.recovery.rfc9002.undo == UndoRule::All {
            self.count_late(UndoRule::All);
        }
        match action {
            RecoveryAction::None if left => RecoveryAction::Leave { cwnd: None },
            action => action,
        }
    }

    /// OnLossDetectionTimeout (appendix A.9), time threshold.
    fn on_reordering_timer(&mut self, _: &Recovery, cx: &mut Context<'_>) -> RecoveryAction {
        self.detect_lost(cx)
    }

    /// OnLossDetectionTimeout (appendix A.9), probe timeout: it changes neither the windows nor
    /// what is lost. A SACKed head shows that the receiver reneged, which no QUIC receiver may.
    fn on_probe_timeout(&mut self, cx: &mut Context<'_>) {
        if cx.flight.head().is_some_and(Sent::is_sacked) {
            cx.flight.clear_scoreboard();
            self.largest_acked_packet = None;
            self.sent_packets.adopt(cx.flight);
        }
        self.pto_count = self.pto_count.saturating_add(1);
        // SendOneOrTwoAckElicitingPackets
        (self.probes, self.probe_from) = (2, cx.flight.una());
    }

    fn on_sent(&mut self, sent: &Transmission) {
        self.time_of_last_ack_eliciting_packet = Some(sent.at);
        self.sent_packets.on_sent(sent);
    }

    fn on_retransmission(&mut self, seq: Seq, _: u32, flight: &mut Flight) {
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
        self.sent_packets.forget_losses();
        (self.loss_time, self.probes) = (None, 0);
        self.retransmitted_up_to = Seq::FIRST;
        timers.stop(Timer::Reordering);
        flight.clear_losses();
    }

    /// bytes_in_flight (appendix B.2): neither acknowledged nor lost. Of a probe both copies count.
    fn pipe(&self, _: &Recovery, flight: &Flight, _: &RecoveryConfig) -> Option<u64> {
        let once = flight.size() - flight.sacked() - flight.lost() + flight.retrans_out();
        Some(once + self.sent_packets.extra())
    }

    fn has_next_seg(&self, _recovery: &Recovery) -> bool {
        true
    }

    /// Lost data, then new data.
    fn next_seg(&mut self, _recovery: &Recovery, cx: &mut Context<'_>) -> Option<NextSeg> {
        let lost = self.first_lost(cx.flight).map(NextSeg::Retransmission);
        lost.or(cx.can_send_new.then_some(NextSeg::NewAsUsual))
    }

    fn first_lost(&self, flight: &Flight) -> Option<Seq> {
        flight.lost_from(self.retransmitted_up_to).map(|sent| sent.seq)
    }

    /// OnPacketAckedCC (appendix B.5): the window grows for every acknowledged packet.
    fn has_reordered_beyond(&self, _dupthresh: u32) -> bool {
        true
    }

    fn is_time_based(&self) -> bool {
        true
    }

    fn probe_timeout(&self, config: &Config) -> Option<Duration> {
        Some(self.rtt.backed_off_pto(self.pto_count, config))
    }

    fn pto_count(&self) -> Option<u32> {
        Some(self.pto_count)
    }

    /// SetLossDetectionTimer (appendix A.8). While data is outstanding a timer runs, also if all of
    /// it is lost and not retransmitted yet.
    fn set_loss_detection_timer(&self, outstanding: bool, cx: &mut Context<'_>) {
        let pto = self.rtt.backed_off_pto(self.pto_count, cx.config);
        let since = self.time_of_last_ack_eliciting_packet.unwrap_or(cx.now);
        // "The PTO timer MUST NOT be set if a timer is set for time threshold loss detection": it
        // does not expire before that. If it is late already, packets that are to be sent now come
        // first.
        let granularity = cx.config.recovery.rfc9002.granularity;
        let earliest = (cx.now + granularity).max(self.loss_time.unwrap_or(Instant::START));
        let pto = (since + pto).max(earliest);
        cx.timers.arm(Timer::Reordering, self.loss_time.filter(|_| outstanding));
        cx.timers.arm(Timer::Retransmission, outstanding.then_some(pto));
    }

    fn has_probe(&self) -> bool {
        self.probes > 0
    }

    /// The content of a probe (section 6.2.4): lost data, new data, or else the oldest data.
    fn take_probe(&mut self, flight: &Flight, can_send_new: bool) -> Option<NextSeg> {
        self.probes = self.probes.checked_sub(1)?;
        if let Some(lost) = self.first_lost(flight) {
            return Some(NextSeg::Retransmission(lost));
        }
        if can_send_new {
            return Some(NextSeg::New);
        }
        let oldest = flight.unsacked_from(self.probe_from.max(flight.una()))?;
        self.probe_from = oldest.end();
        Some(NextSeg::Retransmission(oldest.seq))
    }

    fn take_undo(&mut self) -> bool {
        let Some(before) = self.undo.take() else { return false };
        self.congestion_recovery_start = before;
        true
    }

    fn adopt(&mut self, flight: &Flight, estimate: Option<Estimate>) {
        self.largest_acked_packet = self.sent_packets.adopt(flight);
        self.time_of_last_ack_eliciting_packet =
            flight.segments_from(flight.una()).map(|sent| sent.last_sent).max();
        self.congestion_recovery_start = self.sent_packets.next();
        if let Some(estimate) = estimate {
            self.rtt.adopt(estimate);
        }
    }
}

impl Rfc9002 {
    pub fn new(config: &Rfc9002Config) -> Self {
        Self {
            rtt: RttStats::default(),
            pto_count: 0,
            time_of_last_ack_eliciting_packet: None,
            largest_acked_packet: None,
            loss_time: None,
            sent_packets: SentPackets::default(),
            congestion_recovery_start: 0,
            thresholds: Thresholds::new(config),
            undo: Undo::default(),
            newly_acked: Vec::new(),
            retransmitted_up_to: Seq::FIRST,
            probes: 0,
            probe_from: Seq::FIRST,
        }
    }

    fn adapt_thresholds(&mut self, now: Instant, advances: bool, config: &Rfc9002Config) {
        let mut late = LateAcks::default();
        for packet in self.newly_acked.iter().filter(|packet| packet.late) {
            let smallest = late.smallest.map_or(packet.number, |least| least.min(packet.number));
            late.smallest = Some(smallest);
            if self.thresholds.counts(packet.number) {
                let oldest = late.oldest.map_or(packet.time_sent, |at| at.min(packet.time_sent));
                late.oldest = Some(oldest);
            }
        }
        let largest_acked = self.largest_acked_packet.unwrap_or(0);
        let (next, rtt) = (self.sent_packets.next(), &self.rtt);
        let cx = LateContext { now, largest_acked, advances, next, rtt, config };
        self.thresholds.on_late_acks(&late, &cx);
    }

    fn count_late(&mut self, rule: UndoRule) {
        for packet in self.newly_acked.iter().filter(|packet| packet.late) {
            self.undo.on_late(packet.number, rule);
        }
    }

    /// A recovery period ends when a packet that was sent in it is acknowledged (section 7.3.2).
    /// Returns whether it does.
    fn leave_recovery(&self, recovery: &mut Recovery) -> bool {
        let start = self.congestion_recovery_start;
        let ends = recovery.is_in_fast_recovery()
            && self.newly_acked.iter().any(|packet| packet.number >= start);
        if ends {
            recovery.leave();
        }
        ends
    }

    /// DetectAndRemoveLostPackets and OnPacketsLost (appendices A.10 and B.8).
    fn detect_lost(&mut self, cx: &mut Context<'_>) -> RecoveryAction {
        let Some(largest_acked) = self.largest_acked_packet.filter(|_| !cx.suppressed) else {
            self.loss_time = None;
            return RecoveryAction::None;
        };
        let config = &cx.config.recovery.rfc9002;
        let criteria = LossCriteria {
            largest_acked,
            packet_threshold: self.thresholds.packet,
            loss_delay: self.rtt.loss_delay(self.thresholds.time, config),
            now: cx.now,
            first_rtt_sample: self.rtt.first_rtt_sample,
        };
        let losses = self.sent_packets.detect_and_remove_lost(&criteria, cx.flight);
        self.loss_time = losses.loss_time;
        if let Some(lost) = losses.lowest {
            self.retransmitted_up_to = self.retransmitted_up_to.min(lost);
        }
        self.on_packets_lost(&losses, cx)
    }

    /// OnPacketsLost (appendix B.8).
    fn on_packets_lost(&mut self, losses: &Losses, cx: &Context<'_>) -> RecoveryAction {
        let Some(&largest) = losses.numbers.last() else { return RecoveryAction::None };
        // InPersistentCongestion (section 7.6.1)
        let duration = self
            .rtt
            .pto(&cx.config.recovery.rfc9002)
            .saturating_mul(PERSISTENT_CONGESTION_THRESHOLD);
        let persistent = losses.period > duration;
        let next = self.sent_packets.next();
        // OnCongestionEvent (appendix B.6): not if the packet was sent before the last one.
        let begins = largest >= self.congestion_recovery_start;
        if begins {
            let in_slow_start = cx.window.cwnd() < cx.window.ssthresh();
            self.undo.begin(self.congestion_recovery_start, next, in_slow_start);
            self.congestion_recovery_start = next;
        }
        losses.numbers.iter().for_each(|number| self.undo.on_lost(*number));
        if persistent {
            self.congestion_recovery_start = 0;
        }
        let retransmit = match self.first_lost(cx.flight) {
            // MaybeSendOnePacket
            Some(_) => Retransmit::Head,
            None => Retransmit::Nothing,
        };
        match (begins, persistent) {
            (true, _) => RecoveryAction::Enter(Entry { retransmit, persistent, ..Entry::HEAD }),
            (false, true) => RecoveryAction::Collapse,
            (false, false) => RecoveryAction::None,
        }
    }
}
