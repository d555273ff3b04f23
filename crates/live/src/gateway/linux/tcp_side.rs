//! The wireless half of a connection: a socket of the engine's, and its packets.

use std::sync::Arc;

use rtolab_packet::{Path, TCP_HEADER};
use rtolab_socket::Socket;
use rtolab_tcp::wire::WireSegment;
use rtolab_tcp::{Config, Flags, Segment};
use rtolab_time::Instant;

use super::packet::{self, Arrived};

/// More pieces above a gap are not taken: each costs time whenever a segment arrives, and a client
/// can make one of every other byte.
pub(crate) const MOST_PIECES: usize = 1_000;

/// One connection of the engine's, with its bytes.
pub(crate) struct TcpSide {
    pub socket: Socket,
    /// From here to the client.
    path: Path,
    /// The largest IP packet, in bytes.
    mtu: usize,
    /// What is left of a segment that was too long with its options.
    rest: Option<Segment>,
    /// What was read of what came from the client, in bytes.
    pub taken: u64,
    /// Segments that were retransmitted.
    pub retransmitted: u64,
}

impl TcpSide {
    /// Answers a SYN; its own numbers begin with `isn`.
    pub(crate) fn accept(config: &Arc<Config>, syn: &WireSegment, to: Path, isn: u32) -> Self {
        Self::new(config, Socket::accept(config, syn, isn), to)
    }

    pub(crate) fn new(config: &Config, socket: Socket, path: Path) -> Self {
        let mtu = usize::from(config.mss) + path.ip_header() + TCP_HEADER;
        Self { socket, path, mtu, rest: None, taken: 0, retransmitted: 0 }
    }

    /// A segment arrived; `false`: it was dropped, for there are too many pieces already.
    pub(crate) fn on_segment(&mut self, arrived: &Arrived<'_>, at: Instant) -> bool {
        let segment = self.socket.widen(&arrived.segment, arrived.codepoint);
        let receiver = self.socket.connection.receiver();
        if receiver.pieces() >= MOST_PIECES && segment.seq > receiver.nxt() && segment.len > 0 {
            return false;
        }
        self.socket.on_segment(&segment, arrived.payload, at);
        true
    }

    /// So many of the readable bytes were taken.
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.socket.consume(bytes);
        self.taken += bytes as u64;
    }

    /// What is acknowledged need not be kept; of a connection that has failed, nothing.
    pub(crate) fn forget(&mut self) {
        if self.socket.connection.failure().is_some() {
            self.socket.clear();
            self.rest = None;
        } else {
            self.socket.forget_acknowledged();
        }
    }

    /// Puts the next packet that leaves now into `packet`; `false`: none does.
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

    /// A full segment with SACK blocks beside its data is longer than a packet may be: it leaves as
    /// two.
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
