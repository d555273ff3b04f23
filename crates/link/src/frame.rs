//! What a link carries, and what it says about it.

use rtolab_time::{Duration, Instant};

/// Which way a frame goes. `Forward` leads away from the link's first end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the link's first end to its second.
    Forward,
    /// From its second end to its first.
    Backward,
}

impl Direction {
    /// Both directions, the forward one first.
    pub const BOTH: [Self; 2] = [Self::Forward, Self::Backward];

    /// The opposite way.
    #[must_use]
    pub const fn reverse(self) -> Self {
        match self {
            Self::Forward => Self::Backward,
            Self::Backward => Self::Forward,
        }
    }

    /// As the random processes of the direction are named.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Backward => "backward",
        }
    }

    /// 0 for forward, 1 for backward.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Tells the copies of one packet apart: every sending has its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CopyId(pub u64);

/// What a link needs to know of what it carries.
pub trait Frame: Clone {
    /// The size on the link in bytes, headers included.
    fn bytes(&self) -> u32;
    /// Which copy this is.
    fn copy_id(&self) -> CopyId;
    /// Does its sender understand a mark of congestion (RFC 3168: ECT)?
    fn takes_marks(&self) -> bool;
    /// Marks it: the queue is congested (RFC 3168: CE).
    fn mark_congestion(&mut self);
    /// Damages it, so that a checksum at its destination finds it.
    fn corrupt(&mut self);
}

/// Why a frame did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropCause {
    /// The queue was full.
    Queue,
    /// A random transmission error.
    Error,
    /// The link was out.
    Outage,
    /// The scenario says that this very frame is lost.
    Script,
    /// The queue's discipline chose it: RED or `CoDel`.
    Early,
    /// It was older than the link keeps frames.
    Lifetime,
    /// The link's local retransmission gave up.
    Retries,
}

/// What became of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<F> {
    /// It leaves the link.
    Delivered {
        /// Which way it went.
        direction: Direction,
        /// The frame.
        frame: F,
        /// How long it was held, beyond queueing, serialisation and propagation: before the
        /// entry, by a stall there; while it waited or had its turn, by stalls of the transmitter
        /// and its own spike, if that holds service; at the far end, by its own spike and by
        /// frames before it that had to come out first. With local retransmission, from when its
        /// last block would have arrived, had its first transmission met nothing of that, till it
        /// comes out; that others are sent again meanwhile is queueing. A transmission that a lower
        /// level gives up before all of it was sent does not count. Zero on an undisturbed link.
        held: Duration,
        /// Is it a second one that the link made of the frame?
        duplicate: bool,
    },
    /// It is gone.
    Dropped {
        /// Which way it went.
        direction: Direction,
        /// The frame.
        frame: F,
        /// Why.
        cause: DropCause,
        /// When: the entry if the queue refused it, the exit if the queue dropped it there, when
        /// local retransmission gave it up, else the end of its transmission.
        at: Instant,
    },
}
