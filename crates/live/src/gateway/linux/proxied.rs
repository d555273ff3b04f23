//! A proxied connection: a socket of the engine, a socket of the kernel, and their states.

use rtolab_tcp::State;
use rtolab_tcp::wire::WireSegment;
use rtolab_time::Instant;

use super::socket::Socket;
use super::socket_side::SocketSide;
use super::tcp_side::TcpSide;
use rtolab_packet::Path;

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The client's handshake or the connection to the server is not complete.
    Opening,
    /// Established, or one half is still open.
    Open,
    /// The client's side is in TIME-WAIT, and the server's is closed.
    TimeWait,
}

/// The state of the client side.
pub(crate) enum Client {
    /// Its SYN is not answered yet.
    SynReceived(Box<WireSegment>),
    Accepted(Box<TcpSide>),
}

/// The state of the server side.
pub(crate) enum Server {
    NotConnected,
    Connecting(Socket),
    Connected(Socket, SocketSide),
    /// Closed in both directions.
    Closed,
}

/// The bytes that a connection had relayed at the last check, and when that number last grew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    pub up: u64,
    pub down: u64,
    pub at: Instant,
}

/// A proxied connection.
pub(crate) struct Proxied {
    /// The path from the client to the server.
    pub path: Path,
    pub stage: Stage,
    pub client: Client,
    pub server: Server,
    /// Is the client's handshake complete?
    pub connected: bool,
    pub progress: Progress,
    /// The initial sequence number, if it replaces a connection of the same ends in TIME-WAIT.
    pub isn: Option<u32>,
    /// The receive window toward the client, in bytes.
    pub window: u32,
    /// The bytes buffered for the client and for the server at the last count.
    pub buffered: [usize; 2],
    /// The earliest scheduled wake-up.
    pub wake_at: Option<Instant>,
    /// Is it in the list of connections to process?
    pub is_pending: bool,
}

impl Proxied {
    /// The connection of a SYN.
    pub(crate) fn new(path: Path, syn: WireSegment, window: u32, now: Instant) -> Self {
        Self {
            path,
            stage: Stage::Opening,
            client: Client::SynReceived(Box::new(syn)),
            server: Server::NotConnected,
            connected: false,
            progress: Progress { up: 0, down: 0, at: now },
            isn: None,
            window,
            buffered: [0, 0],
            wake_at: None,
            is_pending: false,
        }
    }

    pub(crate) fn tcp_side(&mut self) -> Option<&mut TcpSide> {
        match &mut self.client {
            Client::SynReceived(_) => None,
            Client::Accepted(tcp_side) => Some(tcp_side),
        }
    }

    /// Is the client side in TIME-WAIT, and the server side closed?
    pub(crate) fn is_in_time_wait(&self) -> bool {
        let quiet = matches!(&self.client, Client::Accepted(tcp_side) if tcp_side.socket.connection.state() == State::TimeWait);
        quiet && matches!(self.server, Server::Closed)
    }

    /// Are both sides closed?
    pub(crate) fn is_over(&self) -> bool {
        let closed = matches!(&self.client, Client::Accepted(tcp_side) if tcp_side.socket.connection.state() == State::Closed);
        closed && matches!(self.server, Server::Closed | Server::NotConnected)
    }

    /// Did it end without a reset?
    pub(crate) fn has_closed(&self) -> bool {
        matches!(&self.client, Client::Accepted(tcp_side) if tcp_side.socket.connection.failure().is_none())
    }

    /// Updates the relayed bytes. Returns the increments in both directions.
    pub(crate) fn update_progress(&mut self, now: Instant) -> (u64, u64) {
        let before = self.progress;
        let Some(tcp_side) = self.tcp_side() else { return (0, 0) };
        let (up, down) = (tcp_side.consumed, tcp_side.socket.acknowledged());
        if (up, down) != (before.up, before.down) {
            self.progress = Progress { up, down, at: now };
        }
        (up - before.up, down - before.down)
    }
}
