//! The wall clock: the same link that the simulator uses, between real kernels.
//!
//! [`Emulation::run`] makes two network namespaces, joins them by a [`Channel`] and runs a command
//! in the first. Needs Linux, root, `/dev/net/tun` and iproute2.
//!
//! [`Channel`]: rtolab_link::Channel

mod ecn;
mod emulation;
mod error;
mod report;

#[cfg(target_os = "linux")]
mod namespace;
#[cfg(target_os = "linux")]
mod pump;

pub use emulation::Emulation;
pub use error::Error;
pub use report::{Ended, Lateness, Report};
