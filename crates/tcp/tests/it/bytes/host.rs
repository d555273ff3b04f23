//! A host: a socket, the bytes that it sends, and an application.

use std::net::Ipv4Addr;
use std::sync::Arc;

use rtolab_socket::Socket;
use rtolab_tcp::wire::{Addresses, Payload, Ports, WireSegment, checksum_holds};
use rtolab_tcp::{Codepoint, Config, Event, Flags, State};
use rtolab_time::{Duration, Instant};

const ADDRESSES: Addresses =
    Addresses::V4 { from: Ipv4Addr::new(10, 0, 0, 1), to: Ipv4Addr::new(10, 0, 1, 2) };
const PORTS: Ports = Ports { from: 49_152, to: 80 };

/// When an application reads.
#[derive(Clone, Copy, Debug)]
pub enum Reader {
    AtOnce,
    /// Reads this many bytes, each time after this many milliseconds.
    Slow {
        every: u64,
        bytes: u64,
    },
}

pub struct Host {
    config: Arc<Config>,
    socket: Option<Socket>,
    isn: u32,
    /// The bytes that it sends.
    stream: Vec<u8>,
    read: usize,
    reader: Reader,
    reads_at: Option<Instant>,
    events: Vec<Event>,
}

impl Host {
    pub fn new(config: Config, isn: u32, length: usize, reader: Reader) -> Self {
        Self {
            config: Arc::new(config),
            socket: None,
            isn,
            stream: (0..length).map(|index| byte(isn, index)).collect(),
            read: 0,
            reader,
            reads_at: None,
            events: Vec::new(),
        }
    }

    pub fn open(&mut self) {
        let mut socket = Socket::open(&self.config, self.isn);
        assert_eq!(socket.write(&self.stream, usize::MAX), self.stream.len());
        socket.connection.close();
        self.socket = Some(socket);
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
        self.socket.as_ref().map(|socket| socket.connection.state())
    }

    /// Is the connection over and all read?
    pub fn is_done(&self) -> bool {
        self.state() == Some(State::Closed) && self.reads_at.is_none()
    }

    /// When a timer expires or the application reads.
    pub fn next_wake(&self) -> Instant {
        let timer = self.socket.as_ref().and_then(|socket| socket.connection.next_timer());
        [timer, self.reads_at].into_iter().flatten().min().unwrap_or(Instant::NEVER)
    }

    /// The time is `next_wake`. `other` is the stream that the other host sends.
    pub fn wakes(&mut self, other: &[u8], at: Instant) {
        let socket = self.socket.as_mut().expect("a wakeup without a connection");
        if socket.connection.next_timer().is_some_and(|timer| timer <= at) {
            socket.connection.on_timer(at);
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
        let Some(socket) = &mut self.socket else {
            assert!(wire.flags.has(Flags::SYN), "{wire:?}");
            let mut socket = Socket::accept(&self.config, &wire, self.isn);
            assert_eq!(socket.write(&self.stream, usize::MAX), self.stream.len());
            self.socket = Some(socket);
            return;
        };
        let segment = socket.decode(&wire, Codepoint::NotEct);
        socket.on_segment(&segment, &bytes[bytes.len() - wire.len as usize..], at);
        match self.reader {
            Reader::AtOnce => self.take(u64::MAX, other),
            Reader::Slow { .. } => self.read_later(at),
        }
    }

    /// The application reads up to `limit` bytes, which must be the next ones of the `other`
    /// stream.
    fn take(&mut self, limit: u64, other: &[u8]) {
        let Some(socket) = &mut self.socket else { return };
        let bytes = socket.read(usize::try_from(limit).unwrap_or(usize::MAX));
        let range = self.read..self.read + bytes.len();
        assert_eq!(bytes, other[range.clone()], "{range:?}");
        self.read = range.end;
    }

    /// Schedules the application's next read, if there is something to read.
    fn read_later(&mut self, at: Instant) {
        let available = self.socket.as_ref().map_or(0, |socket| socket.connection.readable());
        if let (1.., None, Reader::Slow { every, .. }) = (available, self.reads_at, self.reader) {
            self.reads_at = Some(at + Duration::from_millis(every));
        }
    }

    /// The segments that leave now, as bytes.
    pub fn sends(&mut self, at: Instant) -> Vec<Vec<u8>> {
        let mut sent = Vec::new();
        let Some(socket) = &mut self.socket else { return sent };
        while let Some(event) = socket.connection.poll_event() {
            self.events.push(event);
            if event == Event::PeerClosed {
                socket.connection.close();
            }
        }
        let segments: Vec<_> = socket.transmit(at).collect();
        for segment in segments {
            let mut payload = Vec::new();
            socket.copy_payload(&segment, &mut payload);
            let wire = socket.encode(&segment, PORTS);
            let mut bytes = wire.emit(ADDRESSES, Payload::Bytes(&payload)).to_vec();
            bytes.extend(payload);
            sent.push(bytes);
        }
        socket.discard_acknowledged();
        sent
    }
}

/// A byte of the stream of the host with this initial sequence number. The bytes are mixed, so that
/// a wrong offset shows.
fn byte(isn: u32, index: usize) -> u8 {
    let mixed = (u64::from(isn) << 32 | index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9).to_be_bytes()[0]
}
