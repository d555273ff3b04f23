//! A gateway between a link and the rest of the network: it splits each connection into one of the
//! engine's with the client and one of the kernel's with the server (Pan, Mark and Shen 2002, the
//! split connection of figure 1(b); RFC 3135 section 2.4).

mod behaviour;
mod counts;
mod error;
mod settings;

#[cfg(not(target_os = "linux"))]
#[path = "elsewhere.rs"]
mod linux;
#[cfg(target_os = "linux")]
mod linux;

pub use behaviour::behaviour;
pub use counts::Counts as GatewayCounts;
pub use error::GatewayError;
pub use settings::{Device, Gateway, GatewayLimits, Refusal, SynAnswer, Takes, WithoutIpv6};

impl Gateway {
    /// Runs until the time is over or `interrupted` returns true, which is called ten times a
    /// second and after every signal. `ready` is called once the device exists, with the families
    /// that the gateway takes.
    ///
    /// # Errors
    /// The device cannot be made ([`GatewayError`] says why), a setting is impossible, or the
    /// system returns an error. The device is removed then, too, and all connections are reset.
    pub fn run(
        &self,
        ready: &mut dyn FnMut(Takes),
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Result<GatewayCounts, GatewayError> {
        linux::run(self, ready, interrupted)
    }
}
