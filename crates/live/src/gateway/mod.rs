//! A gateway between a link and the rest of the world: each connection is two, one of the engine's
//! with the client and one of the kernel's with the server (Pan, Mark and Shen 2002, the split connection
//! of figure 1(b); RFC 3135 section 2.4).

mod behaviour;
mod counts;
mod error;
mod settings;

#[cfg(target_os = "linux")]
mod configs;
#[cfg(target_os = "linux")]
mod device;
#[cfg(target_os = "linux")]
mod leg;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod packet;
#[cfg(target_os = "linux")]
mod relay;
#[cfg(target_os = "linux")]
mod ring;
#[cfg(target_os = "linux")]
mod socket;
#[cfg(target_os = "linux")]
mod splice;
#[cfg(target_os = "linux")]
mod table;
#[cfg(all(test, target_os = "linux"))]
mod tests;
#[cfg(target_os = "linux")]
mod timers;
#[cfg(target_os = "linux")]
mod trace;
#[cfg(target_os = "linux")]
mod wired;

pub use behaviour::behaviour;
pub use counts::Counts as GatewayCounts;
pub use error::GatewayError;
pub use settings::{Device, Gateway, Handshake, Limits, Refusal};

impl Gateway {
    /// Runs until `interrupted`, which is asked ten times a second and after every signal, says yes, or
    /// the time is over. `ready` is called once the device is there.
    ///
    /// # Errors
    /// When the device cannot be made ([`GatewayError`] says why), a setting is impossible or the
    /// system refuses. The device is gone then, too, and all connections are reset.
    #[cfg(target_os = "linux")]
    pub fn run(
        &self,
        ready: &mut dyn FnMut(),
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Result<GatewayCounts, GatewayError> {
        relay::run(self, ready, interrupted)
    }

    /// Says that this is not Linux.
    #[cfg(not(target_os = "linux"))]
    pub fn run(
        &self,
        _: &mut dyn FnMut(),
        _: &mut dyn FnMut() -> bool,
    ) -> Result<GatewayCounts, GatewayError> {
        Err(GatewayError::NotLinux)
    }
}
