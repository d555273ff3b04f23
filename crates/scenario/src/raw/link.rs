//! Links and their directions, as written.

use rtolab_link::{
    Arq, BadState, CoDel, Distribution, HeaderCompression, Limit, Order, Outages, Priority,
    Probability, RateChange, Spikes, Stalls, States,
};
use rtolab_settings::{Positive, PositiveCount, Settings};
use rtolab_time::{Duration, Rate};

use super::delays::DelayTrace;
use super::queue::Red;
use crate::formats::Name;

/// A link between two nodes.
#[derive(Debug, Settings)]
pub(crate) struct Link {
    /// Its name in tables and in --set.
    #[setting(format = Name, required, example = "wireless")]
    pub name: String,
    /// The nodes that it connects. Forward is the direction from the first to the second.
    #[setting(
        values,
        format = Name,
        required,
        min_items = 2,
        max_items = 2,
        example = "[\"router\", \"mobile\"]"
    )]
    pub between: [String; 2],
    #[setting(flatten)]
    pub channel: Channel,
}

/// The keys of both directions of a link, those of each, and those that they share.
#[derive(Debug, Settings)]
pub(crate) struct Channel {
    /// Times at which every frame of both directions is lost.
    #[setting(table)]
    pub outages: Outages,
    /// Two states that alternate, good and bad. `bad` of the link has the keys that differ in the
    /// bad one.
    #[setting(table)]
    pub states: Option<States>,
    /// Local retransmission (ARQ), in both directions, of frames that transmission errors and
    /// outages destroy; at most twice: the first is nearer to the hosts.
    #[setting(list, max_items = 2)]
    pub arq: Vec<Arq>,
    /// The keys that differ in the direction from the first node to the second; of an access link,
    /// from the sender.
    #[setting(table)]
    pub forward: OneWay,
    /// The keys that differ in the other direction.
    #[setting(table)]
    pub backward: OneWay,
    #[setting(flatten)]
    pub both: Direction,
}

/// The keys that differ in one direction. They replace the link's.
#[derive(Debug, Settings)]
pub(crate) struct OneWay {
    /// Times at which every frame of this direction is lost, in addition to the link's outages.
    #[setting(table)]
    pub outages: Outages,
    #[setting(flatten)]
    pub keys: Direction,
}

/// The keys of a direction.
#[derive(Debug, Settings)]
pub(crate) struct Direction {
    /// The rate. Without it serialisation takes no time.
    #[setting(example = "28.8 kbit/s", conflicts_with(rate_trace))]
    pub rate: Option<Rate>,
    /// Changes of the rate.
    #[setting(
        list,
        example = "[{ at = \"5 s\", rate = \"9.6 kbit/s\" }]",
        conflicts_with(rate_trace)
    )]
    pub rate_changes: Option<Vec<RateChange>>,
    /// A file instead of a rate, which starts again after its end: a trace of mahimahi, with a line
    /// for each packet of 1500 bytes that the link can send, the time in milliseconds; or rates
    /// over time, lines such as `0.5 20 Mbit/s` of seconds and the rate from then on. The path is
    /// relative to this file.
    #[setting(example = "traces/cellular.up", conflicts_with(rate, rate_changes))]
    pub rate_trace: Option<String>,
    /// A file of opportunities for the first packets after an idle time, before those of
    /// `rate_trace`, as CellReplay measures them: lines such as `500 0 0 2 5`, the time from which
    /// the line holds and when each opportunity comes after the first packet, in milliseconds.
    #[setting(example = "traces/cellular.light", conflicts_with(rate, rate_changes, priority))]
    pub light_trace: Option<String>,
    /// The propagation delay.
    #[setting(example = "200 ms", unset = "0 s", conflicts_with(delay_trace))]
    pub delay: Option<Duration>,
    /// Propagation delays over time, from a file, instead of a constant one.
    #[setting(table, conflicts_with(delay))]
    pub delay_trace: Option<DelayTrace>,
    /// A random delay that is added to the propagation delay of each frame.
    #[setting(table, example = "{ exponential = \"3.5 s\" }")]
    pub jitter: Option<Distribution>,
    /// The correlation time of jitter: frames at this distance have a correlation of 1/e (of their
    /// normal scores). It needs jitter, whose distribution it keeps.
    #[setting(format = Positive, example = "200 ms", unset = "each frame's is independent")]
    pub jitter_correlation: Option<Duration>,
    /// Do frames keep their order if their delays differ?
    #[setting(unset = "kept")]
    pub order: Option<Order>,
    /// The limit of the queue before the link's own buffers.
    #[setting(example = "7 packets", unset = "unlimited")]
    pub queue: Option<Limit>,
    /// Random early detection. It needs a limited queue.
    #[setting(table, conflicts_with(codel))]
    pub red: Option<Red>,
    /// Controlled delay in the queue (RFC 8289).
    #[setting(table, conflicts_with(red))]
    pub codel: Option<CoDel>,
    /// A source of higher priority, such as voice, that interrupts transmissions: it is silent in
    /// good spans and talks in bad ones.
    #[setting(table)]
    pub priority: Option<Priority>,
    /// The age at which a frame is dropped instead of transmitted.
    #[setting(format = Positive, example = "3 s", unset = "frames do not age")]
    pub lifetime: Option<Duration>,
    /// The limit of the link's send buffer, which a frame leaves when it is delivered.
    #[setting(example = "1776 B", unset = "unlimited")]
    pub send_buffer: Option<Limit>,
    /// The limit at the receiving end for frames that wait for an earlier one.
    #[setting(example = "1776 B", unset = "unlimited")]
    pub receive_buffer: Option<Limit>,
    /// The probability that a frame is lost at the end of its transmission.
    #[setting(unset = "0")]
    pub loss: Option<Probability>,
    /// The probability that a frame has the fate of the previous frame, so that losses come in
    /// bursts.
    #[setting(unset = "0")]
    pub loss_memory: Option<Probability>,
    /// The frames that are lost, by number. Transmitted frames count from 1.
    #[setting(values, format = PositiveCount, example = "[23, 31]")]
    pub drops: Option<Vec<u32>>,
    /// The keys that differ in the bad one of two states; all others are as in the good one.
    #[setting(table)]
    pub bad: Option<BadState>,
    /// The probability that a delivered frame arrives twice.
    #[setting(unset = "0")]
    pub duplication: Option<Probability>,
    /// The probability that a delivered frame arrives damaged, which its checksum shows.
    #[setting(unset = "0")]
    pub corruption: Option<Probability>,
    /// Delay spikes: sudden delays of single frames.
    #[setting(table)]
    pub spikes: Option<Spikes>,
    /// Times at which frames are held. They continue in order afterwards.
    #[setting(table)]
    pub stalls: Option<Stalls>,
    /// How TCP/IP headers are compressed; not beside arq or codel.
    #[setting(example = "rfc1144", unset = "none")]
    pub header_compression: Option<HeaderCompression>,
    /// A stage written in Python, by its name.
    #[setting(format = Name, example = "every-tenth", unset = "\"none\"")]
    pub stage: Option<String>,
}
