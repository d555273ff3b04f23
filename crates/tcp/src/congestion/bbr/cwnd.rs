//! The window of BBR version 1.

use super::{BBR_UNIT, BW_UNIT, CWND_MIN_TARGET, Mode, ModelContext, RateSample, State, packets};
use crate::ca_state::CaState;

/// The window before the first round trip is measured, in segments (`TCP_INIT_CWND`).
const INIT_CWND: u64 = 10;

/// `tcp_ca_state >= TCP_CA_Recovery`
const fn is_recovering(state: CaState) -> bool {
    matches!(state, CaState::Recovery | CaState::Loss)
}

impl State {
    /// `bbr_save_cwnd`: saves the last good window, before loss recovery or `BBR_PROBE_RTT`.
    pub(super) fn save_cwnd(&mut self, cwnd: u64) {
        let is_good = !is_recovering(self.prev_ca_state) && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if is_good { cwnd } else { self.prior_cwnd.max(cwnd) };
    }

    /// `bbr_bdp`: the segments in flight that fill the pipe, times `gain`.
    fn bdp(&self, bw: u64, gain: u64) -> u64 {
        let Some(min_rtt) = self.min_rtt else { return INIT_CWND };
        let product = u128::from(bw) * u128::from(min_rtt.nanos() / 1_000);
        let bdp = ((product * u128::from(gain)) >> 8).div_ceil(u128::from(BW_UNIT));
        u64::try_from(bdp).unwrap_or(u64::MAX)
    }

    /// `bbr_quantization_budget`: room for what hosts hold back.
    fn quantization_budget(&self, cwnd: u64, cx: &ModelContext<'_>) -> u64 {
        let cwnd = cwnd + 3 * cx.pacer.segments_goal(cx.window.smss());
        // An even number delays fewer ACKs.
        let even = cwnd.next_multiple_of(2);
        let probes = self.mode == Mode::ProbeBw && self.cycle_idx == 0;
        if probes { even + 2 } else { even }
    }

    /// `bbr_inflight`
    pub(super) fn inflight(&self, bw: u64, gain: u64, cx: &ModelContext<'_>) -> u64 {
        self.quantization_budget(self.bdp(bw, gain), cx)
    }

    /// `bbr_packets_in_net_at_edt`: the segments in flight when the next one may leave.
    pub(super) fn packets_in_net_at_edt(&self, inflight: u64, cx: &ModelContext<'_>) -> u64 {
        let micros = cx.pacer.delay(cx.at).nanos() / 1_000;
        let delivered = self.bw() * micros / BW_UNIT;
        let grows = self.pacing_gain > BBR_UNIT;
        let next = if grows { cx.pacer.segments_goal(cx.window.smss()) } else { 0 };
        (inflight + next).saturating_sub(delivered)
    }

    /// `bbr_set_cwnd`: slow start towards the target, or at once down to it.
    pub(super) fn set_cwnd(&mut self, rs: &RateSample, cx: &mut ModelContext<'_>) {
        let smss = cx.window.smss();
        if rs.acked_sacked > 0 {
            let cwnd = match self.set_cwnd_to_recover_or_restore(rs, cx) {
                Ok(conserving) => conserving,
                Err(cwnd) => self.towards_target(cwnd, rs, cx),
            };
            cx.window.set_cwnd(cwnd);
        }
        if self.mode == Mode::ProbeRtt {
            cx.window.limit_cwnd(CWND_MIN_TARGET * smss);
        }
    }

    /// The second half of `bbr_set_cwnd`.
    fn towards_target(&self, cwnd: u64, rs: &RateSample, cx: &ModelContext<'_>) -> u64 {
        let smss = cx.window.smss();
        let target = self.bdp(self.bw(), self.cwnd_gain) + self.ack_aggregation_cwnd();
        let target = self.quantization_budget(target, cx).saturating_mul(smss);
        let cwnd = match self.full_bw_reached {
            true => (cwnd + rs.acked_sacked).min(target),
            false if cwnd < target || packets(cx.rate.delivered, cx) < INIT_CWND => {
                cwnd + rs.acked_sacked
            }
            false => cwnd,
        };
        cwnd.max(CWND_MIN_TARGET * smss)
    }

    /// `bbr_set_cwnd_to_recover_or_restore`: `Ok` in the first round trip of a recovery, in which
    /// as much leaves as is delivered. After recovery the saved window returns.
    fn set_cwnd_to_recover_or_restore(
        &mut self,
        rs: &RateSample,
        cx: &ModelContext<'_>,
    ) -> Result<u64, u64> {
        let (before, state) = (self.prev_ca_state, cx.ca_state);
        let conserved = cx.pipe + rs.acked_sacked;
        let mut cwnd = cx.window.cwnd().saturating_sub(rs.losses).max(cx.window.smss());
        if state == CaState::Recovery && before != CaState::Recovery {
            self.packet_conservation = true;
            self.next_rtt_delivered = cx.rate.delivered;
            cwnd = conserved;
        } else if is_recovering(before) && !is_recovering(state) {
            cwnd = cwnd.max(self.prior_cwnd);
            self.packet_conservation = false;
        }
        self.prev_ca_state = state;
        if self.packet_conservation { Ok(cwnd.max(conserved)) } else { Err(cwnd) }
    }
}
