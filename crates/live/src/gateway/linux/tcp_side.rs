//! The client side of a proxied connection: a socket of the engine, and its packets.

use std::sync::Arc;

use rtolab_packet::{PacketTooBig, Path, TCP_HEADER};
use rtolab_socket::Socket;
use rtolab_tcp::wire::{Addresses, WireSegment};
use rtolab_tcp::{Config, Flags, Segment, State};
use rtolab_time::Instant;

use crate::linux::segment::{self, ReceivedSegment};

/// The maximum number of out-of-order ranges. Each costs time at every segment, and a client can
/// make one of every other byte.
pub(crate) const MAX_OUT_OF_ORDER: usize = 1_000;

/// The smallest path MTU of IPv4 that counts, in bytes: with less, forged messages would cost much
/// (Linux: `net.ipv4.route.min_pmtu`).
const LEAST_IPV4_MTU: u32 = 552;
/// The smallest MTU of IPv6, in bytes (RFC 8200 section 5).
const LEAST_IPV6_MTU: u32 = 1280;

/// A socket of the engine that is connected to a client.
pub(crate) struct TcpSide {
    pub socket: Socket,
    /// The path to the client.
    path: Path,
    /// The largest IP packet, in bytes.
    mtu: usize,
    /// The second part of a segment that was too long with its options.
    remainder: Option<Segment>,
    /// The number of bytes read from the client.
    pub consumed: u64,
    /// The number of retransmitted segments since the last count.
    pub retransmitted: u64,
}

impl TcpSide {
    /// The side that answers a SYN with the initial sequence number `isn`.
    pub(crate) fn accept(config: &Arc<Config>, syn: &WireSegment, to: Path, isn: u32) -> Self {
        Self::new(config, Socket::accept(config, syn, isn), to)
    }

    pub(crate) fn new(config: &Config, socket: Socket, path: Path) -> Self {
        let mtu = usize::from(config.mss) + path.ip_header() + TCP_HEADER;
        Self { socket, path, mtu, remainder: None, consumed: 0, retransmitted: 0 }
    }

    /// Processes a segment. Returns false if it was dropped at [`MAX_OUT_OF_ORDER`].
    pub(crate) fn on_segment(&mut self, arrived: &ReceivedSegment<'_>, at: Instant) -> bool {
        let segment = self.socket.decode(&arrived.segment, arrived.codepoint);
        let receiver = self.socket.connection.receiver();
        if receiver.out_of_order_ranges() >= MAX_OUT_OF_ORDER
            && segment.seq > receiver.rcv_nxt()
            && segment.len > 0
        {
            return false;
        }
        self.socket.on_segment(&segment, arrived.payload, at);
        true
    }

    /// Processes the message of a router that a segment was too big. Returns false if it is not
    /// valid: the segment is not in flight, or the MTU is smaller than IPv6 allows (RFC 8201
    /// section 4).
    pub(crate) fn on_packet_too_big(&mut self, message: &PacketTooBig, at: Instant) -> bool {
        let mtu = match self.path.addresses {
            Addresses::V4 { .. } => message.mtu.max(LEAST_IPV4_MTU) as usize,
            Addresses::V6 { .. } if message.mtu < LEAST_IPV6_MTU => return false,
            Addresses::V6 { .. } => message.mtu as usize,
        };
        let mss = (mtu - self.path.ip_header() - TCP_HEADER).min(usize::from(u16::MAX)) as u16;
        let accepted = self.socket.on_packet_too_big(message.seq, mss, at);
        if accepted {
            self.mtu = self.mtu.min(mtu);
        }
        accepted
    }

    /// Can this SYN begin another connection of the same ends? It can if this one has ended, or is
    /// in TIME-WAIT (RFC 6191).
    pub(crate) fn can_be_replaced_by(&self, syn: &WireSegment) -> bool {
        let has_ended = self.socket.connection.state() == State::Closed;
        has_ended || self.socket.can_be_reopened_by(syn)
    }

    /// Consumes this number of readable bytes.
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.socket.consume(bytes);
        self.consumed += bytes as u64;
    }

    /// Discards acknowledged bytes, and all bytes of a failed connection.
    pub(crate) fn release(&mut self) {
        if self.socket.connection.failure().is_some() {
            self.socket.clear();
            self.remainder = None;
        } else {
            self.socket.discard_acknowledged();
        }
    }

    /// Builds the next packet to send in `packet`. Returns false if there is none.
    pub(crate) fn poll(&mut self, at: Instant, packet: &mut Vec<u8>) -> bool {
        let next = self.remainder.take().or_else(|| self.next(at));
        let Some(segment) = next.map(|segment| self.split(segment)) else { return false };
        packet.clear();
        packet.resize(self.path.ip_header() + segment.header_bytes() as usize, 0);
        self.socket.copy_payload(&segment, packet);
        let wire = self.socket.encode(&segment, self.path.ports);
        segment::complete(packet, &self.path, (&wire, segment.codepoint()));
        true
    }

    fn next(&mut self, at: Instant) -> Option<Segment> {
        let connection = &mut self.socket.connection;
        let before = connection.sender().flight().max();
        let segment = connection.poll_transmit(at)?;
        let is_retransmission = segment.sequence_length() > 0 && segment.seq < before;
        self.retransmitted += u64::from(is_retransmission);
        Some(segment)
    }

    /// Splits a full segment with SACK blocks, which would exceed the MTU.
    fn split(&mut self, mut segment: Segment) -> Segment {
        let room = self.mtu - self.path.ip_header() - segment.header_bytes() as usize;
        if segment.len as usize > room {
            let mut remainder = segment.without_sack();
            remainder.seq = segment.seq + room as u32;
            remainder.len = segment.len - room as u32;
            self.remainder = Some(remainder);
            segment.len = room as u32;
            segment.flags = segment.flags.without(Flags::FIN | Flags::PSH);
        }
        segment
    }
}
