//! The client's half of a proxied connection: a socket of the engine's, and its packets.

use std::sync::Arc;

use rtolab_packet::{Path, TCP_HEADER};
use rtolab_socket::Socket;
use rtolab_tcp::wire::WireSegment;
use rtolab_tcp::{Config, Flags, Segment};
use rtolab_time::Instant;

use super::packet::{self, Arrived};

/// The most out-of-order pieces: each costs time at every segment, and a client can make one of
/// every other byte.
pub(crate) const MOST_PIECES: usize = 1_000;

/// A connection of the engine's, with its bytes.
pub(crate) struct TcpSide {
    pub socket: Socket,
    /// The path to the client.
    path: Path,
    /// The largest IP packet, in bytes.
    mtu: usize,
    /// The rest of a segment that was too long with its options.
    rest: Option<Segment>,
    /// The bytes read from the client.
    pub taken: u64,
    /// Retransmitted segments.
    pub retransmitted: u64,
}

impl TcpSide {
    /// Answers a SYN; `isn` is the initial sequence number of the answer.
    pub(crate) fn accept(config: &Arc<Config>, syn: &WireSegment, to: Path, isn: u32) -> Self {
        Self::new(config, Socket::accept(config, syn, isn), to)
    }

    pub(crate) fn new(config: &Config, socket: Socket, path: Path) -> Self {
        let mtu = usize::from(config.mss) + path.ip_header() + TCP_HEADER;
        Self { socket, path, mtu, rest: None, taken: 0, retransmitted: 0 }
    }

    /// Processes a segment; `false` if it was dropped because of too many out-of-order pieces.
    pub(crate) fn on_segment(&mut self, arrived: &Arrived<'_>, at: Instant) -> bool {
        let segment = self.socket.widen(&arrived.segment, arrived.codepoint);
        let receiver = self.socket.connection.receiver();
        if receiver.pieces() >= MOST_PIECES && segment.seq > receiver.nxt() && segment.len > 0 {
            return false;
        }
        self.socket.on_segment(&segment, arrived.payload, at);
        true
    }

    /// Consumes this number of readable bytes.
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.socket.consume(bytes);
        self.taken += bytes as u64;
    }

    /// Discards acknowledged bytes, and all bytes of a failed connection.
    pub(crate) fn forget(&mut self) {
        if self.socket.connection.failure().is_some() {
            self.socket.clear();
            self.rest = None;
        } else {
            self.socket.forget_acknowledged();
        }
    }

    /// Builds the next packet to send in `packet`; `false` if there is none.
    pub(crate) fn poll(&mut self, at: Instant, packet: &mut Vec<u8>) -> bool {
        let next = self.rest.take().or_else(|| self.next(at));
        let Some(segment) = next.map(|segment| self.cut(segment)) else { return false };
        packet.clear();
        packet.resize(self.path.ip_header() + segment.header_bytes() as usize, 0);
        self.socket.copy_payload(&segment, packet);
        let wire = self.socket.narrow(&segment, self.path.ports);
        packet::complete(packet, &self.path, (&wire, segment.codepoint()));
        true
    }

    fn next(&mut self, at: Instant) -> Option<Segment> {
        let connection = &mut self.socket.connection;
        let before = connection.sender().flight().max();
        let segment = connection.poll_transmit(at)?;
        let again = segment.sequence_length() > 0 && segment.seq < before;
        self.retransmitted += u64::from(again);
        Some(segment)
    }

    /// A full segment with SACK blocks exceeds the MTU, so it is sent as two.
    fn cut(&mut self, mut segment: Segment) -> Segment {
        let room = self.mtu - self.path.ip_header() - segment.header_bytes() as usize;
        if segment.len as usize > room {
            let mut rest = segment.without_sack();
            rest.seq = segment.seq + room as u32;
            rest.len = segment.len - room as u32;
            self.rest = Some(rest);
            segment.len = room as u32;
            segment.flags = segment.flags.without(Flags::FIN | Flags::PSH);
        }
        segment
    }
}
