//! The settings of a gateway.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use rtolab_tcp::Config;
use rtolab_time::Duration;

/// A split-connection proxy on a TUN device.
///
/// The engine terminates all TCP connections whose packets come from the device. The kernel's own
/// sockets connect to the same destination, or to one server for all. The gateway relays bytes with
/// back-pressure, and propagates closes and resets.
#[derive(Clone, Debug)]
pub struct Gateway {
    /// The device from which packets come.
    pub device: Device,
    /// The engine's configuration toward clients. Its segment size is limited by the device's MTU,
    /// and its buffer by memory.
    pub config: Config,
    /// The server of all connections; `None` for the destination of each client.
    pub to: Option<SocketAddr>,
    /// The time of the answer to a client's SYN.
    pub handshake: SynAnswer,
    /// The rejection of clients.
    pub refusal: Refusal,
    /// The limits on connections, memory and time.
    pub limits: GatewayLimits,
    /// A pcapng file for the headers of packets on the device.
    pub pcap: Option<PathBuf>,
    /// The duration of the run; `None` to run until interrupted.
    pub duration: Option<Duration>,
}

/// The TUN device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Device {
    pub name: String,
    /// This machine's addresses on it, with prefix lengths.
    pub addresses: Vec<(IpAddr, u8)>,
    /// Networks with a route through it.
    pub routes: Vec<(IpAddr, u8)>,
    /// The treatment of IPv6 addresses and routes if IPv6 is disabled.
    pub ipv6_fallback: Ipv6Fallback,
    /// The MTU in bytes.
    pub mtu: u16,
    /// The network namespace of the device, by its name in `ip netns`; `None` for that of the
    /// process. The sockets are always in the namespace of the process.
    pub namespace: Option<String>,
}

/// The treatment of IPv6 addresses and routes if IPv6 is disabled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ipv6Fallback {
    /// Ignore them.
    #[default]
    Ignore,
    /// Fail.
    Fail,
}

/// The address families that a gateway handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressFamilies {
    /// All requested families.
    All,
    /// IPv4 only: IPv6 was requested, but is disabled.
    Ipv4Only,
}

/// The time of the answer to a client's SYN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SynAnswer {
    /// After the server has answered. A client sees refused connections and unreachable servers as
    /// without a gateway.
    #[default]
    AfterServer,
    /// At once. The gateway connects to the server after the client's handshake, which saves a
    /// round trip and protects the server from forged SYNs. If the server refuses, the gateway
    /// resets the established connection.
    BeforeServer,
}

/// The rejection of clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refusal {
    /// By a reset, which the client sees at once.
    #[default]
    Reset,
    /// Silently, so that the client retransmits its SYN.
    Silence,
}

/// The limits of a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatewayLimits {
    /// The maximum number of connections, half-open ones included, without those in TIME-WAIT.
    pub connections: usize,
    /// The maximum number of half-open connections. The next one replaces the oldest.
    pub half_open: usize,
    /// The maximum number of connections in TIME-WAIT. The next one replaces the oldest.
    pub time_wait: usize,
    /// The maximum payload buffered for all connections in both directions, in bytes.
    pub memory: u64,
    /// The maximum payload buffered from a server for its client, in bytes.
    pub send_buffer: u32,
    /// The idle time after which a connection is reset.
    pub idle: Duration,
    /// The time after which a connection is aborted if the client does not answer (R2 of RFC 9293
    /// section 3.8.3), unless the configuration sets one.
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
