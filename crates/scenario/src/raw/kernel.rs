//! Kernel settings of emulated hosts and of simulated Linux hosts.

use rtolab_time::Duration;
use schemars::JsonSchema;
use serde::Deserialize;

use super::parsed::{Parsed, Whole};
use super::quantity::{Buffer, Name, Positive, Size};
use crate::Begin;

/// A struct with keys of its own and the settings of a kernel: `kernel` for every host and
/// `kernel.host` for one.
macro_rules! with_settings {
    ($(#[$about:meta])* $name:ident { $($own:tt)* }) => {
        $(#[$about])*
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, expecting = "a table")]
        pub(crate) struct $name {
            $($own)*
            /// The congestion control, by the kernel's name for it. Default: cubic.
            #[schemars(example = &"reno")]
            pub congestion: Option<Parsed<Name>>,
            /// Selective acknowledgments (tcp_sack). Default: true.
            pub sack: Option<bool>,
            /// D-SACK reports of segments that arrive twice (tcp_dsack). Default: true.
            pub dsack: Option<bool>,
            /// Timestamps (tcp_timestamps). Default: true.
            pub timestamps: Option<bool>,
            /// F-RTO (tcp_frto): 0 for off. Default: 2.
            pub frto: Option<Whole<0, 2>>,
            /// The bits of tcp_recovery: 1 for RACK's detection of losses. Default: 1.
            pub recovery: Option<Whole<0, 7>>,
            /// Tail loss probes (tcp_early_retrans): 0 for none, 3 for them. Default: 3.
            pub early_retrans: Option<Whole<0, 4>>,
            /// The number of duplicate ACKs that mark a loss (tcp_reordering). Default: 3.
            pub reordering: Option<Whole<1, 300>>,
            /// Explicit congestion notification (tcp_ecn): 0 for none, 1 to request and accept it,
            /// 2 only to accept it. Default: 2.
            pub ecn: Option<Whole<0, 2>>,
            /// Does the window restart after an idle time (tcp_slow_start_after_idle)? Default:
            /// true.
            pub slow_start_after_idle: Option<bool>,
            /// The number of timeouts of a SYN before they double (tcp_syn_linear_timeouts).
            /// Default: 4, and for an emulated host its kernel's own.
            pub syn_linear_timeouts: Option<Whole<0, 127>>,
            /// The minimum RTO. Default: 200 ms.
            #[schemars(example = &"1 s")]
            pub rto_min: Option<Parsed<Positive>>,
            /// The largest window that an emulated host advertises. Default: receiver.buffer for a
            /// receiver, else the kernel's own.
            #[schemars(example = &"65535 B")]
            pub window: Option<Parsed<Buffer>>,
            /// The largest packet that an emulated host sends. Default: tcp.mss and 40 B of
            /// headers.
            #[schemars(example = &"1500 B")]
            pub mtu: Option<Parsed<Size<88, 65_535, 1_500>>>,
            /// Does TCP of an emulated host pass on several segments as one (GSO), which the device
            /// then splits? Default: false.
            pub offload: Option<bool>,
            /// The initial window of an emulated host, in segments (initcwnd of its route).
            /// Default: the kernel's own, 10.
            pub initial_window: Option<Whole<1, 100>>,
            /// Does an emulated host's address belong to a program behind the TUN device `stack0`,
            /// so that its kernel only forwards? Default: false.
            pub tun: Option<bool>,
        }
    };
}

with_settings! {
    /// The kernel settings of emulated hosts, and of simulated hosts that are Linux. Defaults are
    /// those of Linux.
    #[derive(Default)]
    Kernel {
        /// The settings of single hosts.
        #[serde(default)]
        pub host: Vec<KernelHost>,
    }
}

with_settings! {
    /// The kernel settings of one host that differ from those of all.
    KernelHost {
        /// The node.
        #[schemars(example = &"mobile")]
        pub name: Parsed<Name>,
    }
}

/// When you can trust a run in real time.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct EmulationConfig {
    /// The lateness that at most one packet in a hundred may exceed. Default: 1 ms or 5 % of the
    /// round trip, whichever is longer.
    #[schemars(example = &"2 ms")]
    pub lateness: Option<Parsed<Duration>>,
    /// When the time of the links begins if a command runs. Default: at-once.
    #[schemars(example = &"first-packet")]
    pub begin: Option<Parsed<Begin>>,
}
