//! CUBIC: the window is a cubic function of the time since it was last cut (RFC 9438).
//!
//! Windows are segments here, times are seconds, as in the RFC; what it names keeps its name.
//! Where it counts acknowledgments this counts the segments that they acknowledge, so that a
//! receiver that acknowledges every second one does not halve the growth; it is the same where each
//! is acknowledged.

mod linux;

use rtolab_time::{Duration, Instant};

use super::Window;
use crate::config::{CubicConfig, CubicGrowth, CubicUndo};
use linux::Counts;

/// How steep the curve is (`C`, section 5), in segments a cubed second.
const C: f64 = 0.4;

/// No target is above so many windows (section 4.2).
const MOST_GROWTH: f64 = 1.5;

/// A sender's place on the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cubic {
    config: CubicConfig,
    curve: Curve,
    /// The curve before the cut that may turn out wrong.
    undo: Option<Curve>,
    /// What the window has beyond its whole bytes, in bytes.
    fraction: f64,
    counts: Counts,
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
    /// `t_epoch`, idle times left out.
    began: Instant,
    /// `K`: when the curve is back at `W_max`.
    k: f64,
    /// `W_est`: the window of a Reno that is cut as little.
    w_est: f64,
}

/// New data are acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledged {
    /// So many bytes.
    pub bytes: u64,
    /// When.
    pub at: Instant,
    /// The smoothed round trip, zero before there is one.
    pub srtt: Duration,
}

impl Cubic {
    /// Nothing was cut so far.
    pub(crate) fn new(config: CubicConfig) -> Self {
        Self {
            config,
            curve: Curve::default(),
            undo: None,
            fraction: 0.0,
            counts: Counts::default(),
        }
    }

    /// What a loss leaves of `bytes` (section 4.6).
    pub(crate) fn remainder(&self, bytes: u64) -> u64 {
        bytes * u64::from(self.config.beta) / 1000
    }

    /// The window of `cwnd` bytes is cut: the next congestion avoidance has a curve of its own
    /// (sections 4.6 and 4.7).
    pub(crate) fn cut(&mut self, cwnd: u64, smss: u64) {
        let cwnd = cwnd as f64 / smss as f64;
        let converges = self.config.fast_convergence && cwnd < self.curve.w_max;
        let w_max = if converges { cwnd * f64::midpoint(1.0, self.beta()) } else { cwnd };
        let w_max = match self.config.growth {
            CubicGrowth::Linux => libm::floor(w_max),
            CubicGrowth::Rfc9438 => w_max,
        };
        self.curve = Curve { w_max, cwnd_prior: cwnd, epoch: None };
        self.counts.cut();
        self.fraction = 0.0;
    }

    /// The retransmission timer expired: congestion avoidance will begin with a flat curve (section
    /// 4.8).
    pub(crate) fn on_timeout(&mut self) {
        self.curve.w_max = 0.0;
        self.counts = Counts::default();
        self.curve.epoch = None;
        self.fraction = 0.0;
    }

    /// Does a round trip that is measured now say nothing?
    pub(crate) fn is_settling(&self, at: Instant) -> bool {
        self.config.growth == CubicGrowth::Linux && self.counts.is_settling(at)
    }

    /// A round trip was measured.
    pub(crate) fn sample(&mut self, rtt: Duration) {
        self.counts.sample(rtt);
    }

    /// The curve is about to be left; whether for good is not known yet.
    pub(crate) fn save(&mut self) {
        self.undo = Some(self.curve);
    }

    /// Is a window of `cwnd` bytes left alone, though it is found that its cut from `before` was
    /// wrong (section 4.9.2)?
    pub(crate) fn has_outgrown(&self, before: u64, cwnd: u64) -> bool {
        self.config.undo == CubicUndo::Rfc9438 && cwnd >= before
    }

    /// The cut was wrong, and the windows are as before it (section 4.9.2).
    pub(crate) fn restore(&mut self) {
        if let (CubicUndo::Rfc9438, Some(curve)) = (self.config.undo, self.undo.take()) {
            self.curve = curve;
        }
    }

    /// Nothing was outstanding for so long: that time does not count (section 4.2).
    pub(crate) fn skip(&mut self, idle: Duration) {
        self.counts.skip(idle);
        if let Some(epoch) = &mut self.curve.epoch {
            epoch.began += idle;
        }
    }

    /// Something is acknowledged in congestion avoidance (sections 4.2 to 4.5).
    pub(crate) fn grow(&mut self, window: &mut Window, acked: &Acknowledged) {
        if self.config.growth == CubicGrowth::Linux {
            window.timed_out = false;
            let (w_max, beta) = (self.curve.w_max, self.beta());
            self.counts.grow(window, acked, w_max, beta);
            return;
        }
        let smss = window.smss as f64;
        let cwnd = (window.cwnd as f64 + self.fraction) / smss;
        let segments = acked.bytes as f64 / smss;
        window.timed_out = false;
        self.begin(cwnd, acked.at);
        let Some(w_est) = self.reno_window(cwnd, segments) else { return };
        let t = self.elapsed(acked.at);
        let grown = if self.config.reno_friendly && self.w_cubic(t) < w_est {
            w_est.max(cwnd)
        } else {
            let target = self.w_cubic(t + acked.srtt.secs_f64());
            let target = target.clamp(cwnd, cwnd * MOST_GROWTH);
            cwnd + (target - cwnd) / cwnd * segments
        };
        let bytes = grown * smss;
        window.cwnd = bytes as u64;
        self.fraction = bytes - window.cwnd as f64;
    }

    fn beta(&self) -> f64 {
        f64::from(self.config.beta) / 1000.0
    }

    /// The congestion avoidance begins, unless it has (section 4.2, figure 2).
    fn begin(&mut self, cwnd: f64, at: Instant) {
        if self.curve.epoch.is_some() {
            return;
        }
        let w_max = self.curve.w_max.max(cwnd);
        let k = libm::cbrt((w_max - cwnd) / C);
        self.curve.w_max = w_max;
        self.curve.epoch = Some(Epoch { began: at, k, w_est: cwnd });
    }

    /// `t`, in seconds.
    fn elapsed(&self, at: Instant) -> f64 {
        self.curve.epoch.map_or(0.0, |epoch| at.since(epoch.began).secs_f64())
    }

    /// `W_cubic(t)` (section 4.2, figure 1).
    fn w_cubic(&self, t: f64) -> f64 {
        let t = t - self.curve.epoch.map_or(0.0, |epoch| epoch.k);
        C * t * t * t + self.curve.w_max
    }

    /// `W_est`, after so many segments more (section 4.3, figure 4).
    fn reno_window(&mut self, cwnd: f64, segments: f64) -> Option<f64> {
        let (beta, prior) = (self.beta(), self.curve.cwnd_prior);
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

#[cfg(test)]
mod tests;
