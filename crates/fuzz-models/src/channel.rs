//! A transfer over a channel that loses, delays, duplicates and reorders segments. The transfer
//! must end, and both ends must close.

use std::sync::Arc;

use arbitrary::{Arbitrary, Unstructured};
use rtolab_tcp::{Config, Connection, Segment, State, refuse};
use rtolab_time::{Duration, Instant};

use crate::sender;

/// The maximum number of events of a transfer. No input needs this many.
const MAX_EVENTS: usize = 200_000;

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Impairment {
    Loss,
    Delay { millis: u16 },
    Duplication { millis: u16, duplicate_millis: u16 },
}

#[derive(Arbitrary, Debug)]
struct Input {
    terms: [u8; 3],
    bytes: [u16; 2],
    impairments: Vec<Impairment>,
}

/// Two ends and the segments in transit between them, each with its arrival and destination.
struct Transfer {
    ends: [Option<Connection>; 2],
    config: Arc<Config>,
    bytes: [u16; 2],
    in_transit: Vec<(Instant, usize, Segment)>,
    impairments: std::vec::IntoIter<Impairment>,
    now: Instant,
}

impl Transfer {
    fn drain(&mut self, from: usize) {
        loop {
            let Some(end) = &mut self.ends[from] else { return };
            end.read(u64::MAX);
            while end.poll_event().is_some() {}
            let Some(segment) = end.poll_transmit(self.now) else { return };
            self.transmit(from, segment);
        }
    }

    fn transmit(&mut self, from: usize, segment: Segment) {
        // After the last impairment the channel is perfect.
        let impairment = self.impairments.next().unwrap_or(Impairment::Delay { millis: 20 });
        let due = |millis: u16| self.now + Duration::from_millis(u64::from(millis % 8_192) + 1);
        match impairment {
            Impairment::Loss => {}
            Impairment::Delay { millis } => self.in_transit.push((due(millis), 1 - from, segment)),
            Impairment::Duplication { millis, duplicate_millis } => {
                self.in_transit.push((due(millis), 1 - from, segment));
                self.in_transit.push((due(duplicate_millis), 1 - from, segment));
            }
        }
    }

    fn deliver(&mut self, to: usize, segment: &Segment) {
        match &mut self.ends[to] {
            // A host keeps no state of a closed connection and answers with an RST, for example
            // to a FIN whose acknowledgments were lost until TIME-WAIT was over.
            Some(end) if end.state() == State::Closed => {
                if let Some(refusal) = refuse(segment) {
                    self.transmit(to, refusal);
                }
            }
            Some(end) => end.on_segment(segment, self.now),
            absent => {
                let mut end = Connection::accept(self.config.clone(), segment);
                end.write(u64::from(self.bytes[to]));
                end.close();
                *absent = Some(end);
            }
        }
        self.drain(to);
    }

    /// Processes the next event. Returns false if there is none.
    fn step(&mut self) -> bool {
        let first = (0..self.in_transit.len()).min_by_key(|index| self.in_transit[*index].0);
        let arrival = first.map(|index| self.in_transit[index].0);
        let timers = [0, 1].map(|end| self.ends[end].as_ref().and_then(Connection::next_timer));
        let timer = timers.iter().flatten().min().copied();
        match (arrival, timer) {
            (None, None) => return false,
            (Some(at), timer) if timer.is_none_or(|timer| at <= timer) => {
                self.now = self.now.max(at);
                let (_, to, segment) = self.in_transit.remove(first.unwrap_or(0));
                self.deliver(to, &segment);
            }
            (_, timer) => {
                self.now = self.now.max(timer.unwrap_or(self.now));
                for end in 0..2 {
                    if let Some(connection) = &mut self.ends[end] {
                        connection.on_timer(self.now);
                    }
                    self.drain(end);
                }
            }
        }
        true
    }

    fn is_over(&self) -> bool {
        let over = |end: &Option<Connection>| {
            end.as_ref().is_some_and(|end| matches!(end.state(), State::Closed | State::TimeWait))
        };
        self.ends.iter().all(over)
    }
}

/// Runs the transfer that `input` encodes.
///
/// # Panics
/// If the transfer does not end.
pub fn channel(input: &[u8]) {
    let Ok(input) = Input::arbitrary_take_rest(Unstructured::new(input)) else { return };
    let base = Config { timestamps: true, dsack: true, ..Config::default() };
    let Some(config) = sender(input.terms, &base).map(Arc::new) else { return };
    let mut client = Connection::open(config.clone());
    client.write(u64::from(input.bytes[0]));
    client.close();
    let mut transfer = Transfer {
        ends: [Some(client), None],
        config,
        bytes: input.bytes,
        in_transit: Vec::new(),
        impairments: input.impairments.into_iter(),
        now: Instant::START,
    };
    transfer.drain(0);
    for _ in 0..MAX_EVENTS {
        if transfer.is_over() || !transfer.step() {
            break;
        }
    }
    assert!(transfer.is_over(), "the transfer hangs");
}
