//! The occupancy of the queue and of the link's buffers.

use alloc::collections::VecDeque;

use rtolab_time::Instant;

use crate::config::{DirectionConfig, Limit};

/// A number of packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Occupancy {
    pub(crate) packets: u32,
    pub(crate) bytes: u64,
}

/// The frames that wait in a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLength {
    /// Their number.
    pub packets: u32,
    /// Their size in bytes.
    pub bytes: u64,
}

impl From<Occupancy> for QueueLength {
    fn from(Occupancy { packets, bytes }: Occupancy) -> Self {
        Self { packets, bytes }
    }
}

impl Occupancy {
    pub(crate) fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }

    pub(crate) fn remove(&mut self, bytes: u32) {
        self.packets -= 1;
        self.bytes -= u64::from(bytes);
    }

    /// With one more packet.
    pub(crate) fn with(mut self, bytes: u32) -> Self {
        self.add(bytes);
        self
    }
}

impl Limit {
    pub(crate) const fn holds(self, occupancy: Occupancy) -> bool {
        match self {
            Self::Unlimited => true,
            Self::Packets(packets) => occupancy.packets <= packets,
            Self::Bytes(bytes) => occupancy.bytes <= bytes as u64,
        }
    }
}

/// The departure of a frame.
#[derive(Clone, Copy, Debug)]
struct Departure {
    at: Instant,
    bytes: u32,
}

/// Frames that depart in order at known times.
#[derive(Clone, Debug, Default)]
struct Departures {
    departures: VecDeque<Departure>,
    occupancy: Occupancy,
}

impl Departures {
    fn push(&mut self, departure: Departure) {
        self.occupancy.add(departure.bytes);
        self.departures.push_back(departure);
    }

    fn pop(&mut self) {
        if let Some(departure) = self.departures.pop_front() {
            self.occupancy.remove(departure.bytes);
        }
    }

    fn pop_until(&mut self, at: Instant) {
        while self.departures.front().is_some_and(|departure| departure.at <= at) {
            self.pop();
        }
    }
}

/// The waiting frames, without the one in transmission.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    waiting: Departures,
}

impl Queue {
    /// The occupancy at `at`.
    pub(crate) fn waiting(&mut self, at: Instant) -> Occupancy {
        self.waiting.pop_until(at);
        self.waiting.occupancy
    }

    /// Adds a frame that waits until `until`; returns the number of waiting frames.
    pub(crate) fn push(&mut self, bytes: u32, until: Instant) -> u32 {
        self.waiting.push(Departure { at: until, bytes });
        self.waiting.occupancy.packets
    }
}

/// The link's send buffer and the receive buffer at its other end, which the sender never overruns.
/// A frame occupies both from its entry until it leaves the link.
#[derive(Clone, Debug)]
pub(crate) struct Buffers {
    limits: [Limit; 2],
    inside: Departures,
    /// When the last frame entered.
    last_entry: Instant,
}

/// The space in the buffers for one frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reservation {
    /// When there is space.
    pub(crate) at: Instant,
    /// The number of frames that must leave first.
    after: usize,
}

impl Buffers {
    /// The buffers of a direction; `None` if they have no limit.
    pub(crate) fn new(config: &DirectionConfig) -> Option<Self> {
        let limits = [config.send_buffer, config.receive_buffer];
        (limits != [Limit::Unlimited; 2]).then(|| Self {
            limits,
            inside: Departures::default(),
            last_entry: Instant::START,
        })
    }

    /// The first instant from `at` on at which a frame fits, after all earlier ones. A frame larger
    /// than a buffer fits once that is empty.
    pub(crate) fn reserve(&mut self, bytes: u32, at: Instant) -> Reservation {
        self.inside.pop_until(at);
        let mut occupancy = self.inside.occupancy.with(bytes);
        let mut reservation = Reservation { at: at.max(self.last_entry), after: 0 };
        for departure in &self.inside.departures {
            if self.limits.iter().all(|limit| limit.holds(occupancy)) {
                break;
            }
            occupancy.remove(departure.bytes);
            reservation.at = reservation.at.max(departure.at);
            reservation.after += 1;
        }
        reservation
    }

    /// Occupies the reserved space with a frame that leaves the link at `leaves`.
    pub(crate) fn occupy(&mut self, reservation: Reservation, bytes: u32, leaves: Instant) {
        for _ in 0..reservation.after {
            self.inside.pop();
        }
        self.last_entry = reservation.at;
        self.inside.push(Departure { at: leaves, bytes });
    }
}
