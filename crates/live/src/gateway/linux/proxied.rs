//! One connection: a leg of the engine's and a socket of the kernel's, and how far they are.

use rtolab_tcp::State;
use rtolab_tcp::wire::WireSegment;
use rtolab_time::Instant;

use super::socket::Socket;
use super::socket_side::SocketSide;
use super::tcp_side::TcpSide;
use rtolab_packet::Path;

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The client's handshake, or the way to the server, is not complete.
    Opening,
    /// Both halves are open, or one is still to be served.
    Open,
    /// Nothing is left but to answer late segments.
    Lingers,
}

/// The half of the client.
pub(crate) enum Client {
    /// Its SYN waits to be answered.
    Waits(Box<WireSegment>),
    /// It is answered.
    Answered(Box<TcpSide>),
}

/// The half of the server.
pub(crate) enum Server {
    /// It has not been asked.
    Unasked,
    /// It is being connected to.
    Connecting(Socket),
    /// It is connected.
    Connected(Socket, SocketSide),
    /// Nothing more is to be had of it, or told it.
    Gone,
}

/// What a connection was last seen to have moved, and when it moved more than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    pub up: u64,
    pub down: u64,
    pub at: Instant,
}

/// One connection.
pub(crate) struct Proxied {
    /// From the client to the server.
    pub path: Path,
    pub stage: Stage,
    pub client: Client,
    pub server: Server,
    /// Is the client's handshake complete?
    pub connected: bool,
    pub moved: Moved,
    /// What its own numbers begin with, where it succeeds another of the same ends.
    pub isn: Option<u32>,
    /// The most bytes that it may keep of the client's.
    pub window: u32,
    /// What it keeps for the client and of it, as was last counted.
    pub kept: [usize; 2],
    /// The earliest time that it asked to be woken at.
    pub asked: Option<Instant>,
    /// Is it on the list of those to be served?
    pub touched: bool,
}

impl Proxied {
    /// Of a SYN.
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

    /// Is nothing left of it but to answer late segments?
    pub(crate) fn lingers(&self) -> bool {
        let quiet = matches!(&self.client, Client::Answered(tcp_side) if tcp_side.socket.connection.state() == State::TimeWait);
        quiet && matches!(self.server, Server::Gone)
    }

    /// Is nothing left of it?
    pub(crate) fn is_over(&self) -> bool {
        let closed = matches!(&self.client, Client::Answered(tcp_side) if tcp_side.socket.connection.state() == State::Closed);
        closed && matches!(self.server, Server::Gone | Server::Unasked)
    }

    /// Have both ends closed it, rather than one of them broken it off?
    pub(crate) fn has_closed(&self) -> bool {
        matches!(&self.client, Client::Answered(tcp_side) if tcp_side.socket.connection.failure().is_none())
    }

    /// Notes what it has moved; the difference to what was noted before, up and down.
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
