//! The settings of a Linux kernel.

use alloc::string::String;

use rtolab_time::Duration;

use crate::config::{
    Algorithm, Config, CongestionAlgorithm, GiveUp, IdleRestart, LinearFor, RackThreshold,
    ReorderingWindow, RtoFloor, SlowStartExit,
};

/// The number of linear timeouts of a thin stream (Linux: `TCP_THIN_LINEAR_RETRIES`).
const THIN_LINEAR_RETRIES: u32 = 6;

/// The RTO from which Linux computes when to give up (`TCP_RTO_MIN`), whatever the connection's is.
const RTO_BASE: Duration = Duration::from_millis(200);

/// How long a segment may be outstanding: as long as `retries` timeouts last if the first one takes
/// [`RTO_BASE`] and each doubles up to `rto_max` (Linux: `tcp_model_timeout`).
fn give_up_after(retries: u32, rto_max: Duration) -> Duration {
    (0..=retries)
        .map(|timeout| {
            let factor = 1_u64.checked_shl(timeout).unwrap_or(u64::MAX);
            RTO_BASE.saturating_mul(factor).min(rto_max)
        })
        .sum()
}

/// The settings of a kernel, by their names below `net.ipv4` without `tcp_`; `None` is the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sysctl {
    /// `congestion_control`: `cubic` or `reno`, see [`Self::unknown_congestion`].
    pub congestion: Option<String>,
    /// `sack`.
    pub sack: Option<bool>,
    /// `dsack`.
    pub dsack: Option<bool>,
    /// `timestamps`.
    pub timestamps: Option<bool>,
    /// `window_scaling`.
    pub window_scaling: Option<bool>,
    /// `frto`; 0 disables F-RTO.
    pub frto: Option<u32>,
    /// The bits of `recovery`: 1 is RACK, 2 a static reordering window, 4 ignores dupthresh.
    pub recovery: Option<u32>,
    /// `early_retrans`; 3 or 4 enables tail loss probes.
    pub early_retrans: Option<u32>,
    /// `reordering`, which is dupthresh.
    pub reordering: Option<u32>,
    /// `ecn`; 1 requests ECN.
    pub ecn: Option<u32>,
    /// `slow_start_after_idle`.
    pub slow_start_after_idle: Option<bool>,
    /// `syn_linear_timeouts`.
    pub syn_linear_timeouts: Option<u32>,
    /// `thin_linear_timeouts`.
    pub thin_linear_timeouts: Option<bool>,
    /// `rto_min_us`, or the route's `rto_min`.
    pub rto_min: Option<Duration>,
    /// `rto_max_ms`.
    pub rto_max: Option<Duration>,
    /// `retries2`.
    pub retries2: Option<u32>,
}

impl Sysctl {
    /// The congestion control, if the engine lacks it.
    pub fn unknown_congestion(&self) -> Option<&str> {
        self.congestion.as_deref().filter(|name| !matches!(*name, "cubic" | "reno"))
    }

    /// Configures a host to send as such a kernel does.
    pub fn apply(&self, config: &mut Config) {
        self.apply_options(config);
        self.apply_recovery(config);
        if self.congestion.as_deref() == Some("reno") {
            config.congestion.control = CongestionAlgorithm::Reno;
            config.congestion.slow_start_exit = SlowStartExit::Loss;
        }
        if let Some(restarts) = self.slow_start_after_idle {
            config.window.idle_restart =
                if restarts { IdleRestart::LastSent } else { IdleRestart::Off };
        }
        if let Some(timeouts) = self.syn_linear_timeouts {
            config.connection.syn_linear_timeouts = timeouts;
        }
        if self.thin_linear_timeouts == Some(true) {
            config.backoff.linear = THIN_LINEAR_RETRIES;
            config.backoff.linear_for = LinearFor::ThinStreams;
        }
        config.rto.max = self.rto_max.unwrap_or(config.rto.max);
        if let Some(retries) = self.retries2 {
            let after = give_up_after(retries, config.rto.max);
            config.connection.limits.r2 = GiveUp::After(after);
        }
        if let Some(floor) = self.rto_min {
            config.rto.floor = RtoFloor::Variance(floor);
            // A probe of a single segment allows the same time for a delayed ACK
            // (`tcp_rto_min_us`).
            config.recovery.rack.max_ack_delay = floor;
        }
    }

    /// Configures a host to receive as such a kernel does.
    pub fn apply_to_receiver(&self, config: &mut Config) {
        self.apply_options(config);
        // 2 grants ECN without requesting it.
        config.ecn = self.ecn.map_or(config.ecn, |ecn| ecn == 1 || ecn == 2);
    }

    /// Applies the negotiated options.
    fn apply_options(&self, config: &mut Config) {
        config.timestamps = self.timestamps.unwrap_or(config.timestamps);
        config.sack &= self.sack != Some(false);
        config.dsack &= self.dsack != Some(false);
        config.ecn = self.ecn.map_or(config.ecn, |ecn| ecn == 1);
        if self.window_scaling == Some(false) {
            config.window_scale = None;
        }
    }

    fn apply_recovery(&self, config: &mut Config) {
        if self.frto == Some(0) {
            config.frto = None;
        }
        config.recovery.dupthresh = self.reordering.unwrap_or(config.recovery.dupthresh);
        if let Some(probes) = self.early_retrans {
            config.recovery.rack.tail_loss_probe = matches!(probes, 3 | 4);
        }
        if let Some(bits) = self.recovery {
            if bits & 1 == 0 && config.recovery.algorithm == Algorithm::Rack {
                config.recovery.algorithm = Algorithm::Sack;
            }
            if bits & 2 != 0 {
                config.recovery.rack.reordering_window = ReorderingWindow::Static;
            }
            if bits & 4 != 0 {
                config.recovery.rack.threshold = RackThreshold::TimeOnly;
            }
        }
    }
}
