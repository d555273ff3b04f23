//! How emulated hosts are set.

use rtolab_time::Duration;

/// The settings of an emulated host's kernel.
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
    /// The least timeout.
    pub rto_min: Duration,
    /// The largest window that it announces, in bytes; `None`: what the kernel likes.
    pub window: Option<u32>,
    /// The largest packet that it sends, in bytes.
    pub mtu: u32,
    /// Does TCP hand over many segments as one (GSO)?
    pub offload: bool,
}

/// When a run on the wall clock can be believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Emulation {
    /// How late one packet in a hundred may come out of a link; `None`: 1 ms or 5 % of the round
    /// trip, whichever is longer.
    pub lateness: Option<Duration>,
}
