//! The round-trip estimator and the retransmission timeout: RFC 6298 (2988), and as alternatives
//! those of Linux, ns-2 and BSD, and the Eifel retransmission timer.

mod adapt;
mod delayed_acks;
mod eifel;
mod linux;
mod rfc6298;
mod rto;
mod smoothing;
mod ticks;

use alloc::boxed::Box;
use alloc::sync::Arc;

use rtolab_time::{Duration, Instant};

use crate::config::{Arithmetic, Config, History, RtoConfig, RtoFloor, Sampling};
use crate::recovery::TailLossProbe;
use crate::seq::Seq;

pub use crate::estimate::Estimate;
pub(crate) use delayed_acks::DelayedAckTracker;
use linux::LinuxDeviation;
use rto::Rto;
use ticks::Ticks;

/// Estimates the round trip and derives the retransmission timeout.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct RttEstimator {
    /// The RTO without back-off, with its slop.
    rto: Rto,
    estimate: Option<Estimate>,
    /// The number of back-offs since the last sample.
    backoff: u32,
    /// The expected number of samples per window (RFC 7323 appendix G).
    expected_samples: u32,
    /// Is the estimate discarded, so that the next sample counts as the first?
    forgotten: bool,
    config: Arc<Config>,
    estimator: Estimator,
}

/// The rules of the estimator, with their state in addition to SRTT and RTTVAR.
#[derive(Clone, Debug)]
enum Estimator {
    Rfc6298,
    Linux(Box<LinuxDeviation>),
    Eifel,
    Ticks(Ticks),
}

impl Estimator {
    fn new(config: &RtoConfig) -> Self {
        match (config.arithmetic, config.floor) {
            (Arithmetic::Ns2 | Arithmetic::Bsd, _) => Self::Ticks(Ticks::NONE),
            (Arithmetic::Eifel, _) => Self::Eifel,
            (Arithmetic::Exact, RtoFloor::Variance(_)) => Self::Linux(Box::default()),
            (Arithmetic::Exact, _) => Self::Rfc6298,
        }
    }
}

impl RttEstimator {
    /// An estimator without samples, with the initial RTO (RFC 6298 section 2.1).
    pub fn new(config: Arc<Config>) -> Self {
        Self {
            rto: Rto::new(config.rto.initial, Duration::ZERO, &config.rto),
            estimator: Estimator::new(&config.rto),
            config,
            estimate: None,
            backoff: 0,
            expected_samples: 1,
            forgotten: false,
        }
    }

    /// SRTT and RTTVAR; `None` before the first sample.
    pub const fn estimate(&self) -> Option<Estimate> {
        self.estimate
    }

    /// The current RTO, back-off included (RFC 6298 sections 2.4, 2.5 and 5.5).
    #[inline]
    pub fn rto(&self) -> Duration {
        let floored = !matches!(self.config.rto.floor, RtoFloor::BackedOff(_));
        if self.backoff == 0 && floored {
            return self.rto.get();
        }
        match self.config.rto.floor {
            RtoFloor::BackedOff(floor) => self.timeout_with_backoff(Duration::ZERO, floor),
            _ => self.timeout_with_backoff(Duration::ZERO, Duration::ZERO),
        }
    }

    /// The time until a tail loss probe (RFC 8985 section 7.2). `is_single`: one segment is
    /// outstanding.
    pub fn probe_timeout(&self, is_single: bool) -> Duration {
        let srtt = self.estimate.map(|known| known.srtt);
        TailLossProbe::pto(srtt, is_single, &self.config.recovery.rack)
    }

    /// The current RTO, whose value before the back-off is not below `floor`.
    pub fn rto_above(&self, floor: Duration) -> Duration {
        self.timeout_with_backoff(floor, Duration::ZERO)
    }

    fn timeout_with_backoff(&self, min_rto: Duration, least: Duration) -> Duration {
        let slop = self.estimate.map_or(Duration::ZERO, |_| self.config.rto.slop);
        let after =
            |backoff| self.rto.with_backoff(backoff, (min_rto, least, slop), &self.config.rto);
        match self.config.backoff.cap {
            None => after(self.backoff),
            Some(cap) => after(self.backoff).min(cap.max(after(0))),
        }
    }

    /// The number of back-offs since the last sample.
    pub const fn backoff(&self) -> u32 {
        self.backoff
    }

    /// Backs the timer off after it expired (RFC 6298 section 5.5).
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(63);
        let forget_after = match (self.config.rto.forget_after, self.config.rto.arithmetic) {
            (None, Arithmetic::Exact | Arithmetic::Eifel) => return,
            (None, Arithmetic::Ns2 | Arithmetic::Bsd) => ticks::FORGET_AFTER,
            (Some(count), _) => count,
        };
        if self.backoff > forget_after {
            self.forgotten = true;
            if let Estimator::Ticks(ticks) = &mut self.estimator {
                *ticks = Ticks::NONE;
            }
        }
    }

    /// Ends the back-off without a sample.
    pub(crate) const fn end_backoff(&mut self) {
        self.backoff = 0;
    }

    /// Takes back one back-off (RFC 6069 section 3).
    pub(crate) const fn revert_backoff(&mut self) {
        self.backoff = self.backoff.saturating_sub(1);
    }

    /// Sets the expected number of samples per window (RFC 7323 appendix G). `flight_size` bytes
    /// were outstanding before the acknowledgment of the next sample. The receiver is assumed to
    /// acknowledge every second segment.
    #[inline]
    pub fn expect_samples(&mut self, flight_size: u64, smss: u64) {
        let acks = || flight_size.div_ceil(2 * smss);
        let samples = match (self.config.rto.arithmetic, self.config.rto.sampling) {
            (Arithmetic::Eifel, Sampling::EverySegment) => flight_size.div_ceil(smss),
            (Arithmetic::Eifel, Sampling::EveryAck | Sampling::Linux) => acks(),
            (Arithmetic::Eifel, Sampling::OncePerWindow) => 1,
            _ if self.config.rto.history == History::Windows => acks(),
            _ => return,
        };
        self.expected_samples = samples.clamp(1, 1 << 20) as u32;
    }

    /// Changes the configuration. The estimate stays.
    pub(crate) fn reconfigure(&mut self, config: Arc<Config>) {
        self.estimator = match (Estimator::new(&config.rto), &self.estimator) {
            (Estimator::Ticks(_), _) => Estimator::Ticks(Ticks::of(self.estimate, &config.rto)),
            (Estimator::Linux(_), Estimator::Linux(before)) => Estimator::Linux(before.clone()),
            (estimator, _) => estimator,
        };
        self.rto = Rto::new(self.rto.get(), Duration::ZERO, &config.rto);
        self.config = config;
        self.expected_samples = 1;
    }

    /// Reinitialises the RTO when data transmission begins after a SYN timeout: without a sample it
    /// is not backed off, and at least 3 s, but never above its maximum (RFC 6298 section 5.7).
    /// With timestamps the handshake gives a sample in spite of the retransmission (section 3), and
    /// the RTO follows from it, as in Linux (`tcp_init_metrics`).
    pub fn restart_after_syn(&mut self) {
        if self.estimate.is_none() {
            self.backoff = 0;
            self.rto = Rto::new(self.rto.get(), Duration::from_secs(3), &self.config.rto);
        }
    }

    /// The round trip from `sent` to `at` at the granularity of the clock: whole ticks, at least
    /// one. With the arithmetic of BSD it may be zero, because that adds a tick itself.
    #[inline]
    pub fn measure(&self, sent: Instant, at: Instant) -> Duration {
        let tick = self.config.rto.granularity.nanos();
        if tick == 0 {
            return at.since(sent);
        }
        let ticks = (at.nanos() / tick).saturating_sub(sent.nanos() / tick);
        let least = u64::from(self.config.rto.arithmetic != Arithmetic::Bsd);
        Duration::from_nanos(ticks.max(least) * tick)
    }

    /// Takes a sample (RFC 6298 sections 2.2 and 2.3), and ends the back-off. The rules of Linux
    /// need `una` and `max` to find the end of a window.
    #[inline(always)]
    pub fn sample(&mut self, rtt: Duration, una: Seq, max: Seq) {
        self.backoff = 0;
        let samples = self.expected_samples;
        let smoothed = match &mut self.estimator {
            Estimator::Ticks(ticks) => ticks.smooth(rtt, &self.config.rto),
            Estimator::Rfc6298 => {
                let last = self.prior_estimate();
                rfc6298::smooth(last, rtt, samples, &self.config.rto)
            }
            Estimator::Eifel => {
                let last = self.prior_estimate();
                eifel::smooth(last, rtt, samples, &self.config.rto)
            }
            Estimator::Linux(_) => {
                let last = self.prior_estimate();
                let Estimator::Linux(linux) = &mut self.estimator else { return };
                linux.smooth(last, rtt, (una, max), &self.config.rto)
            }
        };
        self.estimate = Some(smoothed.estimate);
        let rto = smoothed.rto.max(smoothed.min_rto) + self.config.rto.slop;
        self.rto = Rto::new(rto, Duration::ZERO, &self.config.rto);
    }

    /// The estimate before a sample, unless many back-offs have discarded it.
    #[inline]
    fn prior_estimate(&mut self) -> Option<Estimate> {
        let forgotten = core::mem::take(&mut self.forgotten);
        self.estimate.filter(|_| !forgotten)
    }
}

#[cfg(test)]
mod tests;
