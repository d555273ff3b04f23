//! A host in virtual time: its clock, its sockets and the packets that it sends. Its interface has
//! neither pointers nor locks.

mod options;
mod report;
mod socket;
mod sockets;

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use rtolab_packet::Path;
use rtolab_tcp::wire::{Addresses, Ports};
use rtolab_tcp::{Codepoint, Config, Flags};
use rtolab_time::{Duration, Instant};

use crate::flow::LinuxConnection;
use crate::frame::TcpPacket;
use crate::settings::{HostSettings, SettingsError};

pub use socket::{CallError, CallResult, Descriptor, Shutdown};
use socket::{FlowId, Socket};

/// The initial time of the host's clock. It is not zero, as on a real host.
const CLOCK_START: Instant = Instant::from_nanos(1_000_000_000_000);

/// The first ephemeral port.
const FIRST_EPHEMERAL_PORT: u16 = 40_000;

/// A packet sent, with the time of its transmission.
#[derive(Debug)]
struct SentPacket {
    at: Instant,
    packet: Vec<u8>,
}

/// A host.
#[derive(Debug)]
pub struct Host {
    settings: HostSettings,
    /// The configuration. It is computed when the first socket is created, because a script sets
    /// sysctls before that.
    config: Option<Arc<Config>>,
    now: Instant,
    sockets: BTreeMap<Descriptor, Socket>,
    flows: Vec<LinuxConnection>,
    /// The packets sent that the tool has not received.
    sent: VecDeque<SentPacket>,
    /// The number of ephemeral ports used.
    ephemeral_ports: u16,
    /// The last report of the states, for FreeBSD's `sockstat`.
    reported: String,
}

impl Host {
    /// A host without sockets.
    pub fn new(settings: HostSettings) -> Self {
        Self {
            settings,
            config: None,
            now: CLOCK_START,
            sockets: BTreeMap::new(),
            flows: Vec::new(),
            sent: VecDeque::new(),
            ephemeral_ports: 0,
            reported: String::new(),
        }
    }

    fn config(&mut self) -> Result<Arc<Config>, SettingsError> {
        if self.config.is_none() {
            self.config = Some(Arc::new(self.settings.config()?));
        }
        Ok(self.config.clone().unwrap_or_default())
    }

    /// Reads the clock, which advances by a microsecond at each reading.
    pub fn read_clock(&mut self) -> Instant {
        self.advance(Duration::from_micros(1));
        self.now
    }

    /// Advances the time by `time`. Timers up to then expire.
    pub fn advance(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(next) = self.next_timer().filter(|&next| next <= end) {
            self.expire(next);
        }
        self.now = end;
    }

    /// The time at which the next timer expires; `None` if no timer is running.
    pub fn next_timer(&self) -> Option<Instant> {
        self.flows.iter().filter_map(LinuxConnection::next_timer).min()
    }

    /// Advances the time to the next timer. Returns `None` if no timer is running.
    pub fn advance_to_timer(&mut self) -> Option<()> {
        let next = self.next_timer()?;
        self.expire(next);
        Some(())
    }

    fn expire(&mut self, next: Instant) {
        self.now = self.now.max(next);
        for id in 0..self.flows.len() {
            if self.flows[id].next_timer().is_some_and(|at| at <= self.now) {
                self.flows[id].on_timer(self.now);
                self.drain(id);
            }
        }
    }

    /// The next packet sent, with the time of its transmission.
    pub fn next_packet(&mut self) -> Option<(Vec<u8>, Instant)> {
        self.sent.pop_front().map(|sent| (sent.packet, sent.at))
    }

    /// Has a packet been sent that the tool has not received?
    pub fn has_packets(&self) -> bool {
        !self.sent.is_empty()
    }

    fn drain(&mut self, id: FlowId) {
        for frame in self.flows[id].drain(self.now) {
            self.send(&frame);
        }
    }

    fn send(&mut self, frame: &TcpPacket) {
        self.sent.push_back(SentPacket { at: self.now, packet: frame.emit(self.settings.system) });
    }

    /// Processes a received packet. A packet without TCP is dropped.
    pub fn on_packet(&mut self, packet: &[u8]) {
        let Ok(frame) = TcpPacket::parse(packet) else { return };
        let path = frame.path_back();
        let existing = self.flows.iter().position(|flow| flow.path == path && flow.end.is_none());
        if self.is_dropped_by_freebsd(&frame, existing) {
            return;
        }
        if let Some(id) = existing {
            self.flows[id].on_frame(&frame, self.now);
            self.drain(id);
            self.enqueue(id);
        } else if let Some(config) = self.config_for(&frame) {
            let (isn, mut syn) = (self.isn(), frame);
            if self.settings.sends_syn_cookies() {
                syn.keep_what_a_cookie_holds();
            }
            self.begin(LinuxConnection::accept(config, &syn, isn));
        } else {
            self.refuse(&frame);
        }
    }

    /// Is the host a FreeBSD that drops this segment, which may belong to a connection?
    fn is_dropped_by_freebsd(&self, frame: &TcpPacket, id: Option<FlowId>) -> bool {
        let Some(settings) = self.settings.freebsd() else { return false };
        (settings.drop_synfin && frame.segment.flags.has(Flags::SYN | Flags::FIN))
            || id.is_some_and(|id| self.flows[id].is_dropped_by_freebsd(frame))
    }

    /// Puts a connection whose handshake is complete into the accept queue.
    fn enqueue(&mut self, id: FlowId) {
        let refers_to_it = |socket: &Socket| match socket {
            Socket::Connection { id: other, .. } => *other == id,
            Socket::Listener { queue, .. } => queue.contains(&id),
            Socket::Unconnected { .. } => false,
        };
        let flow = &self.flows[id];
        if !flow.connected || flow.queued || self.sockets.values().any(refers_to_it) {
            return;
        }
        self.flows[id].queued = true;
        let path = self.flows[id].path;
        if let Some(queue) = self.sockets.values_mut().find_map(|socket| socket.queue_for(&path)) {
            queue.push_back(id);
        }
    }

    /// Adds a connection and sends its first packet.
    fn begin(&mut self, mut flow: LinuxConnection) -> FlowId {
        flow.set_push(self.settings.push, self.settings.min_segments());
        flow.set_gso_size(self.settings.gso);
        flow.set_system(self.settings.system);
        self.flows.push(flow);
        let id = self.flows.len() - 1;
        self.drain(id);
        id
    }

    /// The configuration of the connection that `frame` opens; `None` if it is not a SYN, or if no
    /// socket listens.
    fn config_for(&self, frame: &TcpPacket) -> Option<Arc<Config>> {
        let (path, flags) = (frame.path_back(), frame.segment.flags);
        let opens = flags.has(Flags::SYN) && !flags.any(Flags::ACK | Flags::RST);
        let listener = self.sockets.values().find(|socket| socket.listens_at(&path))?;
        listener.config().filter(|_| opens).cloned()
    }

    /// Sends the reply of the states CLOSED and LISTEN (RFC 9293 sections 3.10.7.1 and 3.10.7.2).
    /// In LISTEN a segment without ACK has none.
    fn refuse(&mut self, frame: &TcpPacket) {
        let path = frame.path_back();
        let listens = self.sockets.values().any(|socket| socket.listens_at(&path));
        if listens && !frame.segment.flags.has(Flags::ACK) {
            return;
        }
        let Some(segment) = frame.segment.refuse() else { return };
        let addresses = frame.addresses.reversed();
        let codepoint = Codepoint::NotEct;
        self.send(&TcpPacket { addresses, codepoint, segment, payload: Vec::new() });
    }

    /// The next initial sequence number. It is far from the previous ones and the same in every
    /// run.
    fn isn(&self) -> u32 {
        0x1357_9bdf_u32.wrapping_add((self.flows.len() as u32).wrapping_mul(0x0100_0001))
    }

    /// The path to `peer` from `own`, or from the host's address and an ephemeral port.
    fn path_to(&mut self, own: Option<SocketAddr>, peer: SocketAddr) -> Option<Path> {
        let port = own.map(|own| own.port()).filter(|&port| port != 0).unwrap_or_else(|| {
            self.ephemeral_ports += 1;
            FIRST_EPHEMERAL_PORT + self.ephemeral_ports
        });
        let ip = own.map(|own| own.ip()).filter(|ip| !ip.is_unspecified());
        let local = self.settings.local;
        let addresses = match (ip, peer.ip()) {
            (None, IpAddr::V4(to)) => Addresses::V4 { from: local.v4, to },
            (None, IpAddr::V6(to)) => Addresses::V6 { from: local.v6, to },
            (Some(IpAddr::V4(from)), IpAddr::V4(to)) => Addresses::V4 { from, to },
            (Some(IpAddr::V6(from)), IpAddr::V6(to)) => Addresses::V6 { from, to },
            _ => return None,
        };
        Some(Path { addresses, ports: Ports { from: port, to: peer.port() } })
    }
}
