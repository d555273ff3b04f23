//! Frames and their outcomes.

use rtolab_time::{Duration, Instant};

/// The direction of a frame. `Forward` leads away from the link's first end.
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

    /// The opposite direction.
    #[must_use]
    pub const fn reverse(self) -> Self {
        match self {
            Self::Forward => Self::Backward,
            Self::Backward => Self::Forward,
        }
    }

    /// The name of the direction's random stream.
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

/// Identifies a copy of a packet: each transmission is a new copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CopyId(pub u64);

/// The fields of a TCP/IP header that a compressor compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderFields {
    /// The connection and its direction, each of which has its own context.
    pub context: u64,
    /// The sequence number.
    pub seq: u64,
    /// The acknowledgment number.
    pub ack: u64,
    /// The window.
    pub window: u32,
    /// The payload in bytes.
    pub payload: u32,
    /// The headers of IP and TCP with options, in bytes.
    pub header: u32,
    /// The options in bytes.
    pub option_bytes: u32,
    /// A hash of the options.
    pub options: u64,
    /// The fields that a difference cannot express, such as flags other than ACK and PSH, and the
    /// ECN field.
    pub others: u32,
    /// Does it have SYN, FIN or RST, or lack ACK? Such headers are always sent uncompressed.
    pub is_control: bool,
}

/// A frame that a link carries.
pub trait Frame: Clone {
    /// The size on the link in bytes, headers included.
    fn bytes(&self) -> u32;
    /// Which copy of a packet it is.
    fn copy_id(&self) -> CopyId;
    /// Is its sender ECN-capable (RFC 3168: ECT)?
    fn is_ecn_capable(&self) -> bool;
    /// Marks that the queue is congested (RFC 3168: CE).
    fn mark_congestion(&mut self);
    /// Damages it so that a checksum at its destination detects it.
    fn corrupt(&mut self);
    /// Its TCP/IP header, for links that compress headers; `None` if it has none.
    fn header_fields(&self) -> Option<HeaderFields> {
        None
    }
}

/// Why a frame was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropCause {
    /// The queue was full.
    Queue,
    /// A random transmission error.
    Error,
    /// An outage of the link.
    Outage,
    /// The scenario names this frame.
    Script,
    /// Dropped by the queue discipline: RED or `CoDel`.
    Early,
    /// Older than the maximum age.
    Lifetime,
    /// Given up by the link's ARQ.
    Retries,
}

/// The outcome of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Outcome<F> {
    /// It is delivered at the other end.
    Delivered {
        direction: Direction,
        frame: F,
        /// How long it was held in addition to queueing, transmission and propagation: by a stall
        /// of the entry; by stalls of the transmitter while it waited or was sent; by its own
        /// spike; at the far end, by earlier frames that had to be delivered first. With ARQ: the
        /// time from when its last block would have arrived undisturbed until its delivery; the
        /// retransmission of other blocks meanwhile is queueing. A transmission that a lower layer
        /// gives up before all of it was sent does not count. Zero on an undisturbed link.
        held: Duration,
        /// Is it a second copy that the link made?
        duplicate: bool,
    },
    /// It is lost.
    Dropped {
        direction: Direction,
        frame: F,
        cause: DropCause,
        /// When it was lost: at its entry if the queue dropped it there, at the exit of the queue
        /// if that dropped it, when ARQ gave it up, else at the end of its transmission.
        at: Instant,
    },
}
