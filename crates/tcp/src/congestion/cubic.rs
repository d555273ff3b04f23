//! CUBIC: the window is a cubic function of the time since it was last reduced (RFC 9438).
//!
//! Windows are in segments and times in seconds, as in the RFC, whose formulas stand beside the
//! code. Where the RFC increases cwnd for each new acknowledgment, this does so for each segment
//! acknowledged (`segments_acked`), so that delayed acknowledgments do not halve the growth.

mod linux;

use rtolab_time::Instant;

use super::{Acked, CongestionControl, Window};
use crate::config::{CubicConfig, CubicUndo};
pub(super) use linux::LinuxCubic;

/// `C` (section 5), in segments per cubed second.
const C: f64 = 0.4;

/// The state of CUBIC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cubic {
    config: CubicConfig,
    curve: Curve,
    /// The curve before a reduction that may prove spurious.
    prior: Option<Curve>,
    /// The fraction of a byte that the window has beyond `cwnd`, in bytes.
    fraction: f64,
}

/// The curve of one congestion avoidance stage, from one reduction to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Curve {
    /// `W_max`: the window before the last reduction, after fast convergence; zero after a timeout,
    /// which resets it.
    w_max: f64,
    /// `cwnd_prior`: the window before the last reduction.
    cwnd_prior: f64,
    /// The current congestion avoidance stage, once data was acknowledged in it.
    epoch: Option<Epoch>,
}

/// The variables of one congestion avoidance stage.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Epoch {
    /// `t_epoch`: when it began, moved by the idle times since.
    t_epoch: Instant,
    /// `K`: the time in which the curve reaches `W_max` again.
    k: f64,
    /// `W_est`: the estimated window of Reno with the same reduction.
    w_est: f64,
}

impl Cubic {
    /// The state before the first reduction.
    pub fn new(config: CubicConfig) -> Self {
        Self { config, curve: Curve::default(), prior: None, fraction: 0.0 }
    }

    /// Begins a congestion avoidance stage, unless one has begun (section 4.2, figure 2). After a
    /// timeout, or after slow start without a loss, W_max is cwnd_epoch and K is 0 (sections 4.8
    /// and 4.10).
    fn begin_epoch(&mut self, cwnd_epoch: f64, at: Instant) {
        if self.curve.epoch.is_some() {
            return;
        }
        let w_max = self.curve.w_max.max(cwnd_epoch);
        // K = cubic_root ((W_max - cwnd_epoch) / C)
        let k = libm::cbrt((w_max - cwnd_epoch) / C);
        self.curve.w_max = w_max;
        // "W_est is set equal to cwnd_epoch at the start of the congestion avoidance stage."
        self.curve.epoch = Some(Epoch { t_epoch: at, k, w_est: cwnd_epoch });
    }

    /// t = current_time - t_epoch
    fn t(&self, at: Instant) -> f64 {
        self.curve.epoch.map_or(0.0, |epoch| at.since(epoch.t_epoch).secs_f64())
    }

    /// Section 4.2, figure 1: W_cubic(t) = C * (t - K)^3 + W_max
    fn w_cubic(&self, t: f64) -> f64 {
        let t_k = t - self.curve.epoch.map_or(0.0, |epoch| epoch.k);
        C * t_k * t_k * t_k + self.curve.w_max
    }

    /// Section 4.3, figure 4: updates and returns W_est.
    fn update_w_est(&mut self, cwnd: f64, segments_acked: f64) -> Option<f64> {
        let (beta_cubic, cwnd_prior) = (self.config.beta_cubic(), self.curve.cwnd_prior);
        let epoch = self.curve.epoch.as_mut()?;
        let alpha_cubic = match epoch.w_est < cwnd_prior {
            // alpha_cubic = 3 * (1 - beta_cubic) / (1 + beta_cubic)
            true => 3.0 * (1.0 - beta_cubic) / (1.0 + beta_cubic),
            // "Once W_est has grown to reach the cwnd at the time of most recently setting
            // ssthresh", alpha_cubic = 1
            false => 1.0,
        };
        // W_est = W_est + alpha_cubic * segments_acked / cwnd
        epoch.w_est += alpha_cubic * segments_acked / cwnd;
        Some(epoch.w_est)
    }
}

impl CongestionControl for Cubic {
    /// Sections 4.2 to 4.5.
    fn congestion_avoidance(&mut self, window: &mut Window, acked: &Acked) {
        let smss = window.smss() as f64;
        let cwnd = (window.cwnd() as f64 + self.fraction) / smss;
        let segments_acked = acked.bytes as f64 / smss;
        self.begin_epoch(cwnd, acked.at);
        let Some(w_est) = self.update_w_est(cwnd, segments_acked) else { return };
        let (t, rtt) = (self.t(acked.at), acked.srtt.secs_f64());
        let cwnd = if self.config.reno_friendly && self.w_cubic(t) < w_est {
            // Section 4.3, the Reno-friendly region: "cwnd SHOULD be set to W_est". We never reduce
            // it to W_est.
            w_est.max(cwnd)
        } else {
            // Section 4.2, figure 3: target = W_cubic(t + RTT), from cwnd to 1.5 * cwnd
            let target = self.w_cubic(t + rtt).clamp(cwnd, 1.5 * cwnd);
            // Sections 4.4 and 4.5: cwnd = cwnd + (target - cwnd) / cwnd
            cwnd + (target - cwnd) / cwnd * segments_acked
        };
        let bytes = cwnd * smss;
        window.set_cwnd(bytes as u64);
        self.fraction = bytes - window.cwnd() as f64;
    }

    /// Sections 4.6 and 4.7: the next congestion avoidance stage has a new curve.
    fn on_loss(&mut self, bytes: u64, cwnd: u64, window: &Window) -> u64 {
        // cwnd_prior = cwnd
        let cwnd_prior = cwnd as f64 / window.smss() as f64;
        let w_max = self.config.w_max(cwnd_prior, self.curve.w_max);
        self.curve = Curve { w_max, cwnd_prior, epoch: None };
        self.fraction = 0.0;
        self.config.ssthresh(bytes)
    }

    /// Section 4.8: "K is set to 0, and W_max is set to the congestion window size at the beginning
    /// of the current congestion avoidance stage."
    fn on_timeout(&mut self) {
        self.curve.w_max = 0.0;
        self.curve.epoch = None;
        self.fraction = 0.0;
    }

    /// Section 4.2: `t` "MUST NOT include periods during which cwnd has not been updated due to
    /// application-limited behavior". The stage may have begun in such a period.
    fn after_idle(&mut self, since: Instant, until: Instant) {
        if let Some(epoch) = &mut self.curve.epoch {
            epoch.t_epoch = (epoch.t_epoch + (until - since)).min(until);
        }
    }

    fn save(&mut self) {
        self.prior = Some(self.curve);
    }

    /// Section 4.9.2: restores K, W_max, cwnd_prior, t_epoch and W_est.
    fn undo(&mut self) {
        if let (CubicUndo::Rfc9438, Some(prior)) = (self.config.undo, self.prior.take()) {
            self.curve = prior;
        }
    }

    fn keeps_window(&self, before: u64, cwnd: u64) -> bool {
        self.config.keeps_window(before, cwnd)
    }
}

/// The formulas that both variants of CUBIC share.
impl CubicConfig {
    /// `beta_cubic` (section 4.6).
    fn beta_cubic(self) -> f64 {
        f64::from(self.beta) / 1000.0
    }

    /// Section 4.6: ssthresh = flight_size * beta_cubic
    fn ssthresh(self, flight_size: u64) -> u64 {
        flight_size * u64::from(self.beta) / 1000
    }

    /// The new `W_max` when a window of `cwnd` segments is reduced (section 4.7).
    fn w_max(self, cwnd: f64, w_max: f64) -> f64 {
        match self.fast_convergence && cwnd < w_max {
            // W_max = cwnd * (1 + beta_cubic) / 2
            true => cwnd * f64::midpoint(1.0, self.beta_cubic()),
            false => cwnd,
        }
    }

    /// Section 4.9.2: the window is restored "if (cwnd < undo_cwnd)", else it stays.
    fn keeps_window(self, before: u64, cwnd: u64) -> bool {
        self.undo == CubicUndo::Rfc9438 && cwnd >= before
    }
}

#[cfg(test)]
mod tests;
