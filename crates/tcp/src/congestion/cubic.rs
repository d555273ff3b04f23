//! CUBIC: the window is a cubic function of the time since it was last cut (RFC 9438).
//!
//! Windows are segments here, times are seconds, as in the RFC; what it names keeps its name.
//! Where it counts acknowledgments this counts the segments that they acknowledge, so that a
//! receiver that acknowledges every second one does not halve the growth; it is the same where each
//! is acknowledged.

mod linux;

use rtolab_time::{Duration, Instant};

use super::{Acked, CongestionControl, Window};
use crate::config::{CubicConfig, CubicUndo};
pub(super) use linux::LinuxCubic;

/// How steep the curve is (`C`, section 5), in segments a cubed second.
const C: f64 = 0.4;

/// The largest target, in windows (section 4.2).
const MOST_GROWTH: f64 = 1.5;

/// A sender's place on the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cubic {
    config: CubicConfig,
    curve: Curve,
    /// The curve before a reduction that may prove spurious.
    prior: Option<Curve>,
    /// What the window has beyond its whole bytes, in bytes.
    fraction: f64,
}

/// The curve of one congestion avoidance, from one cut to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Curve {
    /// `W_max`: the window at the last cut; zero after a timeout, which forgets it.
    w_max: f64,
    /// `cwnd_prior`: the same without fast convergence.
    cwnd_prior: f64,
    /// The congestion avoidance under way, once something was acknowledged in it.
    epoch: Option<Epoch>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Epoch {
    /// When it began, idle times left out.
    t_epoch: Instant,
    /// `K`: when the curve is back at `W_max`.
    k: f64,
    /// `W_est`: the window of a Reno that is cut as little.
    w_est: f64,
}

impl Cubic {
    /// No reduction so far.
    pub fn new(config: CubicConfig) -> Self {
        Self { config, curve: Curve::default(), prior: None, fraction: 0.0 }
    }

    /// The congestion avoidance begins, unless it has (section 4.2, figure 2).
    fn begin_epoch(&mut self, cwnd: f64, at: Instant) {
        if self.curve.epoch.is_some() {
            return;
        }
        let w_max = self.curve.w_max.max(cwnd);
        let k = libm::cbrt((w_max - cwnd) / C);
        self.curve.w_max = w_max;
        self.curve.epoch = Some(Epoch { t_epoch: at, k, w_est: cwnd });
    }

    /// `t`, in seconds.
    fn elapsed(&self, at: Instant) -> f64 {
        self.curve.epoch.map_or(0.0, |epoch| at.since(epoch.t_epoch).secs_f64())
    }

    /// `W_cubic(t)` (section 4.2, figure 1).
    fn w_cubic(&self, t: f64) -> f64 {
        let t = t - self.curve.epoch.map_or(0.0, |epoch| epoch.k);
        C * t * t * t + self.curve.w_max
    }

    /// `W_est` after this many more segments (section 4.3, figure 4).
    fn reno_window(&mut self, cwnd: f64, segments: f64) -> Option<f64> {
        let (beta, prior) = (self.config.beta_cubic(), self.curve.cwnd_prior);
        let epoch = self.curve.epoch.as_mut()?;
        // As steep as lets it have the mean window of Reno; and as Reno above the last window.
        let alpha = match epoch.w_est < prior {
            true => 3.0 * (1.0 - beta) / (1.0 + beta),
            false => 1.0,
        };
        epoch.w_est += alpha * segments / cwnd;
        Some(epoch.w_est)
    }
}

impl CongestionControl for Cubic {
    /// Sections 4.2 to 4.5.
    fn congestion_avoidance(&mut self, window: &mut Window, acked: &Acked) {
        let smss = window.smss as f64;
        let cwnd = (window.cwnd as f64 + self.fraction) / smss;
        let segments = acked.bytes as f64 / smss;
        self.begin_epoch(cwnd, acked.at);
        let Some(w_est) = self.reno_window(cwnd, segments) else { return };
        let t = self.elapsed(acked.at);
        let cwnd = if self.config.reno_friendly && self.w_cubic(t) < w_est {
            w_est.max(cwnd)
        } else {
            // target = W_cubic(t + RTT), within cwnd and 1.5 * cwnd
            let target = self.w_cubic(t + acked.srtt.secs_f64());
            let target = target.clamp(cwnd, cwnd * MOST_GROWTH);
            // cwnd += (target - cwnd) / cwnd, for each segment
            cwnd + (target - cwnd) / cwnd * segments
        };
        let bytes = cwnd * smss;
        window.cwnd = bytes as u64;
        self.fraction = bytes - window.cwnd as f64;
    }

    /// The next congestion avoidance has a curve of its own (sections 4.6 and 4.7).
    fn on_loss(&mut self, bytes: u64, cwnd: u64, window: &Window) -> u64 {
        let cwnd = cwnd as f64 / window.smss as f64;
        let w_max = self.config.w_max(cwnd, self.curve.w_max);
        self.curve = Curve { w_max, cwnd_prior: cwnd, epoch: None };
        self.fraction = 0.0;
        self.config.ssthresh(bytes)
    }

    /// Congestion avoidance will begin with a flat curve (section 4.8).
    fn on_timeout(&mut self) {
        self.curve.w_max = 0.0;
        self.curve.epoch = None;
        self.fraction = 0.0;
    }

    /// Idle time does not count (section 4.2).
    fn after_idle(&mut self, idle: Duration) {
        if let Some(epoch) = &mut self.curve.epoch {
            epoch.t_epoch += idle;
        }
    }

    fn save(&mut self) {
        self.prior = Some(self.curve);
    }

    /// Section 4.9.2.
    fn undo(&mut self) {
        if let (CubicUndo::Rfc9438, Some(prior)) = (self.config.undo, self.prior.take()) {
            self.curve = prior;
        }
    }

    fn keeps_window(&self, before: u64, cwnd: u64) -> bool {
        self.config.keeps_window(before, cwnd)
    }
}

/// What both forms of CUBIC have.
impl CubicConfig {
    /// `beta_cubic` (section 4.6).
    fn beta_cubic(self) -> f64 {
        f64::from(self.beta) / 1000.0
    }

    /// `ssthresh = bytes * beta_cubic` (section 4.6).
    fn ssthresh(self, bytes: u64) -> u64 {
        bytes * u64::from(self.beta) / 1000
    }

    /// `W_max` where a window of `cwnd` segments is reduced, with fast convergence (section 4.7).
    fn w_max(self, cwnd: f64, last: f64) -> f64 {
        let converges = self.fast_convergence && cwnd < last;
        if converges { cwnd * f64::midpoint(1.0, self.beta_cubic()) } else { cwnd }
    }

    /// A window that has grown beyond what it was before stays (section 4.9.2).
    fn keeps_window(self, before: u64, cwnd: u64) -> bool {
        self.undo == CubicUndo::Rfc9438 && cwnd >= before
    }
}

#[cfg(test)]
mod tests;
