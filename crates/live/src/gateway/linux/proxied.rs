//! A proxied connection: a socket of the engine's, a socket of the kernel's, and their states.

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
    /// Only late segments are answered.
    Lingers,
}

/// The state of the client's half.
pub(crate) enum Client {
    /// Its SYN is not answered yet.
    Waits(Box<WireSegment>),
    Answered(Box<TcpSide>),
}

/// The state of the server's half.
pub(crate) enum Server {
    Unasked,
    Connecting(Socket),
    Connected(Socket, SocketSide),
    /// Closed in both directions.
    Gone,
}

/// The bytes that a connection had moved at the last check, and when that number last grew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    pub up: u64,
    pub down: u64,
    pub at: Instant,
}

pub(crate) struct Proxied {
    /// The path from the client to the server.
    pub path: Path,
    pub stage: Stage,
    pub client: Client,
    pub server: Server,
    /// Is the client's handshake complete?
    pub connected: bool,
    pub moved: Moved,
    /// The initial sequence number, if it succeeds another connection of the same ends.
    pub isn: Option<u32>,
    /// The most bytes that it may buffer from the client.
    pub window: u32,
    /// The bytes that it buffered at the last count.
    pub kept: [usize; 2],
    /// The earliest time at which it asked for a wake-up.
    pub asked: Option<Instant>,
    /// Is it in the list of connections to process?
    pub touched: bool,
}

impl Proxied {
    /// The connection of a SYN.
    pub(crate) fn new(path: Path, syn: WireSegment, window: u32, now: Instant) -> Self {
        Self {
            path,
            stage: Stage::Opening,
            client: Client::Waits(Box::new(syn)),
            server: Server::Unasked,
            connected: false,
            moved: Moved { up: 0, down: 0, at: now },
            isn: None,
            window,
            kept: [0, 0],
            asked: None,
            touched: false,
        }
    }

    pub(crate) fn tcp_side(&mut self) -> Option<&mut TcpSide> {
        match &mut self.client {
            Client::Waits(_) => None,
            Client::Answered(tcp_side) => Some(tcp_side),
        }
    }

    /// Are only late segments to be answered?
    pub(crate) fn lingers(&self) -> bool {
        let quiet = matches!(&self.client, Client::Answered(tcp_side) if tcp_side.socket.connection.state() == State::TimeWait);
        quiet && matches!(self.server, Server::Gone)
    }

    /// Is it over?
    pub(crate) fn is_over(&self) -> bool {
        let closed = matches!(&self.client, Client::Answered(tcp_side) if tcp_side.socket.connection.state() == State::Closed);
        closed && matches!(self.server, Server::Gone | Server::Unasked)
    }

    /// Have both ends closed it, instead of resetting it?
    pub(crate) fn has_closed(&self) -> bool {
        matches!(&self.client, Client::Answered(tcp_side) if tcp_side.socket.connection.failure().is_none())
    }

    /// Updates the moved bytes; returns the increments in both directions.
    pub(crate) fn note_moved(&mut self, now: Instant) -> (u64, u64) {
        let before = self.moved;
        let Some(tcp_side) = self.tcp_side() else { return (0, 0) };
        let (up, down) = (tcp_side.taken, tcp_side.socket.acknowledged());
        if (up, down) != (before.up, before.down) {
            self.moved = Moved { up, down, at: now };
        }
        (up - before.up, down - before.down)
    }
}
