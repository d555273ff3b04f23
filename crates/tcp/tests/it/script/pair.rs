//! Two ends of a connection, connected by the test.

use std::sync::Arc;

use rtolab_tcp::{Config, Connection, Event, Segment, Seq};
use rtolab_time::{Duration, Instant};

/// One end.
pub struct End {
    pub connection: Connection,
    pub events: Vec<Event>,
}

impl End {
    pub fn new(connection: Connection) -> Self {
        Self { connection, events: Vec::new() }
    }

    pub fn open(config: &Config) -> Self {
        Self::new(Connection::open(Arc::new(config.clone())))
    }

    pub fn accept(config: &Config, syn: &Segment) -> Self {
        Self::new(Connection::accept(Arc::new(config.clone()), syn))
    }

    /// All segments sent now.
    pub fn sends(&mut self, millis: u64) -> Vec<Segment> {
        let at = at(millis);
        let sent = std::iter::from_fn(|| self.connection.poll_transmit(at)).collect();
        self.events.extend(std::iter::from_fn(|| self.connection.poll_event()));
        sent
    }

    /// The only segment sent now.
    pub fn sends_one(&mut self, millis: u64) -> Segment {
        let sent = self.sends(millis);
        assert_eq!(sent.len(), 1, "{sent:?}");
        sent[0]
    }

    pub fn sends_nothing(&mut self, millis: u64) {
        assert_eq!(self.sends(millis), []);
    }

    /// A segment arrives.
    pub fn gets(&mut self, segment: &Segment, millis: u64) {
        self.connection.on_segment(segment, at(millis));
    }

    /// A segment arrives. Returns the segments sent in response.
    pub fn answers(&mut self, segment: &Segment, millis: u64) -> Vec<Segment> {
        self.gets(segment, millis);
        self.sends(millis)
    }

    /// The next timer expires: when, in milliseconds.
    pub fn timer(&mut self) -> u64 {
        let at = self.connection.next_timer().expect("no timer is armed");
        self.connection.on_timer(at);
        at.nanos() / 1_000_000
    }

    pub fn una(&self) -> Seq {
        self.connection.sender().flight().una()
    }

    pub fn rcv_nxt(&self) -> Seq {
        self.connection.receiver().rcv_nxt()
    }
}

/// The instant `millis` after the start.
pub fn at(millis: u64) -> Instant {
    Instant::START + Duration::from_millis(millis)
}

/// Both ends with the handshake done at a time, as if it took none.
pub fn connected(active: &Config, passive: &Config, millis: u64) -> (End, End) {
    let mut active = End::open(active);
    let syn = active.sends_one(millis);
    let mut passive = End::accept(passive, &syn);
    active.gets(&passive.sends_one(millis), millis);
    passive.gets(&active.sends_one(millis), millis);
    passive.sends_nothing(millis);
    (active, passive)
}
