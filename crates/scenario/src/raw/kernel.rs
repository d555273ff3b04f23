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
            /// The congestion control, as the kernel calls it. Default: cubic.
            #[schemars(example = &"reno")]
            pub congestion: Option<Parsed<Name>>,
            /// Selective acknowledgments (tcp_sack). Default: true.
            pub sack: Option<bool>,
            /// Are segments that arrive twice reported (tcp_dsack)? Default: true.
            pub dsack: Option<bool>,
            /// Timestamps (tcp_timestamps). Default: true.
            pub timestamps: Option<bool>,
            /// F-RTO (tcp_frto): 0 for off. Default: 2.
            pub frto: Option<Whole<0, 2>>,
            /// The bits of tcp_recovery: 1 for RACK's detection of losses. Default: 1.
            pub recovery: Option<Whole<0, 7>>,
            /// Tail loss probes (tcp_early_retrans): 0 for none, 3 for them. Default: 3.
            pub early_retrans: Option<Whole<0, 4>>,
            /// How many duplicates make a loss (tcp_reordering). Default: 3.
            pub reordering: Option<Whole<1, 300>>,
            /// Explicit congestion notification (tcp_ecn): 0 for none, 1 where it is asked for, 2
            /// where it is granted only. Default: 2.
            pub ecn: Option<Whole<0, 2>>,
            /// Does a window begin anew when it was idle (tcp_slow_start_after_idle)? Default:
            /// true.
            pub slow_start_after_idle: Option<bool>,
            /// After how many timeouts a SYN's are doubled (tcp_syn_linear_timeouts). Default: 4,
            /// and what an emulated host's kernel likes.
            pub syn_linear_timeouts: Option<Whole<0, 127>>,
            /// The minimum RTO. Default: 200 ms.
            #[schemars(example = &"1 s")]
            pub rto_min: Option<Parsed<Positive>>,
            /// The largest window that an emulated host announces. Default: receiver.buffer where
            /// it receives, else what the kernel likes.
            #[schemars(example = &"65535 B")]
            pub window: Option<Parsed<Buffer>>,
            /// The largest packet that an emulated host sends. Default: tcp.mss and 40 B of
            /// headers.
            #[schemars(example = &"1500 B")]
            pub mtu: Option<Parsed<Size<88, 65_535, 1_500>>>,
            /// Does TCP of an emulated host hand over many segments as one (GSO), to be cut at the
            /// device? Default: false.
            pub offload: Option<bool>,
            /// The first window of an emulated host, in segments (initcwnd of its route). Default:
            /// what the kernel likes, 10.
            pub initial_window: Option<Whole<1, 100>>,
            /// Does an emulated host's address belong to a TUN device `stack0`, which a program
            /// opens to be the host, and does the kernel only forward? Default: false.
            pub tun: Option<bool>,
        }
    };
}

with_settings! {
    /// The kernel settings of emulated hosts, and of simulated ones that are Linux. Defaults are
    /// those of Linux.
    #[derive(Default)]
    Kernel {
        /// Hosts with settings of their own.
        #[serde(default)]
        pub host: Vec<KernelHost>,
    }
}

with_settings! {
    /// The kernel settings of one host that differ from the others.
    KernelHost {
        /// The node.
        #[schemars(example = &"mobile")]
        pub name: Parsed<Name>,
    }
}

/// When a run on the wall clock can be believed.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct EmulationConfig {
    /// How late one packet in a hundred may come out of a link. Default: 1 ms or 5 % of the round
    /// trip, whichever is longer.
    #[schemars(example = &"2 ms")]
    pub lateness: Option<Parsed<Duration>>,
    /// When the links' time begins where a command runs. Default: at-once.
    #[schemars(example = &"first-packet")]
    pub begin: Option<Parsed<Begin>>,
}
