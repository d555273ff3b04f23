//! What a link is like.

use alloc::sync::Arc;
use alloc::vec::Vec;

use rtolab_settings::Choice;
use rtolab_time::{Duration, Instant, Rate};

use crate::frame::Direction;
use crate::stage::Staged;
use crate::stream::{Distribution, Renewal};

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

/// A span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// When it begins.
    pub at: Instant,
    /// How long it lasts.
    pub length: Duration,
}

/// Spans in which frames are lost: every frame of either direction whose transmission ends within.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outages {
    /// At given instants.
    pub scripted: Vec<Interval>,
    /// At random ones.
    pub random: Option<Renewal>,
}

/// Where a stall holds frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
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
    pub scripted: Vec<Interval>,
    /// At random ones.
    pub random: Option<Renewal>,
    /// Where frames wait.
    pub holds: StallHolds,
}

/// What a frame's delay spike stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
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

/// From an instant on the link is as fast as this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateChange {
    /// From when.
    pub at: Instant,
    /// How fast; `None`: serialisation takes no time.
    pub rate: Option<Rate>,
}

/// A trace of mahimahi (`mm-link`): the instants at which the link can send up to 1500 bytes, used
/// or not. What a frame leaves of an opportunity is for those behind it that wait already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opportunities {
    /// Since the start of the trace, ascending; several at one instant are several opportunities.
    pub at: Vec<Duration>,
    /// The trace begins again after so long; the last opportunity is not beyond it.
    pub period: Duration,
}

/// A series of propagation delays, a ping series say: each holds from its instant until the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayTrace {
    /// Since the start of the trace, ascending, the first at zero.
    pub steps: Vec<(Duration, Duration)>,
    /// The trace begins again after so long; `None`: the last delay stays.
    pub period: Option<Duration>,
}

/// Do frames keep their order where delays differ?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Order {
    /// A frame never arrives before one that was sent earlier: it waits for that.
    #[default]
    Kept,
    /// A frame arrives when it arrives.
    Free,
}

/// How the queue decides what it takes, beside its limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Discipline {
    /// Whatever the limit leaves room for.
    #[default]
    DropTail,
    /// Random early detection.
    Red(Red),
    /// Controlled delay (RFC 8289).
    CoDel(CoDel),
}

/// Random early detection: Floyd and Jacobson 1993, as in ns-2. Thresholds are in packets, or in
/// bytes where the queue's limit is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Red {
    /// Below this average nothing is dropped.
    pub min: f64,
    /// Above this average everything is, or twice this where `gentle`.
    pub max: f64,
    /// The chance of a drop as the average reaches `max`.
    pub max_p: f64,
    /// The weight of the newest queue length in the average.
    pub weight: f64,
    /// From `max` to twice `max` the chance rises to 1 instead of jumping there.
    pub gentle: bool,
    /// `max_p` adapts so that the average stays half-way (Floyd, Gummadi and Shenker 2001).
    pub adaptive: bool,
    /// Frames of ECN-capable senders are marked instead of dropped (RFC 3168).
    pub ecn: bool,
    /// How long an average packet takes to send, for the decay of the average in idle times.
    pub packet_time: Duration,
}

/// Controlled delay (RFC 8289).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDel {
    /// The standing delay that is accepted (RFC 8289: 5 ms).
    pub target: Duration,
    /// How long the delay must stay above it (RFC 8289: 100 ms).
    pub interval: Duration,
    /// Frames of ECN-capable senders are marked instead of dropped.
    pub ecn: bool,
}

/// A source of higher priority that has the transmitter whenever it wants to, voice say: it
/// interrupts a frame in transmission, which goes on afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priority {
    /// How long it is silent and how long it talks.
    pub activity: Renewal,
    /// While it talks it sends a packet so often.
    pub every: Duration,
    /// The size of such a packet in bytes.
    pub packet: u32,
}

/// What differs while a two-state link is in its bad state; `None`: as in the good one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BadState {
    /// How fast it sends.
    pub rate: Option<Rate>,
    /// Propagation delay.
    pub delay: Option<Duration>,
    /// The chance of each frame to be lost.
    pub loss: Option<Probability>,
}

/// A two-state link (Gilbert and Elliott): it is in its good and in its bad state in turn. The state
/// at the end of a frame's transmission decides its loss and its propagation delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct States {
    /// How long it stays in either.
    pub residence: Renewal,
    /// Do both directions change together, or each by itself?
    pub shared: bool,
}

/// Local retransmission by the link itself, of what transmission errors and outages destroyed.
///
/// The receiving end reports what is missing and what has arrived; its reports ride the other
/// direction, before all else that waits there. The sending end sends again what is reported
/// missing, before all that is new, up to `retries` times, and then gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arq {
    /// The most retransmissions of a block.
    pub retries: u32,
    /// Does the receiving end hand frames on in order, or as they become whole?
    pub order: Order,
    /// Frames are cut into blocks that carry at most so many bytes; `None`: a frame is a block.
    pub fragment: Option<u32>,
    /// What a block carries besides, in bytes.
    pub header: u32,
    /// The size of a report, in bytes; zero: it rides for nothing, with the delay only.
    pub report: u32,
    /// When the receiving end notices that a block is missing.
    pub notices: Notices,
    /// The sending end sends a block again of which it has heard nothing for so long since the end
    /// of its transmission. An orderly receiving end that still waits reports again after as long.
    /// Not zero.
    pub timeout: Duration,
}

/// When the receiving end notices that a block is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Notices {
    /// As it arrives damaged: its number is still legible. What an outage swallows is noticed as
    /// with `Gap`.
    #[default]
    Damage,
    /// As a later one arrives.
    Gap,
}

/// One direction of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectionConfig {
    /// How fast it sends; `None`: serialisation takes no time.
    pub rate: Option<Rate>,
    /// Propagation delay.
    pub delay: Duration,
    /// Room in the queue before the link's own buffers. It holds frames that wait: without
    /// link buffers for the transmitter (the one in transmission does not count), with them for
    /// room there. A frame that need not wait is never dropped.
    pub queue: Limit,
    /// The link's send buffer: a frame takes room in it from before its transmission until it is
    /// delivered, in order, at the other end (or known lost). With local retransmission, until the
    /// sending end knows that all of it has arrived, or gives it up: this is its window.
    pub send_buffer: Limit,
    /// The link's receive buffer, where frames wait for an earlier one. The sender knows its size
    /// and never has more under way. With local retransmission another limit of the window.
    pub receive_buffer: Limit,
    /// How the rate changes at given instants.
    pub rate_changes: Vec<RateChange>,
    /// The opportunities to send, instead of a rate.
    pub opportunities: Option<Arc<Opportunities>>,
    /// Propagation delays that change, in place of `delay`.
    pub delays: Option<Arc<DelayTrace>>,
    /// A random delay besides, drawn for each frame.
    pub jitter: Option<Distribution>,
    /// Do frames keep their order where their delays differ?
    pub order: Order,
    /// How the queue decides what it takes, beside `queue`.
    pub discipline: Discipline,
    /// A source of higher priority.
    pub priority: Option<Priority>,
    /// A frame that is older than this when its transmission would begin is dropped instead.
    pub lifetime: Option<Duration>,
    /// What differs in the bad state, where the link has two.
    pub bad: BadState,
    /// The chance that a frame fares as the one before it did in the same state, instead of
    /// independently.
    pub loss_memory: Probability,
    /// The chance of each delivered frame to arrive twice.
    pub duplication: Probability,
    /// The chance of each delivered frame to arrive damaged, so that a checksum finds it.
    pub corruption: Probability,
    /// Spans in which frames of this direction are lost.
    pub outages: Outages,
    /// The chance of each frame to be lost at the end of its transmission.
    pub loss: Probability,
    /// The frames that are lost, counted from 1 as they are transmitted (a frame that the queue
    /// dropped does not count).
    pub drops: Vec<u32>,
    /// Sudden delays of single frames.
    pub spikes: Option<Spikes>,
    /// Spans in which frames are held.
    pub stalls: Stalls,
    /// What befalls single frames besides, by rules that the engine does not know.
    pub stage: Option<Staged>,
}

/// Both directions and what they share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChannelConfig {
    /// Away from the first end.
    pub forward: DirectionConfig,
    /// Back to it.
    pub backward: DirectionConfig,
    /// Spans that hit both directions at once.
    pub outages: Outages,
    /// When the link is in its bad state, if it has two.
    pub states: Option<States>,
    /// Local retransmission; of several the first is nearest to the hosts, and the last to the
    /// transmitter (LLC over RLC, say). At most two.
    pub arq: Vec<Arq>,
}

impl ChannelConfig {
    /// One of the directions.
    pub const fn of(&self, direction: Direction) -> &DirectionConfig {
        match direction {
            Direction::Forward => &self.forward,
            Direction::Backward => &self.backward,
        }
    }
}
