//! Two hosts that exchange streams of bytes over a channel of bytes.
#![allow(dead_code)]

mod host;

use std::collections::BTreeMap;

use rtolab_tcp::{Config, Event, State};
use rtolab_time::{Duration, Instant};

use host::Host;
pub use host::Reader;

/// The fate of a frame, with delays in milliseconds.
#[derive(Clone, Copy, Debug)]
pub enum Fate {
    Delivered(u64),
    Duplicated(u64, u64),
    Lost,
    /// One byte is damaged: its index, modulo the length, and the bits that flip.
    Damaged(u32, u8),
}

/// The streams and the settings of two hosts, and the impairments of the channel.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Their initial sequence numbers.
    pub isns: [u32; 2],
    /// How many bytes each sends.
    pub lengths: [usize; 2],
    pub readers: [Reader; 2],
    /// The fates of the first frames; all later ones arrive.
    pub fates: Vec<Fate>,
}

/// No frame is in flight for longer, and neither end waits longer for the other.
const MSL: Duration = Duration::from_secs(36_000);

pub struct ByteTransfer {
    hosts: [Host; 2],
    /// The frames in flight by arrival time: the receiving host and the bytes.
    wire: BTreeMap<(Instant, usize), (usize, Vec<u8>)>,
    fates: Vec<Fate>,
    sent: usize,
    at: Instant,
    /// All segments sent: the time, the sending host and the bytes.
    trace: Vec<(Instant, usize, Vec<u8>)>,
}

impl ByteTransfer {
    /// The first host opens the connection. Each host writes its stream and closes, the second one
    /// after the first.
    pub fn new(configs: [Config; 2], plan: Plan) -> Self {
        let [first, second] = configs.map(|config| Config { msl: MSL, ..config });
        let Plan { isns, lengths, readers, fates } = plan;
        let mut opener = Host::new(first, isns[0], lengths[0], readers[0]);
        opener.open();
        let answerer = Host::new(second, isns[1], lengths[1], readers[1]);
        let mut transfer = Self {
            hosts: [opener, answerer],
            wire: BTreeMap::new(),
            fates,
            sent: 0,
            at: Instant::START,
            trace: Vec::new(),
        };
        transfer.drain(0);
        transfer
    }

    pub const fn at(&self) -> Instant {
        self.at
    }

    pub fn states(&self) -> [Option<State>; 2] {
        [self.hosts[0].state(), self.hosts[1].state()]
    }

    pub fn is_over(&self) -> bool {
        self.hosts.iter().all(Host::is_done)
    }

    /// How many bytes each has read.
    pub fn read(&self) -> [usize; 2] {
        [self.hosts[0].read(), self.hosts[1].read()]
    }

    pub fn events(&self) -> [&[Event]; 2] {
        [self.hosts[0].events(), self.hosts[1].events()]
    }

    /// All segments sent: the time, the sending host and the bytes.
    pub fn trace(&self) -> &[(Instant, usize, Vec<u8>)] {
        &self.trace
    }

    /// One event: a frame, a timer or an application.
    pub fn step(&mut self) {
        let frame = self.wire.keys().next().map_or(Instant::NEVER, |(at, _)| *at);
        let wakes = [self.hosts[0].next_wake(), self.hosts[1].next_wake()];
        let first = wakes[0].min(wakes[1]);
        assert!(
            frame.min(first) < Instant::NEVER,
            "neither a frame nor a timer is left: {:?}",
            self.states()
        );
        let who = if frame <= first {
            let ((at, _), (to, bytes)) = self.wire.pop_first().unwrap();
            self.at = at;
            let (host, other) = self.pair(to);
            host.arrives(&bytes, other, at);
            to
        } else {
            let who = usize::from(wakes[1] < wakes[0]);
            self.at = first;
            let (host, other) = self.pair(who);
            host.wakes(other, first);
            who
        };
        self.drain(who);
    }

    /// One host, and what the other sends.
    fn pair(&mut self, who: usize) -> (&mut Host, &[u8]) {
        let [first, second] = &mut self.hosts;
        match who {
            0 => (first, second.stream()),
            _ => (second, first.stream()),
        }
    }

    fn drain(&mut self, from: usize) {
        for bytes in self.hosts[from].sends(self.at) {
            self.trace.push((self.at, from, bytes.clone()));
            let fate = self.fates.get(self.sent).copied().unwrap_or(Fate::Delivered(50));
            match fate {
                Fate::Delivered(delay) => self.carry(from, bytes, delay),
                Fate::Duplicated(one, other) => {
                    self.carry(from, bytes.clone(), one);
                    self.carry(from, bytes, other);
                }
                Fate::Lost => {}
                Fate::Damaged(at, bits) => {
                    let mut bytes = bytes;
                    let at = at as usize % bytes.len();
                    bytes[at] ^= bits;
                    self.carry(from, bytes, 50);
                }
            }
            self.sent += 1;
        }
    }

    fn carry(&mut self, from: usize, bytes: Vec<u8>, delay: u64) {
        let at = self.at + Duration::from_millis(delay);
        let number = 2 * self.sent + usize::from(self.wire.contains_key(&(at, 2 * self.sent)));
        self.wire.insert((at, number), (1 - from, bytes));
    }
}
