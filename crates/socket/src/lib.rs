#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod bytes;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::iter;

use rtolab_tcp::wire::{Ports, SeqReference, Side, WireMapping, WireSegment};
use rtolab_tcp::{Codepoint, Config, Connection, Flags, Segment, Seq, State, SynOptions};

pub use bytes::ByteStore;
pub use rtolab_time::{Duration, Instant};

/// The distance of a successor's initial sequence number from the highest sequence number sent.
const ISN_STEP: u32 = 65_536;

/// A connection with its bytes.
#[derive(Debug)]
pub struct Socket {
    /// The engine's connection. Write and read bytes through the socket, not through this.
    pub connection: Connection,
    /// The mapping of segments to the peer.
    mapping: WireMapping,
    /// The options of the SYN that it sends.
    offer: SynOptions,
    /// The largest window that it advertises, in bytes.
    window: usize,
    outgoing: ByteStore,
    incoming: ByteStore,
}

/// The offset of a sequence number in its stream; the SYN precedes the first byte.
pub fn offset(seq: Seq) -> u64 {
    seq.since(Seq::FIRST + 1)
}

impl Socket {
    /// Opens a connection with this initial sequence number.
    pub fn open(config: &Arc<Config>, isn: u32) -> Self {
        let mapping = WireMapping { from: Side { isn, shift: 0 }, to: Side::default() };
        Self::new(config, Connection::open(config.clone()), mapping)
    }

    /// Answers a SYN.
    pub fn accept(config: &Arc<Config>, syn: &WireSegment, isn: u32) -> Self {
        let peer = Side { isn: syn.seq, shift: 0 };
        let mut mapping = WireMapping { from: Side { isn, shift: 0 }, to: peer };
        let reference = SeqReference { seq: Seq::FIRST, ack: Seq::FIRST };
        let segment = syn.to_segment(&mapping.reversed(), reference);
        mapping.negotiate(offer(config), segment.syn_options());
        Self::new(config, Connection::accept(config.clone(), &segment), mapping)
    }

    fn new(config: &Config, connection: Connection, mapping: WireMapping) -> Self {
        Self {
            connection,
            mapping,
            offer: offer(config),
            window: config.receiver.buffer as usize,
            outgoing: ByteStore::default(),
            incoming: ByteStore::default(),
        }
    }

    /// Converts a received segment to the engine's numbers, for [`on_segment`](Self::on_segment).
    pub fn decode(&mut self, wire: &WireSegment, codepoint: Codepoint) -> Segment {
        if wire.flags.has(Flags::SYN) && self.connection.state() == State::SynSent {
            self.mapping.to.isn = wire.seq;
            self.mapping.negotiate(self.offer, wire.syn);
        }
        let mut segment = self.decoded(wire);
        segment.set_codepoint(codepoint);
        segment
    }

    fn decoded(&self, wire: &WireSegment) -> Segment {
        let reference = SeqReference {
            seq: self.connection.receiver().rcv_nxt(),
            ack: self.connection.sender().flight().una(),
        };
        wire.to_segment(&self.mapping.reversed(), reference)
    }

    /// Processes a segment with this payload, and stores the bytes that the engine accepts.
    ///
    /// # Panics
    ///
    /// If the payload is shorter than the segment says. With debug assertions, if `at` is before
    /// the time of an earlier call.
    pub fn on_segment(&mut self, segment: &Segment, payload: &[u8], at: Instant) {
        let start = segment.seq;
        let len = if segment.flags.has(Flags::SYN) { 0 } else { segment.len };
        let mut missing = self.connection.receiver().missing(start..start + len);
        // Usually there is only one, and nothing is allocated.
        let (first, others): (_, Vec<_>) = (missing.next(), missing.collect());
        self.connection.on_segment(segment, at);
        for part in first.into_iter().chain(others) {
            let receiver = self.connection.receiver();
            // Bytes beyond the window are not accepted.
            let end = receiver.missing(part.clone()).next().map_or(part.end, |it| it.start);
            let bytes = &payload[part.start.since(start) as usize..end.since(start) as usize];
            self.incoming.insert(offset(part.start), bytes, self.window);
        }
    }

    /// Processes an ICMP message that the segment with the number `seq` in its header was too big
    /// for the path. See [`Connection::on_packet_too_big`].
    pub fn on_packet_too_big(&mut self, seq: u32, mss: u16, at: Instant) -> bool {
        let una = self.connection.sender().flight().una();
        let seq = Seq::widen(seq, self.mapping.from.isn, una);
        self.connection.on_packet_too_big(seq, mss, at)
    }

    /// Can this SYN begin another connection in place of this one?
    pub fn can_be_reopened_by(&self, syn: &WireSegment) -> bool {
        self.connection.can_be_reopened_by(&self.decoded(syn))
    }

    /// An initial sequence number for the next connection.
    pub fn next_isn(&self) -> u32 {
        let max = self.connection.sender().flight().max();
        max.narrow(self.mapping.from.isn).wrapping_add(ISN_STEP)
    }

    /// Writes the first of `bytes`, so that at most `max_len` bytes are buffered. Returns their
    /// number: 0 if the sending direction is closed.
    #[must_use]
    pub fn write(&mut self, bytes: &[u8], max_len: usize) -> usize {
        let connection = &mut self.connection;
        if connection.sender().is_closed() || connection.state() == State::Closed {
            return 0;
        }
        let room = max_len.saturating_sub(self.outgoing.len());
        let bytes = &bytes[..bytes.len().min(room)];
        self.outgoing.append(bytes, max_len);
        connection.write(bytes.len() as u64);
        bytes.len()
    }

    /// The number of bytes ever written.
    pub fn written(&self) -> u64 {
        self.outgoing.end()
    }

    /// The number of acknowledged bytes.
    pub fn acknowledged(&self) -> u64 {
        offset(self.connection.sender().flight().una()).min(self.written())
    }

    /// Discards acknowledged bytes.
    pub fn discard_acknowledged(&mut self) {
        self.outgoing.discard_before(self.acknowledged());
    }

    /// Discards all bytes of a connection that has failed.
    pub fn clear(&mut self) {
        self.outgoing.clear();
        self.incoming.clear();
    }

    /// The numbers of bytes buffered for sending and for reading, gaps included.
    pub fn buffered(&self) -> [usize; 2] {
        [self.outgoing.len(), self.incoming.len()]
    }

    /// The next contiguous bytes from the peer.
    pub fn readable(&self) -> &[u8] {
        self.incoming.front(self.connection.readable() as usize)
    }

    /// Discards this number of readable bytes.
    pub fn consume(&mut self, bytes: usize) {
        self.connection.read(bytes as u64);
        self.incoming.discard_before(self.incoming.base() + bytes as u64);
    }

    /// Reads up to `max_len` bytes.
    pub fn read(&mut self, max_len: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while bytes.len() < max_len && !self.readable().is_empty() {
            let next = self.readable();
            let next = &next[..next.len().min(max_len - bytes.len())];
            bytes.extend_from_slice(next);
            self.consume(next.len());
        }
        bytes
    }

    /// Copies up to `max_len` bytes that stay readable.
    pub fn peek(&self, max_len: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let count = max_len.min(self.connection.readable() as usize);
        self.incoming.copy_to(&mut bytes, self.incoming.base(), count);
        bytes
    }

    /// Converts a segment to send to its header.
    pub fn encode(&self, segment: &Segment, ports: Ports) -> WireSegment {
        WireSegment::from_segment(segment, &self.mapping, ports)
    }

    /// Appends the payload of a segment to send to `packet`.
    pub fn copy_payload(&self, segment: &Segment, packet: &mut Vec<u8>) {
        if segment.len > 0 {
            self.outgoing.copy_to(packet, offset(segment.seq), segment.len as usize);
        }
    }

    /// All segments to send at `at`.
    ///
    /// # Panics
    ///
    /// With debug assertions, if `at` is before the time of an earlier call.
    pub fn transmit(&mut self, at: Instant) -> impl Iterator<Item = Segment> {
        iter::from_fn(move || self.connection.poll_transmit(at))
    }
}

/// The options of the SYN with this `config`.
fn offer(config: &Config) -> SynOptions {
    SynOptions {
        mss: Some(config.mss),
        window_scale: config.offered_window_scale(),
        sack_permitted: config.sack,
        ..SynOptions::default()
    }
}
