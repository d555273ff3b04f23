//! What a gateway is asked to be.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use rtolab_tcp::Config;
use rtolab_time::Duration;

/// A split-connection proxy on a TUN device.
///
/// TCP connections whose packets come from the device are ended here, by the engine, whatever address
/// and port they are for, and carried on by the kernel's own sockets: to the same address and port, or
/// to one for all. Bytes go on as fast as the other half takes them, an end becomes an end, a reset a
/// reset.
#[derive(Clone, Debug)]
pub struct Gateway {
    /// Where packets come from.
    pub device: Device,
    /// How the engine behaves to clients, both as a sender and as a receiver. Of the segment size as
    /// much is used as the device's MTU has room for, and of the buffer as much as there is memory.
    pub config: Config,
    /// Where all connections are carried on to; `None`: where their clients meant to go.
    pub to: Option<SocketAddr>,
    /// When a client's SYN is answered.
    pub handshake: SynAnswer,
    /// What a client gets that is turned away.
    pub refusal: Refusal,
    /// The resource limits of a gateway.
    pub limits: GatewayLimits,
    /// A pcapng file for the headers of what passes the device.
    pub pcap: Option<PathBuf>,
    /// How long it runs; `None`: until it is told to end.
    pub duration: Option<Duration>,
}

/// The TUN device that packets come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// This machine's addresses on it, with the lengths of their networks' prefixes.
    pub addresses: Vec<(IpAddr, u8)>,
    /// Networks that are reached through it.
    pub routes: Vec<(IpAddr, u8)>,
    /// What becomes of those of IPv6 where the system has none.
    pub without_ipv6: WithoutIpv6,
    /// The largest packet, in bytes.
    pub mtu: u16,
    /// The network namespace that it is in, by the name that `ip netns` knows; `None`: the process's
    /// own. The sockets are always in the process's own.
    pub namespace: Option<String>,
}

/// What becomes of addresses and routes of IPv6 where IPv6 is disabled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WithoutIpv6 {
    /// They are left out.
    #[default]
    LeftOut,
    /// There is no gateway: somebody wants them.
    Refused,
}

/// What a gateway takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// What it was asked to.
    All,
    /// IPv4 alone: what it was to take of IPv6 is left out, for IPv6 is disabled.
    Ipv4Alone,
}

/// When a client's SYN is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SynAnswer {
    /// When the server has answered: a refused connection is refused, an unreachable server gives
    /// no answer but a reset, as if nobody stood between.
    #[default]
    AfterServer,
    /// At once; the server is asked when the client's handshake is complete. That is one round trip
    /// less, and forged SYNs never reach a server; a connection that the server refuses is reset after
    /// it was open.
    BeforeServer,
}

/// What a client gets that is turned away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refusal {
    /// A reset: it knows at once.
    #[default]
    Reset,
    /// Nothing: it tries again.
    Silence,
}

/// The resource limits of a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatewayLimits {
    /// The most connections at once, half-open ones included, those in TIME-WAIT not.
    pub connections: usize,
    /// The most half-open connections; one more takes the place of the oldest.
    pub half_open: usize,
    /// The most connections in TIME-WAIT; one more takes the place of the oldest.
    pub time_wait: usize,
    /// The most payload kept for all connections, both ways together, in bytes.
    pub memory: u64,
    /// The most payload kept for one client that its server has sent, in bytes.
    pub send_buffer: u32,
    /// A connection that moves nothing for so long is reset.
    pub idle: Duration,
    /// So long it is tried to reach a client that does not answer (R2 of RFC 9293 section 3.8.3), where
    /// the configuration does not say.
    pub give_up: Duration,
}

impl Default for GatewayLimits {
    fn default() -> Self {
        Self {
            connections: 4096,
            half_open: 512,
            time_wait: 16_384,
            memory: 1 << 30,
            send_buffer: 1 << 20,
            // RFC 5382 section 5, REQ-5.
            idle: Duration::from_secs(7440),
            give_up: Duration::from_secs(180),
        }
    }
}
