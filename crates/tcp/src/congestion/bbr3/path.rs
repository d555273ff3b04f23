//! The model of the path: rounds, bandwidth and aggregation (draft-ietf-ccwg-bbr-06 sections 5.5.1
//! to 5.5.9).

use super::{Model, ModelContext, RateSample};

/// `BBR.ExtraAckedFilterLen`, in round trips.
const EXTRA_ACKED_FILTER_LEN: u64 = 10;

impl RateSample {
    /// `RS.delivery_rate` in bytes per second; zero without a valid sample.
    pub(super) fn delivery_rate(&self) -> u64 {
        self.delivered.map_or(0, |(delivered, interval)| {
            let rate = u128::from(delivered) * 1_000_000_000 / u128::from(interval.nanos().max(1));
            u64::try_from(rate).unwrap_or(u64::MAX)
        })
    }
}

impl Model {
    /// `UpdateRound` (section 5.5.1)
    fn update_round(&mut self, prior_delivered: u64, cx: &ModelContext<'_>) {
        self.round_start = prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.start_round(cx);
            self.round_count += 1;
            self.rounds_since_probe_up += 1;
            self.is_cwnd_limited = (self.is_cwnd_limited.1, false);
        }
        self.is_cwnd_limited.1 |= cx.is_cwnd_limited;
        self.is_cwnd_limited.0 |= cx.is_cwnd_limited;
    }

    /// `StartRound` (section 5.5.1)
    pub(super) fn start_round(&mut self, cx: &ModelContext<'_>) {
        self.next_round_delivered = cx.rate.delivered;
    }

    /// `BBR.max_bw` (section 5.5.3)
    pub(super) fn max_bw(&self) -> u64 {
        self.max_bw_filter[0].max(self.max_bw_filter[1])
    }

    /// `UpdateMaxBw` (section 5.5.5)
    pub(super) fn update_max_bw(&mut self, rs: &RateSample, cx: &ModelContext<'_>) {
        let Some(prior_delivered) = rs.prior_delivered else {
            self.round_start = false;
            return;
        };
        self.update_round(prior_delivered, cx);
        let rate = rs.delivery_rate();
        if rate > 0 && (rate >= self.max_bw() || !rs.is_app_limited) {
            self.max_bw_filter[1] = self.max_bw_filter[1].max(rate);
        }
    }

    /// `AdvanceMaxBwFilter` (section 5.5.6). A cycle without a sample does not end.
    pub(super) fn advance_max_bw_filter(&mut self) {
        if self.max_bw_filter[1] > 0 {
            self.max_bw_filter = [self.max_bw_filter[1], 0];
        }
    }

    /// `UpdateACKAggregation` (section 5.5.9)
    pub(super) fn update_ack_aggregation(&mut self, rs: &RateSample, cx: &ModelContext<'_>) {
        let interval = cx.at - self.extra_acked_interval_start;
        let mut expected = data_of(self.bw, interval.nanos());
        if self.extra_acked_delivered <= expected {
            self.extra_acked_delivered = 0;
            self.extra_acked_interval_start = cx.at;
            expected = 0;
        }
        self.extra_acked_delivered += rs.acked_sacked;
        let extra = (self.extra_acked_delivered - expected).min(cx.window.cwnd());
        let filter_len = if self.full_bw_reached { EXTRA_ACKED_FILTER_LEN } else { 1 };
        self.extra_acked = self.extra_acked_filter.update(filter_len, (self.round_count, extra));
    }
}

/// The bytes that a rate in bytes per second delivers in some nanoseconds.
pub(super) fn data_of(rate: u64, nanos: u64) -> u64 {
    let bytes = u128::from(rate) * u128::from(nanos) / 1_000_000_000;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
