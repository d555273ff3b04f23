//! The settings of hosts' kernels.

use rtolab_settings::{Buffer, Choice, IntegerRange, Positive, Settings, Size};
use rtolab_tcp::profile::Sysctl;
use rtolab_time::Duration;

use crate::formats::Name;

/// The settings of a host's kernel.
#[derive(Clone, Debug, PartialEq, Eq, Settings)]
pub struct Kernel {
    /// The congestion control, by the kernel's name for it.
    #[setting(format = Name, default = "cubic".to_string(), example = "reno")]
    pub congestion: String,
    /// Selective acknowledgments (tcp_sack).
    #[setting(default = true)]
    pub sack: bool,
    /// D-SACK reports of segments that arrive twice (tcp_dsack).
    #[setting(default = true)]
    pub dsack: bool,
    /// Timestamps (tcp_timestamps).
    #[setting(default = true)]
    pub timestamps: bool,
    /// F-RTO (tcp_frto): 0 for off.
    #[setting(format = IntegerRange<0, 2>, default = 2)]
    pub frto: u32,
    /// The bits of tcp_recovery: 1 for RACK's detection of losses.
    #[setting(format = IntegerRange<0, 7>, default = 1)]
    pub recovery: u32,
    /// Tail loss probes (tcp_early_retrans): 0 for none, 3 for them.
    #[setting(format = IntegerRange<0, 4>, default = 3)]
    pub early_retrans: u32,
    /// The number of duplicate ACKs that mark a loss (tcp_reordering).
    #[setting(format = IntegerRange<1, 300>, default = 3)]
    pub reordering: u32,
    /// Explicit congestion notification (tcp_ecn): 0 for none, 1 to request and accept it, 2 only
    /// to accept it.
    #[setting(format = IntegerRange<0, 2>, default = 2)]
    pub ecn: u32,
    /// Does the window restart after an idle time (tcp_slow_start_after_idle)?
    #[setting(default = true)]
    pub slow_start_after_idle: bool,
    /// The number of SYN timeouts before the RTO doubles (tcp_syn_linear_timeouts).
    ///
    /// Kernels before 6.5 have no such control and double each.
    #[setting(format = IntegerRange<0, 127>, unset = "4, and for an emulated host its kernel's own")]
    pub syn_linear_timeouts: Option<u32>,
    /// Does the RTO of a stream with fewer than four segments outstanding stay constant for its
    /// first six timeouts (tcp_thin_linear_timeouts)?
    pub thin_linear_timeouts: bool,
    /// The number of retransmissions of a segment before the connection is given up (tcp_retries2).
    ///
    /// The kernel computes from it a time, with a first timeout of 200 ms: 924.6 s for 15.
    #[setting(format = IntegerRange<0, 255>, unset = "never, and for an emulated host its kernel's own")]
    pub retries2: Option<u32>,
    /// The maximum RTO (tcp_rto_max_ms, since Linux 6.15).
    #[setting(format = Positive, example = "5 s", unset = "120 s")]
    pub rto_max: Option<Duration>,
    /// The minimum RTO.
    #[setting(format = Positive, default = Duration::from_millis(200), example = "1 s")]
    pub rto_min: Duration,
    /// The largest window that an emulated host advertises, in bytes.
    #[setting(
        format = Buffer,
        example = "65535 B",
        unset = "receiver.buffer for a receiver, else the kernel's own"
    )]
    pub window: Option<u32>,
    /// The largest packet that an emulated host sends, in bytes.
    #[setting(
        format = Size<88, 65_535, 1_500>,
        default = 1_500,
        example = "1500 B",
        unset = "tcp.mss and 40 B of headers"
    )]
    pub mtu: u32,
    /// Does TCP of an emulated host pass on several segments as one (GSO), which the device then
    /// splits?
    pub offload: bool,
    /// The initial window of an emulated host, in segments (initcwnd of its route).
    #[setting(format = IntegerRange<1, 100>, unset = "the kernel's own, 10")]
    pub initial_window: Option<u32>,
    /// Does an emulated host's address belong to a program behind the TUN device `stack0`, so that
    /// its kernel only forwards?
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
            thin_linear_timeouts: Some(self.thin_linear_timeouts),
            rto_min: Some(self.rto_min),
            rto_max: self.rto_max,
            retries2: self.retries2,
        }
    }
}

/// Settings of emulated runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct EmulationConfig {
    /// The lateness that at most one packet in a hundred may exceed.
    #[setting(
        format = Duration,
        example = "2 ms",
        unset = "1 ms or 5 % of the round trip, whichever is longer"
    )]
    pub lateness: Option<Duration>,
    /// When the time of the links begins if a command runs.
    #[setting(example = "first-packet")]
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
