//! Pacing rate, send quantum and window (draft-ietf-ccwg-bbr-06 section 5.6).

use super::path::data_of;
use super::{BbrState, INFINITY, MIN_PIPE_CWND, Model, ModelContext, RateSample};

/// `BBR.PacingMarginPercent`
const PACING_MARGIN_PERCENT: u64 = 1;
/// The largest send quantum, in bytes.
const MOST_QUANTUM: u64 = 64 * 1024;
/// `BBR.DefaultCwndGain`
const DEFAULT_CWND_GAIN: u64 = 200;
/// `BBR.StartupPacingGain`
const STARTUP_PACING_GAIN: u64 = 277;

impl Model {
    /// `BBR.pacing_gain` (section 5.6.1)
    pub(super) const fn pacing_gain(&self) -> u64 {
        match self.state {
            BbrState::Startup => STARTUP_PACING_GAIN,
            BbrState::Drain => 50,
            BbrState::ProbeBwDown => 90,
            BbrState::ProbeBwUp => 125,
            BbrState::ProbeBwCruise | BbrState::ProbeBwRefill | BbrState::ProbeRtt => 100,
        }
    }

    /// `BBR.cwnd_gain` (section 5.6.1)
    pub(super) const fn cwnd_gain(&self) -> u64 {
        match self.state {
            BbrState::ProbeBwUp => 225,
            BbrState::ProbeRtt => 50,
            _ => DEFAULT_CWND_GAIN,
        }
    }

    /// `InitPacingRate` (section 5.6.2)
    pub(super) fn init_pacing_rate(&mut self, cx: &mut ModelContext<'_>) {
        self.has_seen_rtt |= cx.srtt.is_some();
        let nanos = cx.srtt.map_or(1_000_000, |srtt| srtt.nanos().max(1));
        let gained = u128::from(cx.initial_window * STARTUP_PACING_GAIN / 100);
        let rate = gained * 1_000_000_000 / u128::from(nanos);
        cx.pacer.set_rate(u64::try_from(rate).unwrap_or(u64::MAX));
    }

    /// `SetPacingRateWithGain` (section 5.6.2)
    pub(super) fn set_pacing_rate_with_gain(&mut self, gain: u64, cx: &mut ModelContext<'_>) {
        if !self.has_seen_rtt && cx.srtt.is_some() {
            self.init_pacing_rate(cx);
        }
        let rate = u128::from(self.bw) * u128::from(gain * (100 - PACING_MARGIN_PERCENT)) / 10_000;
        let rate = u64::try_from(rate).unwrap_or(u64::MAX);
        if self.full_bw_reached || cx.pacer.rate().is_none_or(|before| rate > before) {
            cx.pacer.set_rate(rate);
        }
    }

    /// `SetPacingRate` (section 5.6.2)
    pub(super) fn set_pacing_rate(&mut self, cx: &mut ModelContext<'_>) {
        self.set_pacing_rate_with_gain(self.pacing_gain(), cx);
    }

    /// `SetSendQuantum` (section 5.6.3)
    fn send_quantum(cx: &ModelContext<'_>) -> u64 {
        let quantum = data_of(cx.pacer.rate().unwrap_or(INFINITY), 1_000_000);
        quantum.min(MOST_QUANTUM).max(2 * cx.window.smss())
    }

    /// `BDPMultiple` (section 5.6.4.2)
    pub(super) fn bdp_multiple(&self, gain: u64, cx: &ModelContext<'_>) -> u64 {
        self.bdp_of(self.bw, gain, cx)
    }

    fn bdp_of(&self, bw: u64, gain: u64, cx: &ModelContext<'_>) -> u64 {
        let Some(min_rtt) = self.min_rtt else { return cx.initial_window };
        data_of(bw, min_rtt.nanos()).saturating_mul(gain) / 100
    }

    /// `QuantizationBudget` with `UpdateOffloadBudget` (sections 5.6.4.2 and 5.5.8.1)
    fn quantization_budget(&self, inflight_cap: u64, cx: &ModelContext<'_>) -> u64 {
        let smss = cx.window.smss();
        let least = (3 * Self::send_quantum(cx)).max(MIN_PIPE_CWND * smss);
        let probes = self.state == BbrState::ProbeBwUp;
        inflight_cap.max(least) + if probes { 2 * smss } else { 0 }
    }

    /// `Inflight` (section 5.6.4.2)
    pub(super) fn inflight(&self, gain: u64, cx: &ModelContext<'_>) -> u64 {
        self.quantization_budget(self.bdp_multiple(gain, cx), cx)
    }

    /// `Inflight(max_bw, 1.0)` (section 5.3.3.6)
    pub(super) fn inflight_of_max_bw(&self, cx: &ModelContext<'_>) -> u64 {
        self.quantization_budget(self.bdp_of(self.max_bw(), 100, cx), cx)
    }

    /// `SaveCwnd` (section 5.6.4.4)
    pub(super) fn save_cwnd(&mut self, cwnd: u64) {
        let is_good = !self.recovering && self.state != BbrState::ProbeRtt;
        self.prior_cwnd = if is_good { cwnd } else { self.prior_cwnd.max(cwnd) };
    }

    /// `RestoreCwnd` (section 5.6.4.4)
    pub(super) fn restore_cwnd(&self, cx: &mut ModelContext<'_>) {
        let cwnd = cx.window.cwnd().max(self.prior_cwnd);
        cx.window.set_cwnd(cwnd);
    }

    /// `ProbeRTTCwnd` (section 5.6.4.5)
    pub(super) fn probe_rtt_cwnd(&self, cx: &ModelContext<'_>) -> u64 {
        self.bdp_multiple(self.cwnd_gain(), cx).max(MIN_PIPE_CWND * cx.window.smss())
    }

    /// `SetCwnd` (section 5.6.4.6)
    pub(super) fn set_cwnd(&mut self, rs: &RateSample, cx: &mut ModelContext<'_>) {
        let (smss, cwnd) = (cx.window.smss(), cx.window.cwnd());
        // UpdateMaxInflight
        let max_inflight = self.bdp_multiple(self.cwnd_gain(), cx) + self.extra_acked;
        let max_inflight = self.quantization_budget(max_inflight, cx);
        let grown = cwnd + rs.acked_sacked;
        let cwnd = match self.full_bw_reached {
            true => grown.min(max_inflight),
            false if cwnd < max_inflight || cx.rate.delivered < cx.initial_window => grown,
            false => cwnd,
        };
        cx.window.set_cwnd(cwnd.max(MIN_PIPE_CWND * smss));
        // BoundCwndForProbeRTT
        if self.state == BbrState::ProbeRtt {
            cx.window.limit_cwnd(self.probe_rtt_cwnd(cx));
        }
        self.bound_cwnd_for_model(cx);
    }

    /// `BoundCwndForModel` (section 5.6.4.7)
    fn bound_cwnd_for_model(&self, cx: &mut ModelContext<'_>) {
        let cap = match self.state {
            BbrState::ProbeBwDown | BbrState::ProbeBwRefill | BbrState::ProbeBwUp => {
                self.inflight_longterm
            }
            BbrState::ProbeRtt | BbrState::ProbeBwCruise => self.inflight_with_headroom(cx),
            BbrState::Startup | BbrState::Drain => INFINITY,
        };
        let cap = cap.min(self.inflight_shortterm);
        cx.window.limit_cwnd(cap.max(MIN_PIPE_CWND * cx.window.smss()));
    }
}
