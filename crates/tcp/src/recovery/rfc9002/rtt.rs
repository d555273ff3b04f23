//! Round trips (RFC 9002 section 5, appendix A.7) and the times that follow from them.

use rtolab_time::{Duration, Instant};

use crate::config::{Config, Rfc9002Config};
use crate::estimate::Estimate;

/// The probe timeout is never doubled more often than this.
const MAX_DOUBLINGS: u32 = 63;

/// The round-trip variables of appendix A.3.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RttStats {
    latest_rtt: Duration,
    smoothed_rtt: Duration,
    rttvar: Duration,
    /// The smallest round trip of the connection.
    pub min_rtt: Duration,
    /// When the first sample was taken.
    pub first_rtt_sample: Option<Instant>,
}

impl RttStats {
    /// UpdateRtt (appendix A.7). TCP acknowledgments do not tell their delay, so that `ack_delay`
    /// is zero.
    pub fn update(&mut self, latest_rtt: Duration, now: Instant) {
        self.latest_rtt = latest_rtt;
        if self.first_rtt_sample.is_none() {
            self.min_rtt = latest_rtt;
            self.smoothed_rtt = latest_rtt;
            self.rttvar = latest_rtt / 2;
            self.first_rtt_sample = Some(now);
            return;
        }
        self.min_rtt = self.min_rtt.min(latest_rtt);
        // rttvar = 3/4 * rttvar + 1/4 * abs (smoothed_rtt - adjusted_rtt)
        let difference = self.smoothed_rtt.max(latest_rtt) - self.smoothed_rtt.min(latest_rtt);
        self.rttvar = (self.rttvar * 3 + difference) / 4;
        // smoothed_rtt = 7/8 * smoothed_rtt + 1/8 * adjusted_rtt
        self.smoothed_rtt = (self.smoothed_rtt * 7 + latest_rtt) / 8;
    }

    /// Takes over the estimate of another loss recovery.
    pub fn adopt(&mut self, estimate: Estimate) {
        let Estimate { srtt, rttvar } = estimate;
        *self = Self {
            latest_rtt: srtt,
            smoothed_rtt: srtt,
            rttvar,
            min_rtt: srtt,
            first_rtt_sample: Some(Instant::START),
        };
    }

    /// The time threshold (section 6.1.2): max (kTimeThreshold * max (smoothed_rtt, latest_rtt),
    /// kGranularity), where kTimeThreshold is in eighths.
    pub fn loss_delay(&self, eighths: u64, config: &Rfc9002Config) -> Duration {
        let rtt = self.smoothed_rtt.max(self.latest_rtt);
        (rtt.saturating_mul(eighths) / 8).max(config.granularity)
    }

    /// The probe timeout without its back-off (section 6.2.1): PTO = smoothed_rtt +
    /// max (4 * rttvar, kGranularity) + max_ack_delay. Without a sample smoothed_rtt is
    /// kInitialRtt, and rttvar half of it (section 6.2.2).
    pub fn pto(&self, config: &Rfc9002Config) -> Duration {
        let (smoothed_rtt, rttvar) = match self.first_rtt_sample {
            Some(_) => (self.smoothed_rtt, self.rttvar),
            None => (config.initial_rtt, config.initial_rtt / 2),
        };
        smoothed_rtt + (rttvar * 4).max(config.granularity) + config.max_ack_delay
    }

    /// The probe timeout after `pto_count` expiries, each of which doubles it up to
    /// `tcp.backoff.cap`.
    pub fn backed_off_pto(&self, pto_count: u32, config: &Config) -> Duration {
        let pto = self.pto(&config.recovery.rfc9002);
        let doubled = pto.saturating_mul(1 << pto_count.min(MAX_DOUBLINGS));
        let capped = config.backoff.cap.map_or(doubled, |cap| doubled.min(cap.max(pto)));
        capped.min(config.rto.max)
    }
}
