//! The retransmission timeout: RFC 6298 (2988), with the floor of Linux and the arithmetic of ns-2
//! and of BSD as alternatives, and the Eifel retransmission timer.

mod adapt;
mod eifel;
mod parity;
mod ticks;

use alloc::boxed::Box;
use alloc::sync::Arc;

use rtolab_time::{Duration, Instant};

use crate::config::{Arithmetic, Config, History, RtoFloor, Sampling};
use crate::seq::Seq;
pub(crate) use parity::Trains;
use ticks::Ticks;

/// Estimates the round trip and derives the retransmission timeout.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct RttEstimator {
    /// The timeout without back-off, within floor and ceiling, with its slop.
    rto: Duration,
    estimate: Option<Estimate>,
    /// How often the timer was backed off since the last sample.
    backoff: u32,
    /// How many samples a window is expected to give (RFC 7323 appendix G).
    expected_samples: u32,
    /// Is the next sample taken for the first one?
    forgotten: bool,
    config: Arc<Config>,
    /// Where Linux's rule holds, once there was a sample.
    linux: Option<Box<LinuxDeviation>>,
    ticks: Ticks,
}

/// SRTT and RTTVAR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The smoothed round-trip time.
    pub srtt: Duration,
    /// Its variation: smoothed, or with [`RtoFloor::Variance`] a quarter of what is added to SRTT.
    pub rttvar: Duration,
}

/// The state of Linux's `tcp_rtt_estimator`: the largest deviation of a window.
#[derive(Clone, Copy, Debug, Default)]
struct LinuxDeviation {
    mdev: u64,
    mdev_max: u64,
    window_end: Seq,
}

impl RttEstimator {
    /// No sample yet: the timeout is the initial one (RFC 6298 section 2.1).
    pub fn new(config: Arc<Config>) -> Self {
        Self {
            rto: config.rto.initial,
            config,
            estimate: None,
            backoff: 0,
            linux: None,
            ticks: Ticks::NONE,
            expected_samples: 1,
            forgotten: false,
        }
    }

    /// SRTT and RTTVAR, once there was a sample.
    pub const fn estimate(&self) -> Option<Estimate> {
        self.estimate
    }

    /// The timeout in force, back-off included (RFC 6298 sections 2.4, 2.5 and 5.5).
    #[inline]
    pub fn rto(&self) -> Duration {
        let floored = !matches!(self.config.rto.floor, RtoFloor::BackedOff(_));
        if self.backoff == 0 && floored {
            return self.rto;
        }
        match self.config.rto.floor {
            RtoFloor::BackedOff(floor) => self.backed_off(Duration::ZERO, floor),
            _ => self.backed_off(Duration::ZERO, Duration::ZERO),
        }
    }

    /// The timeout in force, and before its back-off not below `floor`.
    pub fn rto_above(&self, floor: Duration) -> Duration {
        self.backed_off(floor, Duration::ZERO)
    }

    /// The timeout, before its back-off not below `floor` and behind it not below `least`; what is
    /// on top is not multiplied.
    fn backed_off(&self, floor: Duration, least: Duration) -> Duration {
        let slop = self.estimate.map_or(Duration::ZERO, |_| self.config.rto.slop);
        let factor = 1_u64.checked_shl(self.backoff).unwrap_or(u64::MAX);
        let rto = self.rto.saturating_sub(slop).max(floor).saturating_mul(factor);
        (rto.max(least) + slop).min(self.config.rto.max)
    }

    /// The timeout from now on, before floor, slop and ceiling.
    #[inline]
    fn set(&mut self, rto: Duration, floor: Duration) {
        self.rto = (rto.max(floor) + self.config.rto.slop).min(self.config.rto.max);
    }

    /// How often the timer was backed off since the last sample.
    pub const fn backoff(&self) -> u32 {
        self.backoff
    }

    /// The timer expired: back off (RFC 6298 section 5.5).
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(63);
        let forgets_after = match (self.config.rto.forget_after, self.config.rto.arithmetic) {
            (None, Arithmetic::Exact | Arithmetic::Eifel) => return,
            (None, Arithmetic::Ns2 | Arithmetic::Bsd) => ticks::FORGETS_AFTER,
            (Some(count), _) => count,
        };
        if self.backoff > forgets_after {
            self.forgotten = true;
            self.ticks = Ticks::NONE;
        }
    }

    /// `flight_size` bytes were outstanding before the acknowledgment that gives the next sample,
    /// and the receiver acknowledges every second segment (RFC 7323 appendix G).
    #[inline]
    pub fn expect_samples(&mut self, flight_size: u64, smss: u64) {
        let acks = || flight_size.div_ceil(2 * smss);
        let samples = match (self.config.rto.arithmetic, self.config.rto.sampling) {
            (Arithmetic::Eifel, Sampling::EverySegment) => flight_size.div_ceil(smss),
            (Arithmetic::Eifel, Sampling::EveryAck | Sampling::EveryReport) => acks(),
            (Arithmetic::Eifel, Sampling::OncePerWindow) => 1,
            _ if self.config.rto.history == History::Windows => acks(),
            _ => return,
        };
        self.expected_samples = samples.clamp(1, 1 << 20) as u32;
    }

    /// From now on other rules hold, by which the next sample counts; the estimate stays.
    pub(crate) fn adopt(&mut self, config: Arc<Config>) {
        self.ticks = Ticks::of(self.estimate, &config.rto);
        self.config = config;
        self.expected_samples = 1;
    }

    /// The SYN's timer expired and data begins: without a sample the timeout is 3 s at least, and
    /// not backed off (RFC 6298 section 5.7).
    pub fn restart_after_syn(&mut self) {
        if self.estimate.is_none() {
            self.backoff = 0;
            self.rto = self.rto.max(Duration::from_secs(3));
        }
    }

    /// The round trip from `sent` to `at` as the clock's granularity shows it: whole ticks, at
    /// least one, but for BSD's arithmetic, which adds it itself.
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

    /// Takes a sample (RFC 6298 sections 2.2 and 2.3); a back-off ends. `una` and `max` tell
    /// Linux's rule where a window ends.
    #[inline(always)]
    pub fn sample(&mut self, rtt: Duration, una: Seq, max: Seq) {
        self.backoff = 0;
        match (self.config.rto.arithmetic, self.config.rto.floor) {
            (Arithmetic::Ns2 | Arithmetic::Bsd, _) => self.ticks(rtt),
            (Arithmetic::Eifel, _) => self.eifel(rtt),
            (_, RtoFloor::Variance(floor)) => self.linux(rtt, floor, una, max),
            (_, RtoFloor::Total(floor)) => self.standard(rtt, floor),
            (_, RtoFloor::BackedOff(_) | RtoFloor::DelayedAck(..)) => {
                self.standard(rtt, Duration::ZERO);
            }
        }
    }

    #[inline]
    fn standard(&mut self, rtt: Duration, floor: Duration) {
        let estimate = match self.remembered() {
            None => Estimate { srtt: rtt, rttvar: rtt / 2 },
            // RTTVAR first, against the old SRTT.
            Some(Estimate { srtt, rttvar }) => Estimate {
                rttvar: towards(
                    rttvar,
                    distance(rtt, srtt),
                    self.gain(self.config.rto.rttvar_gain),
                ),
                srtt: towards(srtt, rtt, self.gain(self.config.rto.srtt_gain)),
            },
        };
        self.estimate = Some(estimate);
        let margin = estimate.rttvar * u64::from(self.config.rto.k);
        let rto = estimate.srtt + margin.max(self.config.rto.granularity);
        self.set(rto, floor);
    }

    /// The estimate, unless many back-offs have had it forgotten.
    fn remembered(&mut self) -> Option<Estimate> {
        let forgotten = core::mem::take(&mut self.forgotten);
        self.estimate.filter(|_| !forgotten)
    }

    /// One in so many: `gain`, or less where samples come more often than once a window.
    const fn gain(&self, gain: u32) -> u32 {
        gain.saturating_mul(self.expected_samples)
    }

    /// Round trips in whole ticks, and a timeout of two ticks at least (`TcpAgent::rtt_timeout`), or
    /// of two more than the sample (`tcp_xmit_timer`).
    fn ticks(&mut self, rtt: Duration) {
        let tick = self.config.rto.granularity.max(Duration::from_nanos(1));
        let rto = self.ticks.sample(rtt, &self.config.rto);
        self.estimate = Some(self.ticks.estimate(&self.config.rto));
        let least = match self.config.rto.arithmetic {
            Arithmetic::Bsd => rtt + tick * 2,
            Arithmetic::Exact | Arithmetic::Ns2 | Arithmetic::Eifel => tick * 2,
        };
        let floor = match self.config.rto.floor {
            RtoFloor::Total(floor) => floor.max(least),
            RtoFloor::Variance(_) | RtoFloor::BackedOff(_) | RtoFloor::DelayedAck(..) => least,
        };
        self.set(rto, floor);
    }

    /// `tcp_rtt_estimator` and `__tcp_set_rto` of Linux: `mdev` is RTTVAR, but a falling round
    /// trip hardly raises it; what is added to SRTT is four times the largest `mdev` of a window,
    /// never below the floor, and sinks by a quarter of the difference once a window.
    fn linux(&mut self, rtt: Duration, floor: Duration, una: Seq, max: Seq) {
        let floor = floor.nanos() / 4;
        let remembered = self.remembered();
        let linux = self.linux.get_or_insert_with(Box::default);
        let Some(Estimate { srtt, rttvar }) = remembered else {
            linux.mdev = rtt.nanos() / 2;
            linux.mdev_max = linux.mdev.max(floor);
            linux.window_end = max;
            let rttvar = Duration::from_nanos(linux.mdev_max);
            self.set_linux(Estimate { srtt: rtt, rttvar });
            return;
        };
        let error = distance(rtt, srtt).nanos();
        let gain = u64::from(self.config.rto.rttvar_gain);
        if error > linux.mdev {
            let slower = if rtt < srtt { 8 } else { 1 };
            linux.mdev += (error - linux.mdev) / (gain * slower);
        } else {
            linux.mdev -= (linux.mdev - error) / gain;
        }
        linux.mdev_max = linux.mdev_max.max(linux.mdev);
        let mut rttvar = rttvar.nanos().max(linux.mdev_max);
        if una > linux.window_end {
            if linux.mdev_max < rttvar {
                rttvar -= (rttvar - linux.mdev_max) / 4;
            }
            linux.window_end = max;
            linux.mdev_max = floor;
        }
        let srtt = towards(srtt, rtt, self.config.rto.srtt_gain);
        self.set_linux(Estimate { srtt, rttvar: Duration::from_nanos(rttvar) });
    }

    fn set_linux(&mut self, estimate: Estimate) {
        self.estimate = Some(estimate);
        self.set(estimate.srtt + estimate.rttvar * 4, Duration::ZERO);
    }
}

/// `value` moved by one in `gain` of its distance to `target`.
fn towards(value: Duration, target: Duration, gain: u32) -> Duration {
    let step = distance(value, target) / u64::from(gain);
    if target > value { value + step } else { value.saturating_sub(step) }
}

fn distance(a: Duration, b: Duration) -> Duration {
    if a > b { a - b } else { b - a }
}

#[cfg(test)]
mod tests;
