//! What a link is like.

use alloc::vec::Vec;

use rtolab_time::{Duration, Instant, Rate};

/// How much fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    /// No limit.
    #[default]
    Unlimited,
    /// So many packets.
    Packets(u32),
    /// So many bytes.
    Bytes(u32),
}

/// How long a random span is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Always the same.
    Constant(Duration),
    /// Equally likely anywhere between the two.
    Uniform(Duration, Duration),
    /// Exponential with this mean.
    Exponential(Duration),
}

/// A span of time at a given instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// When it begins.
    pub at: Instant,
    /// How long it lasts.
    pub length: Duration,
}

/// Two kinds of spans that alternate, whatever the traffic does. Good spans that are always of no
/// length mean one bad span without end, bad ones of no length none at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renewal {
    /// The spans between two events.
    pub good: Distribution,
    /// How long an event lasts.
    pub bad: Distribution,
    /// Does the process begin in its stationary state, or with a fresh good span?
    pub stationary: bool,
}

/// Spans in which frames are lost: every frame of either direction whose transmission ends within.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outages {
    /// At given instants.
    pub scripted: Vec<Window>,
    /// At random ones.
    pub random: Option<Renewal>,
}

/// Where a stall holds frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StallHolds {
    /// The transmitter pauses: frames wait in the queue, which may overflow.
    #[default]
    Transmitter,
    /// Frames wait before the queue, without limit, and are handed to it together at the end
    /// (the "hiccup" module of DualRTT's section II). Nothing is lost unless the queue then
    /// overflows; frames that entered before go on.
    Entry,
}

/// Spans in which frames are held; afterwards they go on in order and none is lost by it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stalls {
    /// At given instants.
    pub scripted: Vec<Window>,
    /// At random ones.
    pub random: Option<Renewal>,
    /// Where frames wait.
    pub holds: StallHolds,
}

/// What a frame's delay spike stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpikeHolds {
    /// Delivery: later frames are sent on until the link's buffers are full, but none is delivered
    /// before the delayed one.
    #[default]
    Delivery,
    /// Service: the transmitter works on the delayed frame all that time.
    Service,
}

/// A sudden delay of single frames, drawn for each frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spikes {
    /// The chance of a frame to be delayed.
    pub probability: Probability,
    /// By how much.
    pub length: Distribution,
    /// What waits for it.
    pub holds: SpikeHolds,
}

/// A probability as a 32-bit fraction, for comparisons that are the same on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probability(u64);

impl Probability {
    /// Never.
    pub const ZERO: Self = Self(0);

    /// The nearest fraction to `p`; `None` unless `p` is within 0 and 1.
    pub fn new(p: f64) -> Option<Self> {
        (0.0..=1.0).contains(&p).then_some(Self((p * 4_294_967_296.0 + 0.5) as u64))
    }

    /// Does it happen, for a uniformly random `draw`?
    pub const fn happens(self, draw: u32) -> bool {
        (draw as u64) < self.0
    }

    /// As a number from 0 to 1.
    pub fn value(self) -> f64 {
        self.0 as f64 / 4_294_967_296.0
    }
}

/// One direction of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectionConfig {
    /// How fast it sends; `None`: serialisation takes no time.
    pub rate: Option<Rate>,
    /// Propagation delay.
    pub delay: Duration,
    /// The drop-tail queue before the link's own buffers. It holds frames that wait: without
    /// link buffers for the transmitter (the one in transmission does not count), with them for
    /// room there. A frame that need not wait is never dropped.
    pub queue: Limit,
    /// The link's send buffer: a frame takes room in it from before its transmission until it is
    /// delivered, in order, at the other end (or known lost).
    pub send_buffer: Limit,
    /// The link's receive buffer, where frames wait for an earlier one. The sender knows its size
    /// and never has more under way.
    pub receive_buffer: Limit,
    /// The chance of each frame to be lost at the end of its transmission.
    pub loss: Probability,
    /// The frames that are lost, counted from 1 as they are transmitted (a frame that the queue
    /// dropped does not count).
    pub drops: Vec<u32>,
    /// Sudden delays of single frames.
    pub spikes: Option<Spikes>,
    /// Spans in which frames are held.
    pub stalls: Stalls,
}

/// Both directions and what they share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelConfig {
    /// Away from the first end.
    pub forward: DirectionConfig,
    /// Back to it.
    pub backward: DirectionConfig,
    /// Spans that hit both directions at once.
    pub outages: Outages,
}
