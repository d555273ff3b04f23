//! A host: a connection, the bytes that it sends, those that it has, and an application.

use std::net::Ipv4Addr;
use std::ops::Range;
use std::sync::Arc;

use rtolab_tcp::wire::{
    Addresses, Near, Numbering, Payload, Ports, Side, WireSegment, checksum_holds,
};
use rtolab_tcp::{Config, Connection, Event, Flags, Segment, Seq, State, SynOptions};
use rtolab_time::{Duration, Instant};

const ADDRESSES: Addresses =
    Addresses::V4 { from: Ipv4Addr::new(10, 0, 0, 1), to: Ipv4Addr::new(10, 0, 1, 2) };
const PORTS: Ports = Ports { from: 49_152, to: 80 };

/// When an application reads.
#[derive(Clone, Copy, Debug)]
pub enum Reader {
    AtOnce,
    /// So many bytes, after so many milliseconds each time.
    Slow {
        every: u64,
        bytes: u64,
    },
}

pub struct Host {
    config: Arc<Config>,
    connection: Option<Connection>,
    /// From this host to the other.
    numbering: Numbering,
    /// What its own SYN offers, and the other's.
    offers: [Option<SynOptions>; 2],
    /// What it sends.
    stream: Vec<u8>,
    /// What it has of the other's stream.
    held: Vec<Option<u8>>,
    read: usize,
    reader: Reader,
    reads_at: Option<Instant>,
    events: Vec<Event>,
}

impl Host {
    pub fn new(config: Config, isn: u32, length: usize, reader: Reader) -> Self {
        let own = Side { isn, shift: 0 };
        Self {
            config: Arc::new(config),
            connection: None,
            numbering: Numbering { from: own, to: Side::default() },
            offers: [None, None],
            stream: (0..length).map(|index| byte(isn, index)).collect(),
            held: Vec::new(),
            read: 0,
            reader,
            reads_at: None,
            events: Vec::new(),
        }
    }

    pub fn open(&mut self) {
        let mut connection = Connection::open(self.config.clone());
        connection.write(self.stream.len() as u64);
        connection.close();
        self.connection = Some(connection);
    }

    pub fn stream(&self) -> &[u8] {
        &self.stream
    }

    pub const fn read(&self) -> usize {
        self.read
    }

    pub fn events(&self) -> &[Event] {
        &self.events
    }

    pub fn state(&self) -> Option<State> {
        self.connection.as_ref().map(Connection::state)
    }

    /// Is the connection over and all read?
    pub fn is_done(&self) -> bool {
        self.state() == Some(State::Closed) && self.reads_at.is_none()
    }

    /// When a timer expires or the application reads.
    pub fn next_wake(&self) -> Instant {
        let timer = self.connection.as_ref().and_then(Connection::next_timer);
        [timer, self.reads_at].into_iter().flatten().min().unwrap_or(Instant::NEVER)
    }

    /// It is `next_wake`; `other` is the stream that the other host sends.
    pub fn wakes(&mut self, other: &[u8], at: Instant) {
        let connection = self.connection.as_mut().expect("only a connection has timers");
        if connection.next_timer().is_some_and(|timer| timer <= at) {
            connection.on_timer(at);
        }
        if let (Some(time), Reader::Slow { bytes, .. }) = (self.reads_at, self.reader) {
            if time <= at {
                self.reads_at = None;
                self.take(bytes, other);
                self.read_later(at);
            }
        }
    }

    /// Bytes arrive.
    pub fn arrives(&mut self, bytes: &[u8], other: &[u8], at: Instant) {
        if !checksum_holds(bytes, ADDRESSES) {
            return;
        }
        let wire = WireSegment::parse(bytes, bytes.len()).expect("as it was emitted");
        if wire.flags.has(Flags::SYN) {
            self.numbering.to.isn = wire.seq;
            self.offers[1] = Some(wire.syn);
            self.agree();
        }
        let payload = &bytes[bytes.len() - wire.len as usize..];
        let segment = wire.widen(&self.numbering.reversed(), self.near());
        let Some(connection) = &mut self.connection else {
            assert!(segment.flags.has(Flags::SYN), "{segment:?}");
            let mut connection = Connection::accept(self.config.clone(), &segment);
            connection.write(self.stream.len() as u64);
            self.connection = Some(connection);
            return;
        };
        let held_before = held(connection, &segment);
        connection.on_segment(&segment, at);
        let held_now = held(connection, &segment);
        self.keep(&segment, payload, |index| held_now[index] && !held_before[index]);
        match self.reader {
            Reader::AtOnce => self.take(u64::MAX, other),
            Reader::Slow { .. } => self.read_later(at),
        }
    }

    /// Both SYNs known, so are the shifts of windows.
    fn agree(&mut self) {
        if let [Some(own), Some(other)] = self.offers {
            self.numbering.agree(own, other);
        }
    }

    /// Near which numbers those of the next segment lie.
    fn near(&self) -> Near {
        self.connection.as_ref().map_or(Near { seq: Seq::FIRST, ack: Seq::FIRST }, |connection| {
            let seq = connection.receiver().nxt();
            Near { seq, ack: connection.sender().flight().una() }
        })
    }

    /// Keeps those bytes of a segment that the connection took from it.
    fn keep(&mut self, segment: &Segment, payload: &[u8], took: impl Fn(usize) -> bool) {
        for (index, byte) in payload.iter().enumerate().filter(|(index, _)| took(*index)) {
            let offset = offset(segment.seq) + index;
            if self.held.len() <= offset {
                self.held.resize(offset + 1, None);
            }
            self.held[offset] = Some(*byte);
        }
    }

    /// The application reads up to `most` bytes: they are those of the `other` stream.
    fn take(&mut self, most: u64, other: &[u8]) {
        let Some(connection) = &mut self.connection else { return };
        let count = connection.receiver().available().min(most);
        connection.read(count);
        let range = self.read..self.read + count as usize;
        for index in range.clone() {
            let (found, sent) = (self.held.get(index).copied().flatten(), other.get(index));
            assert!(found.is_some() && found.as_ref() == sent, "byte {index}: {found:?} {sent:?}");
        }
        self.read = range.end;
    }

    /// The application comes back, if there is something to read.
    fn read_later(&mut self, at: Instant) {
        let available = self.connection.as_ref().map_or(0, |c| c.receiver().available());
        if let (1.., None, Reader::Slow { every, .. }) = (available, self.reads_at, self.reader) {
            self.reads_at = Some(at + Duration::from_millis(every));
        }
    }

    /// All that leaves now, as bytes.
    pub fn sends(&mut self, at: Instant) -> Vec<Vec<u8>> {
        let mut sent = Vec::new();
        let Some(connection) = &mut self.connection else { return sent };
        while let Some(event) = connection.poll_event() {
            self.events.push(event);
            if event == Event::PeerClosed {
                connection.close();
            }
        }
        let segments: Vec<_> = std::iter::from_fn(|| connection.poll_transmit(at)).collect();
        for segment in segments {
            if segment.flags.has(Flags::SYN) {
                self.offers[0] = Some(segment.syn_options());
                self.agree();
            }
            let payload = &self.stream[payload_of(&segment)];
            let wire = WireSegment::narrow(&segment, &self.numbering, PORTS);
            let mut bytes = wire.emit(ADDRESSES, Payload::Bytes(payload)).to_vec();
            bytes.extend(payload);
            sent.push(bytes);
        }
        sent
    }
}

/// A byte of the stream that this initial sequence number goes with; no two stretches are alike.
fn byte(isn: u32, index: usize) -> u8 {
    let mixed = (u64::from(isn) << 32 | index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9).to_be_bytes()[0]
}

/// Where in the stream a sequence number lies.
fn offset(seq: Seq) -> usize {
    seq.since(Seq::FIRST + 1) as usize
}

fn payload_of(segment: &Segment) -> Range<usize> {
    match segment.len {
        0 => 0..0,
        len => offset(segment.seq)..offset(segment.seq) + len as usize,
    }
}

/// Which bytes of the segment's payload the connection holds.
fn held(connection: &Connection, segment: &Segment) -> Vec<bool> {
    let receiver = connection.receiver();
    let holds = |index| receiver.holds(&(segment.seq + index..segment.seq + (index + 1)));
    (0..segment.len).map(holds).collect()
}
