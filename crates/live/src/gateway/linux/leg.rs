//! The wireless half of a splice: an engine's connection with what the engine leaves to its host:
//! addresses, the wire's numbers and the bytes.

use std::sync::Arc;

use rtolab_tcp::wire::{Near, Numbering, Side, WireSegment};
use rtolab_tcp::{Config, Connection, Flags, Segment, Seq, SynOptions};
use rtolab_time::Instant;

use super::packet::{self, Arrived, Way};
use super::ring::Ring;

/// More pieces above a gap are not taken: each costs time whenever a segment arrives, and a client
/// can make one of every other byte.
pub(crate) const MOST_PIECES: usize = 1_000;

/// One connection of the engine's, with its bytes.
pub(crate) struct Leg {
    pub connection: Connection,
    /// From here to the client.
    way: Way,
    /// From here to the client.
    numbering: Numbering,
    /// The largest IP packet, in bytes.
    mtu: usize,
    /// The most bytes that it keeps of the client's.
    window: usize,
    outgoing: Ring,
    incoming: Ring,
    /// What is left of a segment that was too long with its options.
    rest: Option<Segment>,
    /// What was read of what came from the client, in bytes.
    pub taken: u64,
    /// How many segments left again.
    pub retransmitted: u64,
}

/// The offset in its direction's stream; the SYN is before the first.
fn offset(seq: Seq) -> u64 {
    seq.since(Seq::FIRST + 1)
}

/// What a SYN of such an end offers.
fn offers(config: &Config) -> SynOptions {
    SynOptions {
        mss: Some(config.mss),
        window_scale: config.window_scale,
        sack_permitted: config.sack,
    }
}

impl Leg {
    /// Answers a SYN; its own numbers begin with `isn`.
    pub(crate) fn accept(config: &Arc<Config>, syn: &WireSegment, to: Way, isn: u32) -> Self {
        let client = Side { isn: syn.seq, shift: 0 };
        let mut numbering = Numbering { from: Side { isn, shift: 0 }, to: client };
        let near = Near { seq: Seq::FIRST, ack: Seq::FIRST };
        let segment = syn.widen(&numbering.reversed(), near);
        numbering.agree(offers(config), segment.syn_options());
        let connection = Connection::accept(config.clone(), &segment);
        Self::new(config, connection, to, numbering)
    }

    /// Opens a connection to an end that behaves as the second of `configs` and begins with the second
    /// of `isns`: for tests, which have no other client.
    #[cfg(test)]
    pub(crate) fn open(configs: [&Arc<Config>; 2], to: Way, isns: [u32; 2]) -> Self {
        let [from, peer] = isns.map(|isn| Side { isn, shift: 0 });
        let mut numbering = Numbering { from, to: peer };
        numbering.agree(offers(configs[0]), offers(configs[1]));
        Self::new(configs[0], Connection::open(configs[0].clone()), to, numbering)
    }

    fn new(config: &Config, connection: Connection, way: Way, numbering: Numbering) -> Self {
        Self {
            connection,
            way,
            numbering,
            mtu: usize::from(config.mss) + way.ip_header() + 20,
            window: config.receiver.buffer as usize,
            outgoing: Ring::default(),
            incoming: Ring::default(),
            rest: None,
            taken: 0,
            retransmitted: 0,
        }
    }

    /// A segment arrived; `false`: it was dropped, for there are too many pieces already.
    pub(crate) fn on_segment(&mut self, arrived: &Arrived<'_>, at: Instant) -> bool {
        let mut segment = self.widen(&arrived.segment);
        segment.set_codepoint(arrived.codepoint);
        let receiver = self.connection.receiver();
        if receiver.pieces() >= MOST_PIECES && segment.seq > receiver.nxt() && segment.len > 0 {
            return false;
        }
        let start = segment.seq;
        let len = if segment.flags.has(Flags::SYN) { 0 } else { segment.len };
        let mut missing = receiver.missing(start..start + len);
        let (first, others): (_, Vec<_>) = (missing.next(), missing.collect());
        self.connection.on_segment(&segment, at);
        for part in first.into_iter().chain(others) {
            let receiver = self.connection.receiver();
            // What lies beyond the window is not taken.
            let end = receiver.missing(part.clone()).next().map_or(part.end, |it| it.start);
            let bytes = part.start.since(start) as usize..end.since(start) as usize;
            self.incoming.file(offset(part.start), &arrived.payload[bytes], self.window);
        }
        true
    }

    fn widen(&self, segment: &WireSegment) -> Segment {
        let near = Near {
            seq: self.connection.receiver().nxt(),
            ack: self.connection.sender().flight().una(),
        };
        segment.widen(&self.numbering.reversed(), near)
    }

    /// May a SYN that arrived begin another connection in place of this one?
    pub(crate) fn yields_to(&self, syn: &WireSegment) -> bool {
        self.connection.yields_to(&self.widen(syn))
    }

    /// A number for the connection after this one, above all that this one has sent.
    pub(crate) fn next_isn(&self) -> u32 {
        const APART: u32 = 65_536;
        self.connection.sender().flight().max().narrow(self.numbering.from.isn).wrapping_add(APART)
    }

    /// Has the client closed, and was all read?
    pub(crate) fn is_exhausted(&self) -> bool {
        self.connection.is_exhausted()
    }

    /// The next bytes of the client's, as far as they lie side by side.
    pub(crate) fn readable(&self) -> &[u8] {
        self.incoming.front(self.connection.readable() as usize)
    }

    /// So many of them were taken.
    pub(crate) fn read(&mut self, bytes: usize) {
        self.connection.read(bytes as u64);
        self.taken += bytes as u64;
        self.incoming.forget_below(self.incoming.base() + bytes as u64);
    }

    /// These are for the client; `most` is the most that it may have to keep.
    pub(crate) fn write(&mut self, bytes: &[u8], most: usize) {
        self.outgoing.append(bytes, most);
        self.connection.write(bytes.len() as u64);
    }

    /// What was written and is not acknowledged, in bytes.
    pub(crate) fn kept_for_client(&self) -> usize {
        self.outgoing.len()
    }

    /// What the client has acknowledged, in bytes.
    pub(crate) fn acknowledged(&self) -> u64 {
        offset(self.connection.sender().flight().una()).min(self.outgoing.end())
    }

    /// Of the client's what is kept, in bytes.
    pub(crate) fn kept_of_client(&self) -> usize {
        self.incoming.len()
    }

    /// What is acknowledged need not be kept; of a connection that has failed, nothing.
    pub(crate) fn forget(&mut self) {
        if self.connection.failure().is_some() {
            self.outgoing.clear();
            self.incoming.clear();
            self.rest = None;
            return;
        }
        self.outgoing.forget_below(self.acknowledged());
    }

    /// Puts the next packet that leaves now into `packet`; `false`: none does.
    pub(crate) fn poll(&mut self, at: Instant, packet: &mut Vec<u8>) -> bool {
        let next = self.rest.take().or_else(|| self.next(at));
        let Some(segment) = next.map(|segment| self.cut(segment)) else { return false };
        self.emit(&segment, packet);
        true
    }

    fn next(&mut self, at: Instant) -> Option<Segment> {
        let before = self.connection.sender().flight().max();
        let segment = self.connection.poll_transmit(at)?;
        let again = segment.sequence_length() > 0 && segment.seq < before;
        self.retransmitted += u64::from(again);
        Some(segment)
    }

    /// A full segment with SACK blocks beside its data is longer than a packet may be: it leaves as
    /// two.
    fn cut(&mut self, mut segment: Segment) -> Segment {
        let room = self.mtu - self.way.ip_header() - segment.header_bytes() as usize;
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

    fn emit(&self, segment: &Segment, packet: &mut Vec<u8>) {
        let wire = WireSegment::narrow(segment, &self.numbering, self.way.ports);
        packet.clear();
        packet.resize(packet::headers(&self.way, segment.header_bytes() as usize), 0);
        if segment.len > 0 {
            self.outgoing.copy_to(packet, offset(segment.seq), segment.len as usize);
        }
        packet::complete(packet, &self.way, (&wire, segment.codepoint()));
    }
}
