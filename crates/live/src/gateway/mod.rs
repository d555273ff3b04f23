//! A gateway between a link and the rest of the network. It splits each connection into a
//! connection of the engine with the client and a connection of the kernel with the server (Pan,
//! Mark and Shen 2002, figure 1(b); RFC 3135 section 2.4).

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
pub use settings::{
    AddressFamilies, Device, Gateway, GatewayLimits, Ipv6Fallback, Refusal, SynAnswer,
};

impl Gateway {
    /// Runs until the configured duration ends or `interrupted` returns true. `interrupted` is
    /// called ten times a second and after every signal. `ready` is called when the device exists,
    /// with the address families that the gateway handles.
    ///
    /// # Errors
    /// The device cannot be made, a setting is impossible, or the system returns an error. The
    /// device is removed in that case, too, and all connections are reset.
    pub fn run(
        &self,
        ready: &mut dyn FnMut(AddressFamilies),
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Result<GatewayCounts, GatewayError> {
        linux::run(self, ready, interrupted)
    }
}
