//! RACK of Linux, where it is not RFC 8985: `net/ipv4/tcp_recovery.c` and `tcp_input.c`.

use rtolab_time::Instant;

use super::{REO_WND_PERSIST, Rack, echoes_earlier, has_sacked_enough};
use crate::config::{RackConfig, RecoveryConfig};
use crate::flight::{AckFacts, DuplicateRange, Flight, Sent};
use crate::recovery::{Context, LossRecovery, Recovery, Step};
use crate::timer::Timer;

/// The largest reordering window, in quarters of a round trip.
const MAX_REO_WND_MULT: u64 = 255;

/// The largest reordering, in segments (`tcp_max_reordering`).
const MAX_REORDERING: u64 = 300;

/// RACK of Linux.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinuxRack {
    pub(super) rack: Rack,
    /// A segment was delivered (`advanced`): without that, no loss is detected.
    advanced: bool,
    /// A D-SACK came, and the reordering window is to widen (`dsack_seen`).
    dsack_seen: bool,
    /// When the most recently sent segment left that the current acknowledgment delivers.
    delivered: Option<Instant>,
    /// When a D-SACK last widened the reordering window (`last_delivered`).
    last_delivered: Option<Instant>,
    /// Segments reported as received twice (`dsack_dups`).
    dsack_dups: u32,
}

impl Rack {
    /// This many later segments were delivered before one (`tcp_check_sack_reordering`).
    pub(super) fn note_reordering(&mut self, segments: u64) {
        self.reordering = self.reordering.max(segments.min(MAX_REORDERING));
    }

    /// The retransmission timer expired. If enough was SACKed for a loss and none was detected, the
    /// reordering was overestimated (`tcp_enter_loss`).
    pub fn doubt_reordering(&mut self, flight: &Flight, config: &RecoveryConfig) {
        if !self.timed_out && has_sacked_enough(flight, config) {
            self.reordering = 0;
        }
    }
}

impl LossRecovery for LinuxRack {
    fn on_ack(&mut self, recovery: &mut Recovery, ack: &AckFacts, cx: &mut Context<'_>) -> Step {
        let recovered = self.rack.leave_recovery(recovery, ack);
        self.update_reo_wnd_mult(ack.at, recovered);
        if core::mem::take(&mut self.advanced) {
            return self.detect_loss(recovery, cx);
        }
        // Linux has one timer, which another use has taken (`tcp_set_xmit_timer`).
        if ack.is_new() {
            cx.timers.stop(Timer::Reordering);
        }
        Step::None
    }
}

impl From<Rack> for LinuxRack {
    fn from(rack: Rack) -> Self {
        Self { rack, ..Self::default() }
    }
}

impl LinuxRack {
    pub(super) const fn begin_ack(&mut self) {
        self.delivered = None;
    }

    /// Steps 1 to 3 of RFC 8985 section 6.2. The echo is looked at only where a retransmission is
    /// acknowledged in order (`tcp_skb_spurious_retrans`).
    pub(super) fn on_delivered(
        &mut self,
        sent: &Sent,
        ack: &AckFacts,
        (recovery, config): (&Recovery, &RackConfig),
    ) {
        let (rack, rtt) = (&mut self.rack, ack.at - sent.last_sent);
        self.delivered = self.delivered.max(Some(sent.last_sent));
        rack.update_min_rtt(sent, ack.at, config);
        let echo = ack.echo.filter(|_| sent.end() <= ack.ack);
        if !rack.delivery.is_spurious_retransmission(sent, rtt, echo) {
            rack.delivery.update(sent, ack);
        }
        // In fast recovery, a late original filled the hole (`tcp_try_undo_partial`).
        let partial = recovery.is_fast() && ack.ack < recovery.recover;
        let filled = sent.was_retransmitted() && sent.seq < rack.delivery.fack;
        if partial && filled && echoes_earlier(echo, sent) {
            rack.delivery.note_reordered(ack.una_before);
        }
        rack.detect_reordering(sent);
    }

    /// Without reordering seen, D-SACKs say nothing, nor does one of a probe (`tcp_dsack_seen`).
    pub(super) fn end_ack(&mut self, ack: &AckFacts, config: &RackConfig, smss: u64) -> bool {
        let doubted = ack.dsack.is_some_and(|range| !self.believes(&range, smss));
        let dsack = ack.dsack.filter(|_| !doubted && self.rack.reordering_seen);
        self.dsack_seen |= dsack.is_some_and(|range| !self.rack.probe.ends_at(range.end));
        self.advanced |= self.rack.end_ack(ack, config, smss);
        doubted
    }

    /// Can the reported duplicates come from retransmissions? More duplicates than retransmissions
    /// come from the network or the peer (`tcp_dsack_seen`).
    fn believes(&mut self, range: &DuplicateRange, smss: u64) -> bool {
        let segments = range.end.since(range.start).div_ceil(smss) as u32;
        self.dsack_dups = self.dsack_dups.saturating_add(segments);
        self.dsack_dups <= self.rack.total_retrans
    }

    /// D-SACKs widen the reordering window (`tcp_rack_update_reo_wnd`): once something is
    /// delivered, and not if that had left before the window widened last.
    fn update_reo_wnd_mult(&mut self, at: Instant, recovered: bool) {
        let rack = &mut self.rack;
        if let Some(left) = self.delivered {
            if self.last_delivered.is_some_and(|widened| left < widened) {
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

    /// If a retransmission after a timeout is lost, fast recovery begins (`FLAG_LOST_RETRANS`).
    pub(super) fn detect_loss(&mut self, recovery: &Recovery, cx: &mut Context<'_>) -> Step {
        let losses = self.rack.detect_loss(recovery, cx);
        let lost_again = losses.is_some_and(|losses| losses.lost_again);
        if lost_again && core::mem::take(&mut self.rack.timed_out) {
            return self.rack.enter(cx.flight, true);
        }
        self.rack.enter_recovery(losses, recovery, cx)
    }

    /// `tcp_undo_cwnd_reduction`.
    pub(super) const fn on_undo(&mut self) {
        self.advanced = true;
    }
}
