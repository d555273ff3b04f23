//! One struct a table; one value of it a row. Every row says which run it belongs to.

use std::sync::Arc;

use rtolab_link::{Cause, Direction};
use rtolab_tcp::Segment;
use rtolab_time::{Duration, Instant};

/// One run: a scenario with one sender and one seed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Counts the runs of one call from 0.
    pub run: u32,
    /// The seed.
    pub seed: u64,
    /// The sender as it was named; where flows have senders of their own, that of the first.
    pub sender: Arc<str>,
}

/// Everything that one run left; tables it was not asked for are empty.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Which run this is.
    pub run: Run,
    /// One row a connection.
    pub connections: Vec<ConnectionRow>,
    /// One row a timeout or fast retransmit.
    pub timeouts: Vec<TimeoutRow>,
    /// One row a packet event, of a traced run.
    pub segments: Vec<SegmentRow>,
    /// One row a change of a sender's windows, if asked for.
    pub windows: Vec<WindowRow>,
    /// One row a link direction.
    pub links: Vec<LinkRow>,
    /// One row a stall, outage or spike, of a traced run.
    pub disturbances: Vec<DisturbanceRow>,
}

/// `connections`: one row a connection.
#[derive(Clone, Debug, Default)]
pub struct ConnectionRow {
    /// The flow's name.
    pub flow: Arc<str>,
    /// The sender of this flow, as a sum of policies.
    pub flow_sender: Arc<str>,
    /// When the first SYN was sent.
    pub start: Instant,
    /// When the ACK of the FIN arrived at the sender; `None` if the run ended before.
    pub end: Option<Instant>,
    /// Payload bytes that the receiver's application got.
    pub bytes: u64,
    /// Data segments (with payload) sent, retransmissions included.
    pub segments: u64,
    /// Segments retransmitted, SYN and FIN included.
    pub retransmissions: u64,
    /// Of these: an earlier copy had delivered every byte, or was still to deliver it.
    pub unneeded: u64,
    /// Packets of this connection dropped by a full queue, both directions.
    pub lost_queue: u64,
    /// Packets lost to transmission errors or by script, both directions.
    pub lost_error: u64,
    /// Packets lost in outages, both directions.
    pub lost_outage: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Fast retransmits: entries into loss recovery.
    pub fast_retransmits: u64,
    /// Timeouts that a detector of the sender found spurious.
    pub found_spurious: u64,
    /// Acknowledgments sent by the receiver.
    pub acks: u64,
}

/// What made a sender retransmit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutKind {
    /// The retransmission timer expired.
    Timeout,
    /// Loss recovery began.
    FastRetransmit,
}

impl TimeoutKind {
    /// As the tables say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::FastRetransmit => "fast_retransmit",
        }
    }
}

/// Was a retransmission right? Known from a copy of the run that goes on without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// An acknowledgment that covers the segment arrives in the copy, too: it was only late.
    Spurious,
    /// None does, though an earlier copy of the segment reached the receiver.
    AckLost,
    /// None does, and no earlier copy reached the receiver.
    Genuine,
}

impl Truth {
    /// As the tables say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spurious => "spurious",
            Self::AckLost => "ack-lost",
            Self::Genuine => "genuine",
        }
    }
}

/// `timeouts`: one row a timeout or fast retransmit.
#[derive(Clone, Debug)]
pub struct TimeoutRow {
    /// The flow's name.
    pub flow: Arc<str>,
    /// When.
    pub at: Instant,
    /// Which of the two.
    pub kind: TimeoutKind,
    /// The relative sequence number of the segment retransmitted (SYN is 0).
    pub seq: i64,
    /// The timeout that expired; for a fast retransmit the one then in force.
    pub rto: Duration,
    /// How often the timer had been backed off before: 0 for the first timeout of a segment.
    pub backoff: u32,
    /// Congestion window before, in bytes.
    pub cwnd: u64,
    /// Was the retransmission needed? `false`: an earlier copy delivered every byte of it.
    pub needed: bool,
    /// What would have happened without that retransmission, if somebody asked.
    pub truth: Option<Truth>,
    /// What the sender's detector said (`spurious`, `genuine`, `blind`), if it has one and it did.
    pub verdict: Option<&'static str>,
    /// Which detector said so.
    pub detector: Option<&'static str>,
    /// When it did.
    pub verdict_at: Option<Instant>,
}

/// Where a packet was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the host that sends the data.
    Sender,
    /// At the host that receives the data.
    Receiver,
}

impl Place {
    /// As the tables say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        }
    }
}

/// What was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The packet left the host.
    Sent,
    /// The packet arrived at the host.
    Received,
}

impl Event {
    /// As the tables say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Received => "received",
        }
    }
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was still under way when the run ended.
    Underway,
    /// It arrived.
    Delivered,
    /// It did not.
    Dropped(Cause),
}

impl Fate {
    /// As the tables say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Underway => "underway",
            Self::Delivered => "delivered",
            Self::Dropped(Cause::Queue) => "queue",
            Self::Dropped(Cause::Error) => "error",
            Self::Dropped(Cause::Outage) => "outage",
            Self::Dropped(Cause::Script) => "script",
            Self::Dropped(Cause::Early) => "early",
            Self::Dropped(Cause::Lifetime) => "lifetime",
            Self::Dropped(Cause::Retries) => "retries",
        }
    }
}

/// `segments`: one row a packet event, in a traced run.
#[derive(Clone, Debug)]
pub struct SegmentRow {
    /// The flow's index in the scenario.
    pub flow: u32,
    /// The flow's name.
    pub flow_name: Arc<str>,
    /// When.
    pub at: Instant,
    /// Where.
    pub place: Place,
    /// Sent or received there.
    pub event: Event,
    /// Which copy: the same number where it is sent and where it is received.
    pub copy: u64,
    /// The segment.
    pub segment: Segment,
    /// Its size with IP and TCP headers, in bytes.
    pub bytes: u32,
    /// Was (part of) it sent before?
    pub retransmission: bool,
    /// For a retransmission: did, or will, an earlier copy deliver every byte of it?
    pub unneeded: bool,
    /// What became of this copy.
    pub fate: Fate,
    /// When it arrived or was lost; equal to `at` on arrival.
    pub fate_at: Option<Instant>,
    /// How long spikes, stalls and what they blocked held it, over all links.
    pub held: Duration,
}

/// `windows`: one row a change of a sender's windows, if asked for.
#[derive(Clone, Debug)]
pub struct WindowRow {
    /// The flow's name.
    pub flow: Arc<str>,
    /// When.
    pub at: Instant,
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow-start threshold in bytes; `None` while it is as high as possible.
    pub ssthresh: Option<u64>,
    /// SND.MAX - SND.UNA in bytes.
    pub flight: u64,
    /// Smoothed round-trip time, once there was a sample.
    pub srtt: Option<Duration>,
    /// Its variation.
    pub rttvar: Option<Duration>,
    /// The timeout in force, back-off included.
    pub rto: Duration,
}

/// `links`: one row a link direction.
#[derive(Clone, Debug)]
pub struct LinkRow {
    /// The link's name.
    pub link: Arc<str>,
    /// Which direction.
    pub direction: Direction,
    /// Frames offered.
    pub offered: u64,
    /// Frames that came out.
    pub delivered: u64,
    /// Bytes that came out.
    pub delivered_bytes: u64,
    /// Frames dropped by the full queue.
    pub dropped_queue: u64,
    /// Frames lost to errors or by script.
    pub dropped_error: u64,
    /// Frames lost in outages.
    pub dropped_outage: u64,
    /// The sum over delivered frames of the time from entry to exit.
    pub total_delay: Duration,
    /// The longest of these times.
    pub max_delay: Duration,
    /// The most frames that waited in the queue.
    pub max_queue: u32,
}

/// What disturbed a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// Frames were held and released in order.
    Stall,
    /// Frames of both directions were lost.
    Outage,
    /// One frame was delayed.
    Spike,
}

impl Disturbance {
    /// As the tables say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stall => "stall",
            Self::Outage => "outage",
            Self::Spike => "spike",
        }
    }
}

/// `disturbances`: one row a stall, outage or spike, in a traced run.
#[derive(Clone, Debug)]
pub struct DisturbanceRow {
    /// The link's name.
    pub link: Arc<str>,
    /// Which direction; `None` for both.
    pub direction: Option<Direction>,
    /// What.
    pub kind: Disturbance,
    /// When it began.
    pub from: Instant,
    /// When it ended.
    pub to: Instant,
}
