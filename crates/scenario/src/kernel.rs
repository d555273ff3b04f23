//! How the kernels of hosts are set.

use rtolab_settings::Choice;
use rtolab_tcp::profile::Sysctl;
use rtolab_time::Duration;

/// The settings of a host's kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The congestion control, as the kernel calls it.
    pub congestion: String,
    /// Selective acknowledgments (`tcp_sack`).
    pub sack: bool,
    /// Reports of what arrived twice (`tcp_dsack`).
    pub dsack: bool,
    /// Timestamps (`tcp_timestamps`).
    pub timestamps: bool,
    /// F-RTO (`tcp_frto`); 0 for none.
    pub frto: u32,
    /// The bits of `tcp_recovery`; 1 for RACK.
    pub recovery: u32,
    /// `tcp_early_retrans`; 3 for tail loss probes, 0 for none.
    pub early_retrans: u32,
    /// The duplicates that make a loss (`tcp_reordering`).
    pub reordering: u32,
    /// ECN (`tcp_ecn`): 0 for none, 1 where it is asked for, 2 where it is granted only.
    pub ecn: u32,
    /// Does a window begin anew when it was idle (`tcp_slow_start_after_idle`)?
    pub slow_start_after_idle: bool,
    /// After how many timeouts a SYN's are doubled (`tcp_syn_linear_timeouts`); `None`: what the
    /// kernel likes, for those before 6.5 have no such control and double each.
    pub syn_linear_timeouts: Option<u32>,
    /// The least timeout.
    pub rto_min: Duration,
    /// The largest window that it announces, in bytes; `None`: what the kernel likes.
    pub window: Option<u32>,
    /// The largest packet that it sends, in bytes.
    pub mtu: u32,
    /// Does TCP hand over many segments as one (GSO)?
    pub offload: bool,
    /// Its first window, in segments; `None`: what the kernel likes.
    pub initial_window: Option<u32>,
    /// Does its address belong to a TUN device that a program opens to be the host?
    pub tun: bool,
}

impl Kernel {
    /// What of it a simulated host that is Linux is set to, too. Its largest window and packet are
    /// those of the scenario's hosts.
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

/// When a run on the wall clock can be believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Emulation {
    /// How late one packet in a hundred may come out of a link; `None`: 1 ms or 5 % of the round
    /// trip, whichever is longer.
    pub lateness: Option<Duration>,
    /// When the links' time begins where a command runs.
    pub begin: Begin,
}

/// When the time of links begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Begin {
    /// With the command.
    #[default]
    AtOnce,
    /// With the first packet, however long a program takes until it sends one.
    FirstPacket,
}
