//! The settings of hosts' kernels.

use rtolab_settings::Choice;
use rtolab_tcp::profile::Sysctl;
use rtolab_time::Duration;

/// The settings of a host's kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The congestion control, by the kernel's name.
    pub congestion: String,
    /// Selective acknowledgments (`tcp_sack`).
    pub sack: bool,
    /// Duplicate SACK (`tcp_dsack`).
    pub dsack: bool,
    /// Timestamps (`tcp_timestamps`).
    pub timestamps: bool,
    /// F-RTO (`tcp_frto`); 0 for off.
    pub frto: u32,
    /// The bits of `tcp_recovery`; 1 for RACK.
    pub recovery: u32,
    /// `tcp_early_retrans`; 3 for tail loss probes, 0 for off.
    pub early_retrans: u32,
    /// The initial reordering degree, DupThresh (`tcp_reordering`).
    pub reordering: u32,
    /// ECN (`tcp_ecn`): 0 for off, 1 to request it, 2 to accept it only.
    pub ecn: u32,
    /// Does the window restart after idle times (`tcp_slow_start_after_idle`)?
    pub slow_start_after_idle: bool,
    /// How many SYN timeouts come before the first back-off (`tcp_syn_linear_timeouts`); `None` for
    /// the kernel's default. Kernels before 6.5 have no such control and double each.
    pub syn_linear_timeouts: Option<u32>,
    /// The minimum RTO.
    pub rto_min: Duration,
    /// The largest advertised window in bytes; `None` for the kernel's default.
    pub window: Option<u32>,
    /// The MTU, in bytes.
    pub mtu: u32,
    /// Generic segmentation offload (GSO).
    pub offload: bool,
    /// The initial window in segments; `None` for the kernel's default.
    pub initial_window: Option<u32>,
    /// Does a program act as the host, through a TUN device with its address?
    pub tun: bool,
}

impl Kernel {
    /// The settings that also apply to simulated Linux hosts.
    pub fn sysctl(&self) -> Sysctl {
        let Self { congestion, sack, dsack, timestamps, frto, recovery, early_retrans, .. } = self;
        Sysctl {
            congestion: Some(congestion.clone()),
            sack: Some(*sack),
            dsack: Some(*dsack),
            timestamps: Some(*timestamps),
            window_scaling: None,
            frto: Some(*frto),
            recovery: Some(*recovery),
            early_retrans: Some(*early_retrans),
            reordering: Some(self.reordering),
            ecn: Some(self.ecn),
            slow_start_after_idle: Some(self.slow_start_after_idle),
            syn_linear_timeouts: self.syn_linear_timeouts,
            rto_min: Some(self.rto_min),
        }
    }
}

/// Settings of emulated runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmulationConfig {
    /// The accepted 99th percentile of the lateness of packets; `None` for 1 ms or 5 % of the round
    /// trip, whichever is longer.
    pub lateness: Option<Duration>,
    /// When the links' clocks start if a command runs.
    pub begin: Begin,
}

/// When the links' clocks start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Begin {
    /// With the command.
    #[default]
    AtOnce,
    /// With the first packet of the program.
    FirstPacket,
}
