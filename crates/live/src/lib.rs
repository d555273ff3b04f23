//! The wall clock: the same links that the simulator uses, between real kernels.
//!
//! [`Emulation`] makes a network namespace of each of a scenario's hosts and joins them by
//! [`Channel`]s. It runs the scenario's flows with the kernels' own sockets and leaves the tables
//! that a simulated run leaves, or it runs a command. Needs Linux, root, `/dev/net/tun` and
//! iproute2.
//!
//! [`Channel`]: rtolab_link::Channel

mod ecn;
mod emulation;
mod error;
mod gateway;
mod report;

#[cfg(target_os = "linux")]
mod command;
#[cfg(target_os = "linux")]
mod counters;
#[cfg(all(test, target_os = "linux"))]
mod figures;
#[cfg(target_os = "linux")]
mod found;
#[cfg(target_os = "linux")]
mod host;
#[cfg(target_os = "linux")]
mod log;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg(target_os = "linux")]
mod needs;
#[cfg(target_os = "linux")]
mod packet;
#[cfg(target_os = "linux")]
mod pump;
#[cfg(target_os = "linux")]
mod recording;
#[cfg(target_os = "linux")]
mod roads;
#[cfg(target_os = "linux")]
mod seen;
#[cfg(target_os = "linux")]
mod settings;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(target_os = "linux")]
mod stop;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod talk;
#[cfg(target_os = "linux")]
mod tally;
#[cfg(target_os = "linux")]
mod truth;
#[cfg(target_os = "linux")]
mod watch;
#[cfg(target_os = "linux")]
mod workload;

pub use emulation::{Emulation, Keep, Ran};
pub use error::Error;
#[cfg(not(target_os = "linux"))]
pub use error::clean;
pub use gateway::{
    Device, Gateway, GatewayCounts, GatewayError, Handshake, Limits, Refusal, behaviour,
};
#[cfg(target_os = "linux")]
pub use namespace::clean;
pub use report::{Counts, Effective, Ended, HostReport, Lateness, LinkReport, Report};
