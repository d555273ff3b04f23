//! The packets of a packet socket.

use std::net::IpAddr;

use rtolab_capture::Captured;

/// The name that stands for all interfaces.
#[cfg(target_os = "linux")]
pub(super) const ANY: &str = "any";

/// The packets to receive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketFilter {
    /// Only those from or to this address.
    pub host: Option<IpAddr>,
    /// Only those from or to this port.
    pub port: Option<u16>,
}

/// What the kernel counted of a packet socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelCounts {
    /// Packets that passed the filter, dropped ones included.
    pub packets: u64,
    /// Packets that found no room in the ring.
    pub drops: u64,
}

impl PacketFilter {
    /// The kernel's filter does not look behind IPv6 extension headers.
    pub(super) fn admits(&self, captured: &Captured) -> bool {
        let (from, to) = (captured.packet.from(), captured.packet.to());
        self.host.is_none_or(|host| from.ip() == host || to.ip() == host)
            && self.port.is_none_or(|port| from.port() == port || to.port() == port)
    }
}
