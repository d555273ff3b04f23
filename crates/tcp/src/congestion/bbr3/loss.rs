//! The response to losses (draft-ietf-ccwg-bbr-06 section 5.5.10).

use super::{BETA, BbrState, INFINITY, LOSS_THRESH, Model, ModelContext, RateSample};
use crate::congestion::rate::LostSegment;

impl Model {
    /// `IsInflightTooHigh` (section 5.5.10.2)
    pub(super) fn is_inflight_too_high(rs: &RateSample, cx: &ModelContext<'_>) -> bool {
        let rate_is_high = rs.lost.saturating_mul(LOSS_THRESH) > rs.tx_in_flight;
        rs.lost > 0 && (rate_is_high || !cx.has_selective_acks)
    }

    /// `HandleInflightTooHigh` (section 5.5.10.2)
    fn handle_inflight_too_high(&mut self, rs: &RateSample, cx: &ModelContext<'_>) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        if !rs.is_app_limited {
            let least = self.target_inflight(cx) / 100 * BETA;
            self.inflight_longterm = rs.tx_in_flight.max(least);
        }
        if self.state == BbrState::ProbeBwUp {
            self.undo.state = Some(BbrState::ProbeBwUp);
            self.start_probe_bw_down(cx);
        }
    }

    /// `NoteLoss` (section 5.5.10.2). Loss recovery saves the state when it begins; the draft would
    /// save it again in each round trip of it, and lose what it was before.
    fn note_loss(&mut self, cx: &ModelContext<'_>) {
        if !self.is_loss_in_round {
            self.loss_round_delivered = cx.rate.delivered;
            if !self.recovering {
                self.save_cwnd(cx.window.cwnd());
                self.save_state_upon_loss();
            }
        }
        self.is_loss_in_round = true;
    }

    /// `HandleLostPacket` (section 5.5.10.2)
    pub(super) fn handle_lost_packet(&mut self, lost: &LostSegment, cx: &ModelContext<'_>) {
        self.note_loss(cx);
        let (events, end) = self.loss_events;
        let is_new_range = lost.tx.seq() != end;
        self.loss_events = (events.saturating_add(u32::from(is_new_range)), lost.tx.end());
        if !self.is_bw_probe_sample {
            return;
        }
        let rs = RateSample {
            tx_in_flight: lost.tx.tx_in_flight,
            lost: lost.lost,
            is_app_limited: lost.tx.is_app_limited,
            ..RateSample::default()
        };
        if Self::is_inflight_too_high(&rs, cx) {
            let tx_in_flight = inflight_at_loss(lost);
            self.handle_inflight_too_high(&RateSample { tx_in_flight, ..rs }, cx);
        }
    }

    /// `UpdateLatestDeliverySignals` (section 5.5.10.3)
    pub(super) fn update_latest_delivery_signals(
        &mut self,
        rs: &RateSample,
        cx: &ModelContext<'_>,
    ) {
        self.loss_round_start = false;
        let delivered = rs.delivered.map_or(0, |(delivered, _)| delivered);
        self.bw_latest = self.bw_latest.max(rs.delivery_rate());
        self.inflight_latest = self.inflight_latest.max(delivered);
        if rs.prior_delivered.is_some_and(|prior| prior >= self.loss_round_delivered) {
            self.loss_round_delivered = cx.rate.delivered;
            self.loss_round_start = true;
        }
    }

    /// `AdvanceLatestDeliverySignals` (section 5.5.10.3)
    pub(super) fn advance_latest_delivery_signals(&mut self, rs: &RateSample) {
        if self.loss_round_start {
            self.bw_latest = rs.delivery_rate();
            self.inflight_latest = rs.delivered.map_or(0, |(delivered, _)| delivered);
        }
    }

    /// `ResetCongestionSignals` (section 5.5.10.3)
    pub(super) const fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        (self.bw_latest, self.inflight_latest) = (0, 0);
    }

    /// `UpdateCongestionSignals` (section 5.5.10.3)
    pub(super) fn update_congestion_signals(&mut self, rs: &RateSample, cx: &ModelContext<'_>) {
        self.update_max_bw(rs, cx);
        if self.loss_round_start {
            self.adapt_lower_bounds_from_congestion(cx);
            self.is_loss_in_round = false;
        }
    }

    /// `AdaptLowerBoundsFromCongestion`, with `InitLowerBounds` and `LossLowerBounds` (section
    /// 5.5.10.3)
    fn adapt_lower_bounds_from_congestion(&mut self, cx: &ModelContext<'_>) {
        if self.is_probing_bw() || !self.is_loss_in_round {
            return;
        }
        if self.bw_shortterm == INFINITY {
            self.bw_shortterm = self.max_bw();
        }
        if self.inflight_shortterm == INFINITY {
            self.inflight_shortterm = cx.window.cwnd();
        }
        self.bw_shortterm = self.bw_latest.max(self.bw_shortterm / 100 * BETA);
        self.inflight_shortterm = self.inflight_latest.max(self.inflight_shortterm / 100 * BETA);
    }

    /// `ResetShortTermModel` (section 5.5.10.3)
    pub(super) const fn reset_short_term_model(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (INFINITY, INFINITY);
    }

    /// `BoundBWForModel` (section 5.5.10.3)
    pub(super) fn bound_bw_for_model(&mut self) {
        self.bw = self.max_bw().min(self.bw_shortterm);
    }
}

/// `InflightAtLoss` (section 5.5.10.2): the data in flight at which the losses became too many.
fn inflight_at_loss(lost: &LostSegment) -> u64 {
    let inflight_prev = lost.tx.tx_in_flight.saturating_sub(lost.size);
    let lost_prev = lost.lost - lost.size;
    let lost_prefix = (inflight_prev / LOSS_THRESH).saturating_sub(lost_prev);
    inflight_prev + lost_prefix * LOSS_THRESH / (LOSS_THRESH - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the losses cross 2 % within the lost segment: of `inflight_prev` bytes 2 % may be
    /// lost, `lost_prev` were, and of what follows all is.
    #[test]
    fn inflight_at_loss_is_where_losses_cross_2_percent() {
        for (size, in_flight, lost, expected) in [
            // 2 % of 100,000 bytes were lost before.
            (1_000, 101_000, 3_000, 100_000),
            // 1,000 of 100,000 bytes: another 1,000 / 0.98 reach 2 %.
            (1_000, 101_000, 2_000, 101_020),
            (10_000, 110_000, 10_000, 102_040),
            (1_000, 1_000, 1_000, 0),
        ] {
            let lost = LostSegment::of(size, in_flight, lost);
            assert_eq!(inflight_at_loss(&lost), expected, "{lost:?}");
        }
    }
}
