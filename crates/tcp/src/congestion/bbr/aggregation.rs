//! BBR's estimate of aggregation: ACKs of more data at once than the bandwidth explains.

use rtolab_time::Instant;

use super::{AckAggregation, BW_UNIT, ModelContext, RateSample, State, packets};

/// The length of a window of the maximum, in round trips (`bbr_extra_acked_win_rtts`).
const WIN_RTTS: u32 = 5;
/// An epoch with this many segments ends (`bbr_ack_epoch_acked_reset_thresh`).
const EPOCH_ACKED_RESET: u64 = 1 << 20;
/// The longest silence that the window covers, in microseconds (`bbr_extra_acked_max_us`).
const MAX_MICROS: u64 = 100_000;

impl AckAggregation {
    /// Nothing is acknowledged yet in the epoch that begins.
    pub const fn begin_epoch(&mut self, at: Instant) {
        (self.ack_epoch_mstamp, self.ack_epoch_acked) = (at, 0);
    }
}

impl State {
    /// `bbr_ack_aggregation_cwnd`: segments beyond the BDP, so that data flows while ACKs pause.
    pub(super) fn ack_aggregation_cwnd(&self) -> u64 {
        if !self.full_bw_reached {
            return 0;
        }
        let [one, other] = self.aggregation.extra_acked;
        one.max(other).min(self.bw() * MAX_MICROS / BW_UNIT)
    }

    /// `bbr_update_ack_aggregation`
    pub(super) fn update_ack_aggregation(&mut self, rs: &RateSample, cx: &ModelContext<'_>) {
        let (bw, round_start) = (self.bw(), self.round_start);
        let own = &mut self.aggregation;
        if round_start {
            own.extra_acked_win_rtts += 1;
            if own.extra_acked_win_rtts >= WIN_RTTS {
                own.extra_acked_win_rtts = 0;
                own.extra_acked_win_idx = 1 - own.extra_acked_win_idx;
                own.extra_acked[own.extra_acked_win_idx] = 0;
            }
        }
        let acked = packets(rs.acked_sacked, cx);
        let micros = (cx.rate.delivered_at - own.ack_epoch_mstamp).nanos() / 1_000;
        let expected = u128::from(bw) * u128::from(micros) / u128::from(BW_UNIT);
        let mut expected = u64::try_from(expected).unwrap_or(u64::MAX);
        // An epoch ends once the data arrives no faster than expected.
        if own.ack_epoch_acked <= expected || own.ack_epoch_acked + acked >= EPOCH_ACKED_RESET {
            own.begin_epoch(cx.rate.delivered_at);
            expected = 0;
        }
        own.ack_epoch_acked += acked;
        let extra = (own.ack_epoch_acked - expected).min(packets(cx.window.cwnd(), cx));
        let most = &mut own.extra_acked[own.extra_acked_win_idx];
        *most = (*most).max(extra);
    }
}
