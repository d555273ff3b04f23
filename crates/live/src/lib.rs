//! The wall clock: the same links that the simulator uses, between real kernels.
//!
//! [`Emulation`] makes a network namespace of each of a scenario's hosts and joins them by
//! [`Channel`]s. It runs the scenario's flows with the kernels' own sockets and leaves the tables
//! that a simulated run leaves, or it runs a command. Needs Linux, root, `/dev/net/tun` and
//! iproute2.
//!
//! [`Channel`]: rtolab_link::Channel

mod emulation;
mod error;
mod gateway;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
#[path = "elsewhere.rs"]
mod linux;
mod report;

pub use emulation::{Emulation, Keep, Ran};
pub use error::Error;
pub use gateway::{
    Device, Gateway, GatewayCounts, GatewayError, Handshake, Limits, Refusal, Takes, WithoutIpv6,
    behaviour,
};
pub use linux::clean;
pub use report::{Counts, Effective, Ended, HostReport, Lateness, LinkReport, Report};
