//! The configuration of a link.

use alloc::format;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

use rtolab_settings::{CheckResult, Choice, IntegerRange, Positive, Settings, Size};
use rtolab_time::{Duration, Instant, Rate};

use crate::distribution::Distribution;
use crate::frame::Direction;
use crate::header_compression::HeaderCompression;
use crate::stage::NamedStage;
use crate::stream::RenewalProcess;

/// The limit of a queue or a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Limit {
    #[default]
    Unlimited,
    Packets(u32),
    Bytes(u32),
}

/// A span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
#[setting(check_list = Interval::in_order)]
pub struct Interval {
    /// Its start.
    #[setting(required, example = "28 s")]
    pub at: Instant,
    /// Its length.
    #[setting(key = "for", format = Positive, required, example = "12 s")]
    pub length: Duration,
}

impl Interval {
    fn in_order(spans: &[Self]) -> CheckResult {
        let overlap = spans.windows(2).find(|pair| pair[1].at < pair[0].at + pair[0].length);
        let Some([before, after]) = overlap else { return Ok(()) };
        let begins = after.at.since(Instant::START);
        let end = (before.at + before.length).since(Instant::START);
        Err(format!(
            "found a span that begins at {begins}, before the last one ends at {end}; expected \
             spans in order that do not overlap"
        ))
    }
}

/// Spans in which every frame whose transmission ends within is lost.
#[derive(Clone, Debug, PartialEq, Eq, Settings)]
pub struct Outages {
    /// Outages at given times.
    #[setting(list)]
    pub scripted: Vec<Interval>,
    /// Outages at random times, the bad spans of this process.
    #[setting(table)]
    pub random: Option<RenewalProcess>,
}

/// Where a stall holds frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum StallHolds {
    /// The transmitter pauses: frames wait in the queue, which may overflow.
    #[default]
    Transmitter,
    /// Frames wait before the queue, without limit, and enter it together at the end (the "hiccup"
    /// module of DualRTT's section II). Frames in the queue and after it are not held. Nothing is
    /// lost unless the queue then overflows.
    Entry,
}

/// Spans in which frames are held. Afterwards they proceed in order; a stall itself loses none.
#[derive(Clone, Debug, PartialEq, Eq, Settings)]
pub struct Stalls {
    /// Stalls at given times.
    #[setting(list)]
    pub scripted: Vec<Interval>,
    /// Stalls at random times, the bad spans of this process.
    #[setting(table)]
    pub random: Option<RenewalProcess>,
    /// The largest number of random stalls.
    #[setting(format = IntegerRange<1, 1_000_000>, unset = "no limit", example = "3")]
    pub at_most: Option<u32>,
    /// Where held frames wait.
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
#[derive(Clone, Debug, PartialEq, Eq, Settings)]
pub struct Spikes {
    /// The probability that a frame is delayed.
    #[setting(required, example = "0.02")]
    pub probability: Probability,
    /// The delay.
    #[setting(table, required, example = "{ exponential = \"3.5 s\" }")]
    pub length: Distribution,
    /// What a delayed frame blocks.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
#[setting(check_list = RateChange::in_order)]
pub struct RateChange {
    /// The time of the change.
    #[setting(required, example = "5 s")]
    pub at: Instant,
    /// The rate from then on.
    ///
    /// `None`: transmission takes no time.
    #[setting(required, example = "9.6 kbit/s")]
    pub rate: Option<Rate>,
}

impl RateChange {
    fn in_order(changes: &[Self]) -> CheckResult {
        let pair = changes.windows(2).find(|pair| pair[1].at <= pair[0].at);
        let Some([before, after]) = pair else { return Ok(()) };
        let [before, after] = [before.at, after.at].map(|at| at.since(Instant::START));
        Err(format!(
            "found a change at {after} after one at {before}; expected each later than the one \
             before it"
        ))
    }
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

/// Opportunities of the first frames after an idle time, as `CellReplay` records them beside those
/// of a saturated link: Sentosa and others, "`CellReplay`: Towards accurate record-and-replay for
/// cellular networks", NSDI 2025.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LightOpportunities {
    /// Instants since the start of the trace, ascending from zero, and from each on the
    /// opportunities of a train of frames, since its first frame, ascending.
    pub trains: Vec<(Duration, Vec<Duration>)>,
    /// The period after which the trace repeats; `None`: the last opportunities stay.
    pub period: Option<Duration>,
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
    /// The drop probability `p_b` as the average reaches `max`. The spacing of drops (`wait_` of
    /// ns-2) leaves 1/`p_b` to 2/`p_b` - 1 packets between them, a share of about `p_b`/1.5.
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

/// Controlled delay (RFC 8289), with the defaults of its section 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct CoDel {
    /// The accepted standing delay (TARGET).
    #[setting(format = Positive, default = Duration::from_millis(5), example = "5 ms")]
    pub target: Duration,
    /// The time for which the delay must stay above it (INTERVAL).
    #[setting(format = Positive, default = Duration::from_millis(100), example = "100 ms")]
    pub interval: Duration,
    /// Are packets of ECN-capable senders marked instead of dropped?
    pub ecn: bool,
}

/// A source of higher priority, for example voice, which preempts frames in transmission; they
/// resume afterwards.
#[derive(Clone, Debug, PartialEq, Eq, Settings)]
pub struct Priority {
    /// Its silences (good) and talk spurts (bad).
    #[setting(flatten)]
    pub activity: RenewalProcess,
    /// The time between its packets while it talks.
    #[setting(format = Positive, required, example = "20 ms")]
    pub every: Duration,
    /// The size of such a packet.
    #[setting(format = Size<1, 65_535, 72>, required, example = "72 B")]
    pub packet: u32,
}

/// The parameters of the bad state of a two-state link; `None`: as in the good state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
#[setting(check = BadState::differs)]
pub struct BadState {
    /// The rate.
    #[setting(example = "9.6 kbit/s")]
    pub rate: Option<Rate>,
    /// The propagation delay.
    #[setting(example = "1 s")]
    pub delay: Option<Duration>,
    /// The probability that a frame is lost.
    pub loss: Option<Probability>,
}

impl BadState {
    fn differs(&self) -> CheckResult {
        match self {
            Self { rate: None, delay: None, loss: None } => {
                Err("found an empty table; expected what differs: rate, delay or loss".to_string())
            }
            _ => Ok(()),
        }
    }
}

/// A two-state link (Gilbert and Elliott). The state at the end of a frame's transmission decides
/// its loss and its propagation delay.
#[derive(Clone, Debug, PartialEq, Eq, Settings)]
pub struct States {
    /// The residence times of the good and the bad state.
    #[setting(flatten)]
    pub residence: RenewalProcess,
    /// Do both directions change together, or each by itself?
    #[setting(default = true)]
    pub shared: bool,
}

/// ARQ by the link itself, against transmission errors and outages.
///
/// The receiver reports what is missing and what has arrived; its reports share the reverse
/// direction and have priority there. The sender retransmits what is reported missing before it
/// sends anything new, up to `retries` times, and then gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
pub struct Arq {
    /// The largest number of retransmissions of a block.
    #[setting(format = IntegerRange<0, { u32::MAX }>, required, example = "3")]
    pub retries: u32,
    /// The time after which an unacknowledged block is retransmitted.
    ///
    /// The sender retransmits a block this long after the end of its transmission unless a report
    /// covers it. A receiver that keeps order and still waits repeats its report after the same
    /// time. Not zero.
    #[setting(format = Positive, required, example = "1 s")]
    pub timeout: Duration,
    /// Are packets delivered in order, or as soon as they are complete?
    #[setting(default = Order::Free)]
    pub order: Order,
    /// The largest block, in bytes: packets are split into blocks. Without it a packet is a block.
    #[setting(format = Size<1, 65_535>, example = "40 B")]
    pub fragment: Option<u32>,
    /// The header of a block.
    #[setting(format = Size<0, 65_535>, example = "7 B")]
    pub header: u32,
    /// The size of a report about the blocks that arrived. A report of 0 B takes no time.
    #[setting(format = Size<0, 65_535>, example = "8 B")]
    pub report: u32,
    /// When the receiver detects that a block is missing.
    pub notices: BlockLossDetection,
}

/// When the receiver detects that a block is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum BlockLossDetection {
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
    /// The period after which the rate and its changes repeat; `None`: the last rate stays. Above
    /// the time of the last change.
    pub rate_period: Option<Duration>,
    /// Opportunities to send, instead of a rate.
    pub opportunities: Option<Arc<Opportunities>>,
    /// Opportunities of the first frames after an idle time; only beside `opportunities`, which
    /// then count once these are used up.
    pub light: Option<Arc<LightOpportunities>>,
    /// Changing propagation delays, instead of `delay`.
    pub delays: Option<Arc<DelayTrace>>,
    /// A random additional delay of each frame.
    pub jitter: Option<Distribution>,
    /// The time after which the correlation of jitter has fallen to 1/e; `None`: it is independent.
    pub jitter_correlation: Option<Duration>,
    /// Do frames keep their order although their delays differ?
    pub order: Order,
    /// The queue discipline, in addition to the limit.
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
    pub stage: Option<NamedStage>,
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
