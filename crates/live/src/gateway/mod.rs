//! A gateway between a link and the rest of the world: each connection is two, one of the engine's
//! with the client and one of the kernel's with the server (Pan, Mark and Shen 2002, the split connection
//! of figure 1(b); RFC 3135 section 2.4).

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
    /// Runs until `interrupted`, which is asked ten times a second and after every signal, says yes, or
    /// the time is over. `ready` is called once the device is there, with what the gateway takes.
    ///
    /// # Errors
    /// When the device cannot be made ([`GatewayError`] says why), a setting is impossible or the
    /// system refuses. The device is gone then, too, and all connections are reset.
    pub fn run(
        &self,
        ready: &mut dyn FnMut(Takes),
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Result<GatewayCounts, GatewayError> {
        linux::run(self, ready, interrupted)
    }
}
