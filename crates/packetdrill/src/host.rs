//! A host in virtual time: its clock, its sockets, and the packets that it sends. Its interface has
//! neither pointers nor locks.

mod options;
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

pub use socket::{CallResult, Descriptor, How, NoResult};
use socket::{FlowId, Socket};

/// The initial time of the host's clock, which, as a kernel's, is not zero.
const BEGIN: Instant = Instant::from_nanos(1_000_000_000_000);

/// The first ephemeral port.
const EPHEMERAL: u16 = 40_000;

/// A packet that left, and when.
#[derive(Debug)]
struct Departure {
    at: Instant,
    packet: Vec<u8>,
}

/// One host.
#[derive(Debug)]
pub struct Host {
    settings: HostSettings,
    /// Read when the first socket is created, after the script's sysctl settings.
    config: Option<Arc<Config>>,
    now: Instant,
    sockets: BTreeMap<Descriptor, Socket>,
    flows: Vec<LinuxConnection>,
    departures: VecDeque<Departure>,
    opened: u16,
}

impl Host {
    /// A host without sockets.
    pub fn new(settings: HostSettings) -> Self {
        Self {
            settings,
            config: None,
            now: BEGIN,
            sockets: BTreeMap::new(),
            flows: Vec::new(),
            departures: VecDeque::new(),
            opened: 0,
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
        self.pass(Duration::from_micros(1));
        self.now
    }

    /// Advances the time; timers expire meanwhile.
    pub fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(next) = self.next_timer().filter(|&next| next <= end) {
            self.expire(next);
        }
        self.now = end;
    }

    /// When the next timer expires.
    pub fn next_timer(&self) -> Option<Instant> {
        self.flows.iter().filter_map(|flow| flow.socket.connection.next_timer()).min()
    }

    /// Advances the time to the next timer, if there is one.
    pub fn pass_to_timer(&mut self) -> Option<()> {
        let next = self.next_timer()?;
        self.expire(next);
        Some(())
    }

    fn expire(&mut self, next: Instant) {
        self.now = self.now.max(next);
        for id in 0..self.flows.len() {
            let due =
                self.flows[id].socket.connection.next_timer().is_some_and(|at| at <= self.now);
            if due {
                self.flows[id].socket.connection.on_timer(self.now);
                self.drain(id);
            }
        }
    }

    /// The next packet sent, and when.
    pub fn departed(&mut self) -> Option<(Vec<u8>, Instant)> {
        self.departures.pop_front().map(|departure| (departure.packet, departure.at))
    }

    /// Is there a packet that the tool has not received?
    pub fn has_departed(&self) -> bool {
        !self.departures.is_empty()
    }

    fn drain(&mut self, id: FlowId) {
        for frame in self.flows[id].drain(self.now) {
            self.depart(&frame);
        }
    }

    fn depart(&mut self, frame: &TcpPacket) {
        self.departures.push_back(Departure { at: self.now, packet: frame.emit() });
    }

    /// Processes an incoming packet; one without TCP is dropped.
    pub fn arrive(&mut self, packet: &[u8]) {
        let Ok(frame) = TcpPacket::parse(packet) else { return };
        let path = frame.path_back();
        let old = self.flows.iter().position(|flow| flow.path == path && flow.end.is_none());
        if let Some(id) = old {
            self.flows[id].on_frame(&frame, self.now);
            self.drain(id);
            self.announce(id);
        } else if let Some(config) = self.config_for(&frame) {
            let isn = self.isn();
            self.begin(LinuxConnection::accept(config, &frame, isn));
        } else {
            self.refuse(&frame);
        }
    }

    /// Puts a connection whose handshake is complete into the accept queue.
    fn announce(&mut self, id: FlowId) {
        let known = |socket: &Socket| match socket {
            Socket::Connection { id: other, .. } => *other == id,
            Socket::Listener { queue, .. } => queue.contains(&id),
            Socket::Fresh { .. } => false,
        };
        if !self.flows[id].connected || self.flows[id].announced || self.sockets.values().any(known)
        {
            return;
        }
        self.flows[id].announced = true;
        let path = self.flows[id].path;
        if let Some(queue) = self.sockets.values_mut().find_map(|socket| socket.queue_for(&path)) {
            queue.push_back(id);
        }
    }

    /// Adds a connection.
    fn begin(&mut self, mut flow: LinuxConnection) -> FlowId {
        flow.set_push(self.settings.push, self.settings.min_segments());
        self.flows.push(flow);
        let id = self.flows.len() - 1;
        self.drain(id);
        id
    }

    /// The configuration of the connection that `frame` opens, if a socket listens.
    fn config_for(&self, frame: &TcpPacket) -> Option<Arc<Config>> {
        let (path, flags) = (frame.path_back(), frame.segment.flags);
        let opens = flags.has(Flags::SYN) && !flags.any(Flags::ACK | Flags::RST);
        let listener = self.sockets.values().find(|socket| socket.listens_at(&path))?;
        listener.config().filter(|_| opens).cloned()
    }

    /// The answer of CLOSED and LISTEN (RFC 9293 section 3.10.7.1 and 3.10.7.2).
    fn refuse(&mut self, frame: &TcpPacket) {
        let Some(segment) = frame.segment.refuse() else { return };
        let addresses = frame.addresses.reversed();
        let codepoint = Codepoint::NotEct;
        self.depart(&TcpPacket { addresses, codepoint, segment, payload: Vec::new() });
    }

    /// The initial sequence number: far from the others, and the same in every run.
    fn isn(&self) -> u32 {
        0x1357_9bdf_u32.wrapping_add((self.flows.len() as u32).wrapping_mul(0x0100_0001))
    }

    /// The path to `peer` from `own`, or from the host's address and an ephemeral port.
    fn path_to(&mut self, own: Option<SocketAddr>, peer: SocketAddr) -> Option<Path> {
        let port = own.map(|own| own.port()).filter(|&port| port != 0).unwrap_or_else(|| {
            self.opened += 1;
            EPHEMERAL + self.opened
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
