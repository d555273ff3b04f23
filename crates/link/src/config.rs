//! The configuration of a link.

use alloc::sync::Arc;
use alloc::vec::Vec;

use rtolab_settings::Choice;
use rtolab_time::{Duration, Instant, Rate};

use crate::frame::Direction;
use crate::header_compression::HeaderCompression;
use crate::stage::Staged;
use crate::stream::{Distribution, Renewal};

/// The limit of a queue or a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Limit {
    #[default]
    Unlimited,
    Packets(u32),
    Bytes(u32),
}

/// A span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Interval {
    pub at: Instant,
    pub length: Duration,
}

/// Spans in which every frame whose transmission ends within is lost.
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
    /// Frames wait before the queue, without limit, and enter it together at the end (the "hiccup"
    /// module of DualRTT's section II). Frames in the queue and behind it are not held. Nothing is
    /// lost unless the queue then overflows.
    Entry,
}

/// Spans in which frames are held. Afterwards they proceed in order; a stall itself loses none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stalls {
    /// At given instants.
    pub scripted: Vec<Interval>,
    /// At random ones.
    pub random: Option<Renewal>,
    /// Where frames wait.
    pub holds: StallHolds,
}

/// What a delay spike of a frame blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum SpikeHolds {
    /// Delivery: later frames are sent until the link's buffers are full, but delivered only after
    /// the delayed one.
    #[default]
    Delivery,
    /// Service: the transmitter is busy with the delayed frame.
    Service,
}

/// A random sudden delay of single frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spikes {
    /// The probability that a frame is delayed.
    pub probability: Probability,
    /// The length of the delay.
    pub length: Distribution,
    /// What the delay blocks.
    pub holds: SpikeHolds,
}

/// A probability as a 32-bit fraction, so that comparisons are the same on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probability(u64);

impl Probability {
    /// An impossible event.
    pub const ZERO: Self = Self(0);

    /// The nearest fraction to `p`; `None` unless `p` is in [0, 1].
    pub fn new(p: f64) -> Option<Self> {
        (0.0..=1.0).contains(&p).then_some(Self((p * 4_294_967_296.0 + 0.5) as u64))
    }

    /// Does the event happen, given a uniformly random `draw`?
    pub const fn happens(self, draw: u32) -> bool {
        (draw as u64) < self.0
    }

    /// As a number from 0 to 1.
    pub fn value(self) -> f64 {
        self.0 as f64 / 4_294_967_296.0
    }
}

/// A change of the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct RateChange {
    pub at: Instant,
    /// The rate from then on; `None`: transmission takes no time.
    pub rate: Option<Rate>,
}

/// A mahimahi trace (`mm-link`): the instants at which the link can send up to 1500 bytes, used or
/// not. Only frames that already wait can use the rest of an opportunity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opportunities {
    /// Since the start of the trace, ascending; an instant that occurs twice is two opportunities.
    pub at: Vec<Duration>,
    /// The period after which the trace repeats; at least the last instant.
    pub period: Duration,
}

/// A series of propagation delays, for example from ping: each holds until the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayTrace {
    /// Instants since the start of the trace, ascending from zero, and the delay from each on.
    pub steps: Vec<(Duration, Duration)>,
    /// The period after which the trace repeats; `None`: the last delay stays.
    pub period: Option<Duration>,
}

/// Do frames keep their order although their delays differ?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Order {
    /// A frame waits for all frames sent before it.
    #[default]
    Kept,
    /// A frame arrives after its own delay.
    Free,
}

/// The queue discipline.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Discipline {
    /// Drops what exceeds the limit.
    #[default]
    DropTail,
    /// Random early detection.
    Red(Red),
    /// Controlled delay (RFC 8289).
    CoDel(CoDel),
}

/// Random early detection: Floyd and Jacobson 1993, as in ns-2. Thresholds are in packets, or in
/// bytes if the queue's limit is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Red {
    /// Below this average nothing is dropped.
    pub min: f64,
    /// Above this average everything is dropped; with `gentle`, above twice this.
    pub max: f64,
    /// The drop probability as the average reaches `max`.
    pub max_p: f64,
    /// The weight of the newest queue length in the average.
    pub weight: f64,
    /// Between `max` and twice `max` the drop probability rises to 1 instead of jumping there.
    pub gentle: bool,
    /// `max_p` adapts so that the average stays half-way (Floyd, Gummadi and Shenker 2001).
    pub adaptive: bool,
    /// Marks frames of ECN-capable senders instead of dropping them (RFC 3168).
    pub ecn: bool,
    /// The transmission time of an average packet, for the decay of the average in idle times.
    pub packet_time: Duration,
}

/// Controlled delay (RFC 8289).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDel {
    /// The accepted standing delay (RFC 8289: 5 ms).
    pub target: Duration,
    /// How long the delay must stay above the target (RFC 8289: 100 ms).
    pub interval: Duration,
    /// Marks frames of ECN-capable senders instead of dropping them.
    pub ecn: bool,
}

/// A source of higher priority, for example voice, which preempts frames in transmission; they
/// resume afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priority {
    /// Its silences (good) and talk spurts (bad).
    pub activity: Renewal,
    /// The interval between its packets in a talk spurt.
    pub every: Duration,
    /// The size of its packets in bytes.
    pub packet: u32,
}

/// The parameters of the bad state of a two-state link; `None`: as in the good state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BadState {
    /// The rate.
    pub rate: Option<Rate>,
    /// The propagation delay.
    pub delay: Option<Duration>,
    /// The loss probability of a frame.
    pub loss: Option<Probability>,
}

/// A two-state link (Gilbert and Elliott). The state at the end of a frame's transmission decides
/// its loss and its propagation delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct States {
    /// The residence times of the good and the bad state.
    pub residence: Renewal,
    /// Do both directions change together, or each by itself?
    pub shared: bool,
}

/// ARQ by the link itself, against transmission errors and outages.
///
/// The receiver reports what is missing and what has arrived; its reports share the reverse
/// direction and have priority there. The sender retransmits what is reported missing before it
/// sends anything new, up to `retries` times, and then gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arq {
    /// The maximum number of retransmissions of a block.
    pub retries: u32,
    /// Does the receiver deliver frames in order, or as they become complete?
    pub order: Order,
    /// The payload of a block in bytes; `None`: a frame is a block.
    pub fragment: Option<u32>,
    /// The header of a block in bytes.
    pub header: u32,
    /// The size of a report in bytes; with zero, reports take no bandwidth, only the delay.
    pub report: u32,
    /// When the receiver detects that a block is missing.
    pub notices: Notices,
    /// The sender retransmits a block this long after the end of its transmission unless a report
    /// covers it. A receiver that keeps order and still waits repeats its report after the same
    /// time. Not zero.
    pub timeout: Duration,
}

/// When the receiver detects that a block is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum Notices {
    /// When it arrives damaged: its number is still legible. Blocks lost in an outage are detected
    /// as with `Gap`.
    #[default]
    Damage,
    /// When a later one arrives.
    Gap,
}

/// One direction of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectionConfig {
    /// `None`: transmission takes no time.
    pub rate: Option<Rate>,
    /// Propagation delay.
    pub delay: Duration,
    /// The limit of the queue before the link's own buffers. Frames wait in it for the transmitter
    /// (the one in transmission does not count) or, with link buffers, for space there. A frame
    /// that need not wait is never dropped.
    pub queue: Limit,
    /// The link's send buffer, which holds a frame from before its transmission until its delivery
    /// in order at the other end, or its known loss. With ARQ it is the sender's window: it holds a
    /// frame until all of it is acknowledged or given up.
    pub send_buffer: Limit,
    /// The link's receive buffer, in which frames wait for earlier ones. The sender knows its size
    /// and never exceeds it. With ARQ it is another limit of the window.
    pub receive_buffer: Limit,
    /// Changes of the rate.
    pub rate_changes: Vec<RateChange>,
    /// Opportunities to send, instead of a rate.
    pub opportunities: Option<Arc<Opportunities>>,
    /// Changing propagation delays, instead of `delay`.
    pub delays: Option<Arc<DelayTrace>>,
    /// A random additional delay of each frame.
    pub jitter: Option<Distribution>,
    /// Do frames keep their order although their delays differ?
    pub order: Order,
    /// How the queue decides what it takes, apart from its limit.
    pub discipline: Discipline,
    /// A source of higher priority.
    pub priority: Option<Priority>,
    /// The maximum age of a frame at the start of its transmission; older ones are dropped.
    pub lifetime: Option<Duration>,
    /// The parameters of the bad state, if the link has two states.
    pub bad: BadState,
    /// The probability that a frame is lost or not as the one before it in the same state, instead
    /// of independently.
    pub loss_memory: Probability,
    /// The probability that a delivered frame arrives twice.
    pub duplication: Probability,
    /// The probability that a delivered frame arrives damaged, as a checksum detects.
    pub corruption: Probability,
    /// Outages of this direction alone.
    pub outages: Outages,
    /// The probability that a frame is lost at the end of its transmission.
    pub loss: Probability,
    /// Numbers of the frames to lose, counted from 1 as they are transmitted (a frame that the
    /// queue drops does not count).
    pub drops: Vec<u32>,
    /// Random delays of single frames.
    pub spikes: Option<Spikes>,
    /// Spans in which frames are held.
    pub stalls: Stalls,
    /// User-defined impairments.
    pub stage: Option<Staged>,
    /// Compression of TCP/IP headers. Links with ARQ or `CoDel` have none.
    pub header_compression: HeaderCompression,
}

/// Both directions and what they share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChannelConfig {
    /// From the first end to the second.
    pub forward: DirectionConfig,
    /// From the second end to the first.
    pub backward: DirectionConfig,
    /// Outages of both directions at once.
    pub outages: Outages,
    /// When the link is in its bad state, if it has two states.
    pub states: Option<States>,
    /// ARQ layers, at most two: the first is nearest to the hosts, the last to the transmitter (for
    /// example LLC over RLC).
    pub arq: Vec<Arq>,
}

impl ChannelConfig {
    /// The configuration of one direction.
    pub const fn of(&self, direction: Direction) -> &DirectionConfig {
        match direction {
            Direction::Forward => &self.forward,
            Direction::Backward => &self.backward,
        }
    }
}
