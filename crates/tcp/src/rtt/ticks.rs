//! The estimator in scaled whole ticks: `TcpAgent::rtt_update` and `rtt_backoff` of ns-2.35, which
//! are those of 4.4BSD, and `tcp_xmit_timer` of FreeBSD and NetBSD.
//!
//! With the usual gains SRTT is in eighths of a tick and RTTVAR in quarters, and every division
//! rounds down. RTTVAR therefore never falls below three quarters of a tick, and the RTO is at
//! least three ticks above SRTT (with K of 4). FreeBSD and NetBSD keep two more bits of both, which
//! makes this less than one tick, and add one tick to the first sample.

use rtolab_time::Duration;

use super::Estimate;
use super::smoothing::{Smoothed, min_rto};
use crate::config::{Arithmetic, RtoConfig};

/// The number of back-offs after which the next one discards SRTT: a factor of more than eight.
pub(super) const FORGET_AFTER: u32 = 3;

/// SRTT and RTTVAR in scaled ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticks {
    /// SRTT in ticks, times its gain and [`fraction_of`]; zero: the next sample counts as the
    /// first.
    srtt: i64,
    /// RTTVAR in ticks, times its gain and [`fraction_of`].
    rttvar: i64,
}

impl Ticks {
    /// No sample yet.
    pub const NONE: Self = Self { srtt: 0, rttvar: 0 };

    /// Converts `estimate` to ticks.
    pub fn of(estimate: Option<Estimate>, config: &RtoConfig) -> Self {
        let Some(Estimate { srtt, rttvar }) = estimate else { return Self::NONE };
        let scaled = |value: Duration, gain: u32| {
            let scale = u128::from(gain) * fraction_of(config) as u128;
            (u128::from(value.nanos()) * scale / u128::from(tick_of(config))) as i64
        };
        Self { srtt: scaled(srtt, config.srtt_gain), rttvar: scaled(rttvar, config.rttvar_gain) }
    }

    /// Takes a sample. The RTO is at least two ticks (`TcpAgent::rtt_timeout`), or two ticks more
    /// than the sample (`tcp_xmit_timer`).
    pub fn smooth(&mut self, rtt: Duration, config: &RtoConfig) -> Smoothed {
        let two_ticks = Duration::from_nanos(tick_of(config)) * 2;
        let least = match config.arithmetic {
            Arithmetic::Bsd => rtt + two_ticks,
            Arithmetic::Exact | Arithmetic::Ns2 | Arithmetic::Eifel => two_ticks,
        };
        let rto = self.sample(rtt, config);
        Smoothed { estimate: self.estimate(config), rto, min_rto: min_rto(config.floor).max(least) }
    }

    /// Updates SRTT and RTTVAR, and returns the RTO without minimum and maximum.
    fn sample(&mut self, rtt: Duration, config: &RtoConfig) -> Duration {
        let (srtt_gain, rttvar_gain) = (i64::from(config.srtt_gain), i64::from(config.rttvar_gain));
        let (fraction, bsd) = (fraction_of(config), config.arithmetic == Arithmetic::Bsd);
        let rtt = ((rtt.nanos() / tick_of(config)) as i64).max(i64::from(!bsd));
        if self.srtt == 0 {
            let first = (rtt + i64::from(bsd)).saturating_mul(fraction);
            self.srtt = first.saturating_mul(srtt_gain);
            self.rttvar = first.saturating_mul(rttvar_gain) / 2;
        } else {
            let rtt = rtt.saturating_mul(fraction);
            // delta = rtt - (t_srtt >> 3); t_srtt += delta
            let error = rtt - self.srtt / srtt_gain;
            self.srtt = self.srtt.saturating_add(error).max(1);
            // t_rttvar += |delta| - (t_rttvar >> 2)
            let off = error.abs() - self.rttvar / rttvar_gain;
            self.rttvar = self.rttvar.saturating_add(off).max(1);
        }
        let scaled = self.rttvar.saturating_mul(i64::from(config.k)).saturating_mul(srtt_gain);
        let ticks = (scaled / rttvar_gain).saturating_add(self.srtt) / srtt_gain / fraction;
        Duration::from_nanos(tick_of(config)).saturating_mul(ticks as u64)
    }

    /// SRTT and RTTVAR as times.
    fn estimate(&self, config: &RtoConfig) -> Estimate {
        let time = |scaled: i64, gain: u32| {
            let scale = u64::from(gain).saturating_mul(fraction_of(config) as u64);
            Duration::from_nanos(tick_of(config)).saturating_mul(scaled as u64) / scale
        };
        Estimate {
            srtt: time(self.srtt, config.srtt_gain),
            rttvar: time(self.rttvar, config.rttvar_gain),
        }
    }
}

/// A tick in nanoseconds.
fn tick_of(config: &RtoConfig) -> u64 {
    config.granularity.nanos().max(1)
}

/// The scale of SRTT and RTTVAR in addition to their gains.
const fn fraction_of(config: &RtoConfig) -> i64 {
    match config.arithmetic {
        Arithmetic::Bsd => 4,
        Arithmetic::Exact | Arithmetic::Ns2 | Arithmetic::Eifel => 1,
    }
}
