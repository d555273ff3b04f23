//! The settings of a gateway.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use rtolab_tcp::Config;
use rtolab_time::Duration;

/// A split-connection proxy on a TUN device.
///
/// The engine terminates TCP connections whose packets come from the device, whatever their
/// destination. The kernel's own sockets continue them to the same destination, or to one for all.
/// Bytes are relayed with back-pressure; closes and resets are propagated.
#[derive(Clone, Debug)]
pub struct Gateway {
    /// The device from which packets come.
    pub device: Device,
    /// The engine's configuration toward clients. Its segment size is limited by the device's MTU,
    /// and its buffer by memory.
    pub config: Config,
    /// The server of all connections; `None`: the destination that each client chose.
    pub to: Option<SocketAddr>,
    /// When to answer a client's SYN.
    pub handshake: SynAnswer,
    /// How to reject clients.
    pub refusal: Refusal,
    /// How much is too much.
    pub limits: GatewayLimits,
    /// A pcapng file for the headers of packets on the device.
    pub pcap: Option<PathBuf>,
    /// How long to run; `None`: until interrupted.
    pub duration: Option<Duration>,
}

/// The TUN device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Device {
    pub name: String,
    /// This machine's addresses on it, with prefix lengths.
    pub addresses: Vec<(IpAddr, u8)>,
    /// Networks that are reached through it.
    pub routes: Vec<(IpAddr, u8)>,
    /// How to treat IPv6 addresses and routes if the system has no IPv6.
    pub without_ipv6: WithoutIpv6,
    /// The MTU in bytes.
    pub mtu: u16,
    /// The network namespace of the device, by the name that `ip netns` knows; `None`: that of the
    /// process. The sockets are always in the process's own.
    pub namespace: Option<String>,
}

/// How to treat IPv6 addresses and routes if IPv6 is disabled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WithoutIpv6 {
    /// Ignore them.
    #[default]
    LeftOut,
    /// Fail.
    Refused,
}

/// The families of addresses that a gateway takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// All that were requested.
    All,
    /// Only IPv4: IPv6 was requested, but is disabled.
    Ipv4Alone,
}

/// When to answer a client's SYN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SynAnswer {
    /// After the server has answered: a client sees refused connections and unreachable servers as
    /// without a gateway.
    #[default]
    AfterServer,
    /// At once; the server is contacted after the client's handshake. That saves a round trip and
    /// keeps forged SYNs from the server, but a connection that the server refuses is reset after
    /// it was open.
    BeforeServer,
}

/// How to reject clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refusal {
    /// By a reset, so that the client knows at once.
    #[default]
    Reset,
    /// Silently, so that the client tries again.
    Silence,
}

/// The limits of a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatewayLimits {
    /// The most simultaneous connections, half-open ones included, without those in TIME-WAIT.
    pub connections: usize,
    /// The most half-open connections; the next one replaces the oldest.
    pub half_open: usize,
    /// The most connections in TIME-WAIT; the next one replaces the oldest.
    pub time_wait: usize,
    /// The most payload buffered for all connections in both directions, in bytes.
    pub memory: u64,
    /// The most payload buffered from a server for its client, in bytes.
    pub send_buffer: u32,
    /// A connection that is idle this long is reset.
    pub idle: Duration,
    /// How long to try to reach a client that does not answer (R2 of RFC 9293 section 3.8.3),
    /// unless the configuration says.
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
