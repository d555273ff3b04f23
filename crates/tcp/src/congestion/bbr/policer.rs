//! BBR's detection of policers (token buckets; Flach et al., "An Internet-Wide Analysis of Traffic
//! Policing", SIGCOMM 2016): two intervals with many losses and the same throughput.

use rtolab_time::Duration;

use super::{BBR_UNIT, LongTermBandwidth, Mode, ModelContext, RateSample, State};
use crate::congestion::rate::RateSampler;

/// The least length of an interval in round trips (`bbr_lt_intvl_min_rtts`).
const INTVL_MIN_RTTS: u32 = 4;
/// The losses per delivered segment of a lossy interval, in 256ths (`bbr_lt_loss_thresh`).
const LOSS_THRESH: u64 = 50;
/// Two bandwidths are consistent if they differ by at most an eighth (`bbr_lt_bw_ratio`).
const BW_RATIO: u64 = BBR_UNIT / 8;
/// Two bandwidths are consistent if they differ by at most this, in bytes per second
/// (`bbr_lt_bw_diff`).
const BW_DIFF: u64 = 4000 / 8;
/// The bandwidth of a policer is used for this many round trips (`bbr_lt_bw_max_rtts`).
const BW_MAX_RTTS: u32 = 48;

impl LongTermBandwidth {
    /// The bandwidth of a policer, while it is used.
    pub fn in_use(&self) -> Option<u64> {
        self.lt_use_bw.then_some(self.lt_bw)
    }

    /// `bbr_reset_lt_bw_sampling`
    pub fn reset(&mut self, rate: &RateSampler) {
        (self.lt_bw, self.lt_use_bw, self.lt_is_sampling) = (0, false, false);
        self.begin_interval(rate);
    }

    /// `bbr_reset_lt_bw_sampling_interval`
    fn begin_interval(&mut self, rate: &RateSampler) {
        self.lt_last_stamp = rate.delivered_at;
        self.lt_last_delivered = rate.delivered;
        self.lt_last_lost = rate.lost;
        self.lt_rtt_cnt = 0;
    }

    /// The bandwidth of the interval, if it was lossy.
    fn lossy_bandwidth(&self, cx: &ModelContext<'_>) -> Option<u64> {
        let lost = cx.rate.lost - self.lt_last_lost;
        let delivered = cx.rate.delivered - self.lt_last_delivered;
        if delivered == 0 || lost << 8 < LOSS_THRESH * delivered {
            return None;
        }
        let interval = cx.rate.delivered_at - self.lt_last_stamp;
        let is_long = interval >= Duration::from_millis(1);
        is_long.then(|| super::bandwidth(delivered, interval, cx))
    }
}

impl State {
    /// `bbr_lt_bw_sampling`
    pub(super) fn lt_bw_sampling(&mut self, rs: &RateSample, cx: &ModelContext<'_>) {
        if self.lt.lt_use_bw {
            if self.mode == Mode::ProbeBw && self.round_start {
                self.lt.lt_rtt_cnt += 1;
                if self.lt.lt_rtt_cnt >= BW_MAX_RTTS {
                    self.lt.reset(cx.rate);
                    self.reset_probe_bw_mode(cx);
                }
            }
            return;
        }
        if !self.lt.lt_is_sampling {
            // The tokens are exhausted at the first loss.
            if rs.losses == 0 {
                return;
            }
            self.lt.begin_interval(cx.rate);
            self.lt.lt_is_sampling = true;
        }
        if rs.is_app_limited {
            self.lt.reset(cx.rate);
            return;
        }
        self.lt.lt_rtt_cnt += u32::from(self.round_start);
        if self.lt.lt_rtt_cnt > 4 * INTVL_MIN_RTTS {
            self.lt.reset(cx.rate);
            return;
        }
        // An interval ends with a loss, when the tokens are exhausted again.
        if self.lt.lt_rtt_cnt < INTVL_MIN_RTTS || rs.losses == 0 {
            return;
        }
        if let Some(bw) = self.lt.lossy_bandwidth(cx) {
            self.lt_bw_interval_done(bw, cx);
        }
    }

    /// `bbr_lt_bw_interval_done`
    fn lt_bw_interval_done(&mut self, bw: u64, cx: &ModelContext<'_>) {
        let before = self.lt.lt_bw;
        let diff = bw.abs_diff(before);
        let bytes = Self::rate_bytes_per_sec(diff, BBR_UNIT, cx.window.smss());
        let consistent = diff * BBR_UNIT <= BW_RATIO * before || bytes <= BW_DIFF;
        if before > 0 && consistent {
            self.lt.lt_bw = u64::midpoint(bw, before);
            self.lt.lt_use_bw = true;
            self.lt.lt_rtt_cnt = 0;
            self.pacing_gain = BBR_UNIT;
            return;
        }
        self.lt.lt_bw = bw;
        self.lt.begin_interval(cx.rate);
    }
}
