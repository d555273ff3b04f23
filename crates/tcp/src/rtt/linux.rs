//! The estimator of Linux (`tcp_rtt_estimator` and `__tcp_set_rto`). `mdev` is the RTTVAR of RFC
//! 6298, but a falling round trip hardly raises it. `rttvar` is the largest `mdev` of a window,
//! never below a quarter of the floor, and falls by a quarter of the difference once a window. RTO
//! <- SRTT + 4 * `rttvar`.

use rtolab_time::Duration;

use super::Estimate;
use super::smoothing::{Smoothed, ewma};
use crate::config::{RtoConfig, TimerClock};
use crate::seq::Seq;

/// The deviation and its maximum in a window, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinuxDeviation {
    mdev: u64,
    mdev_max: u64,
    /// SND.MAX when the window began.
    rtt_seq: Seq,
}

/// The timeout as the kernel stores it and backs it off: in whole ticks of the timer wheel, if
/// timers run on one (`icsk_rto`).
fn in_ticks(rto: Duration, config: &RtoConfig) -> Duration {
    match config.timer {
        TimerClock::Wheel(tick) if !tick.is_zero() => {
            Duration::from_nanos(rto.nanos().next_multiple_of(tick.nanos()))
        }
        _ => rto,
    }
}

impl LinuxDeviation {
    /// Takes a sample `m`.
    pub fn smooth(
        &mut self,
        last: Option<Estimate>,
        m: Duration,
        (una, max): (Seq, Seq),
        config: &RtoConfig,
    ) -> Smoothed {
        let rto_min = config.floor.duration().nanos() / 4;
        let (srtt, rttvar) = match last {
            None => {
                self.mdev = m.nanos() / 2;
                self.mdev_max = self.mdev.max(rto_min);
                self.rtt_seq = max;
                (m, self.mdev_max)
            }
            Some(Estimate { srtt, rttvar }) => {
                self.update_mdev(srtt, m, u64::from(config.rttvar_gain));
                let mut rttvar = rttvar.nanos().max(self.mdev_max);
                if una > self.rtt_seq {
                    if self.mdev_max < rttvar {
                        rttvar -= (rttvar - self.mdev_max) / 4;
                    }
                    self.rtt_seq = max;
                    self.mdev_max = rto_min;
                }
                (ewma(srtt, m, config.srtt_gain), rttvar)
            }
        };
        let rttvar = Duration::from_nanos(rttvar);
        let estimate = Estimate { srtt, rttvar };
        let rto = in_ticks(srtt + rttvar * 4, config);
        Smoothed { estimate, rto, min_rto: Duration::ZERO }
    }

    /// mdev = 3/4 mdev + 1/4 |srtt - m|. If `m` is below `srtt` and would raise `mdev`, the change
    /// is an eighth of that.
    const fn update_mdev(&mut self, srtt: Duration, m: Duration, gain: u64) {
        let error = srtt.nanos().abs_diff(m.nanos());
        if error > self.mdev {
            let slower = if m.nanos() < srtt.nanos() { 8 } else { 1 };
            self.mdev += (error - self.mdev) / (gain * slower);
        } else {
            self.mdev -= (self.mdev - error) / gain;
        }
        if self.mdev > self.mdev_max {
            self.mdev_max = self.mdev;
        }
    }
}
