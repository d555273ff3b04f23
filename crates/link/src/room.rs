//! Room in a queue and in a link's buffers.

use alloc::collections::VecDeque;

use rtolab_time::Instant;

use crate::config::{DirectionConfig, Limit};

/// So many packets of so many bytes together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) packets: u32,
    pub(crate) bytes: u64,
}

impl Load {
    pub(crate) fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }

    pub(crate) fn remove(&mut self, bytes: u32) {
        self.packets -= 1;
        self.bytes -= u64::from(bytes);
    }

    /// With one packet more, of so many bytes.
    pub(crate) fn with(mut self, bytes: u32) -> Self {
        self.add(bytes);
        self
    }
}

impl Limit {
    pub(crate) const fn holds(self, load: Load) -> bool {
        match self {
            Self::Unlimited => true,
            Self::Packets(packets) => load.packets <= packets,
            Self::Bytes(bytes) => load.bytes <= bytes as u64,
        }
    }
}

/// When a frame goes, and its size.
#[derive(Clone, Copy, Debug)]
struct Departure {
    at: Instant,
    bytes: u32,
}

/// The frames of a place that go in order at known times.
#[derive(Clone, Debug, Default)]
struct Inside {
    departures: VecDeque<Departure>,
    load: Load,
}

impl Inside {
    fn push(&mut self, departure: Departure) {
        self.load.add(departure.bytes);
        self.departures.push_back(departure);
    }

    fn pop(&mut self) {
        if let Some(departure) = self.departures.pop_front() {
            self.load.remove(departure.bytes);
        }
    }

    fn pop_until(&mut self, at: Instant) {
        while self.departures.front().is_some_and(|departure| departure.at <= at) {
            self.pop();
        }
    }
}

/// The frames that wait, not the one in transmission.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    waiting: Inside,
}

impl Queue {
    /// What waits at `at`.
    pub(crate) fn waiting(&mut self, at: Instant) -> Load {
        self.waiting.pop_until(at);
        self.waiting.load
    }

    /// Lets an admitted frame wait until `until`; says how many wait now.
    pub(crate) fn push(&mut self, bytes: u32, until: Instant) -> u32 {
        self.waiting.push(Departure { at: until, bytes });
        self.waiting.load.packets
    }
}

/// The link's send buffer, and the receive buffer at its other end, which the sender never overruns:
/// a frame takes room in both from its entry until it leaves the link.
#[derive(Clone, Debug)]
pub(crate) struct Buffers {
    limits: [Limit; 2],
    inside: Inside,
    /// When the last frame entered.
    last_entry: Instant,
}

/// A frame's place in the buffers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// When there is room.
    pub(crate) at: Instant,
    /// How many frames go before.
    after: usize,
}

impl Buffers {
    /// `None` where there is no limit.
    pub(crate) fn new(config: &DirectionConfig) -> Option<Self> {
        let limits = [config.send_buffer, config.receive_buffer];
        (limits != [Limit::Unlimited; 2]).then(|| Self {
            limits,
            inside: Inside::default(),
            last_entry: Instant::START,
        })
    }

    /// The first instant from `at` on at which a frame of this size fits, behind all before it. One
    /// that is larger than a buffer fits when that is empty.
    pub(crate) fn place(&mut self, bytes: u32, at: Instant) -> Place {
        self.inside.pop_until(at);
        let mut load = self.inside.load.with(bytes);
        let mut place = Place { at: at.max(self.last_entry), after: 0 };
        for departure in &self.inside.departures {
            if self.limits.iter().all(|limit| limit.holds(load)) {
                break;
            }
            load.remove(departure.bytes);
            place.at = place.at.max(departure.at);
            place.after += 1;
        }
        place
    }

    /// Fills the place with a frame that leaves the link at `leaves`.
    pub(crate) fn fill(&mut self, place: Place, bytes: u32, leaves: Instant) {
        for _ in 0..place.after {
            self.inside.pop();
        }
        self.last_entry = place.at;
        self.inside.push(Departure { at: leaves, bytes });
    }
}
