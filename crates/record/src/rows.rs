//! One struct a table; one value of it a row. Every row says which run it belongs to.

use std::sync::Arc;

use rtolab_link::{Direction, DropCause, Stats};
use rtolab_tcp::Segment;
use rtolab_tcp::spurious::DetectorId;
use rtolab_time::{Duration, Instant};

use crate::judged::{Comparison, DuplicateRow, Truths, VerdictRow, WhatIfRow};
use crate::kinds::{Place, TimeoutKind, Truth};

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

/// Of a packet so many bytes are kept: the headers of IP and TCP with all options.
pub const HEAD: usize = 120;

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
    /// How the packets of real hosts began, from their IP headers on, by the numbers of their copies;
    /// none of a simulated run.
    pub heads: Vec<[u8; HEAD]>,
    /// One row a change of a sender's windows, if asked for.
    pub windows: Vec<WindowRow>,
    /// One row a link direction.
    pub links: Vec<LinkRow>,
    /// One row a stall, outage or spike, of a traced run.
    pub disturbances: Vec<DisturbanceRow>,
    /// One row a page, or a question with its answer.
    pub tasks: Vec<TaskRow>,
    /// One row a retransmission that was judged and judge.
    pub verdicts: Vec<VerdictRow>,
    /// One row a duplicate acknowledgment, of a run that was judged.
    pub duplicates: Vec<DuplicateRow>,
    /// One row a timeout and sender that went on from there.
    pub what_ifs: Vec<WhatIfRow>,
}

/// `connections`: one row a TCP connection or flow of datagrams; of a flow that is split, one a leg.
/// Unless it says otherwise a count is of the sender's data.
#[derive(Clone, Debug, Default)]
pub struct ConnectionRow {
    /// The flow's name, with `/1`, `/2` and so on for the legs of one that is split.
    pub flow: Arc<str>,
    /// The sender specification of this flow; `udp` for datagrams.
    pub flow_sender: Arc<str>,
    /// The connection set that it belongs to.
    pub set: Option<Arc<str>>,
    /// When the first SYN, or datagram, was sent.
    pub start: Instant,
    /// When the ACK of the FIN arrived at the sender; `None` if the run ended before.
    pub end: Option<Instant>,
    /// Payload bytes that the receiver's application got.
    pub bytes: u64,
    /// Data segments (with payload) sent, retransmissions included.
    pub segments: u64,
    /// Their TCP or UDP headers, in bytes.
    pub header_bytes: u64,
    /// Data segments acknowledged cumulatively.
    pub acked_segments: u64,
    /// Segments retransmitted, SYN and FIN included.
    pub retransmissions: u64,
    /// Of these: an earlier copy had delivered every byte, or was still to deliver it.
    pub unneeded: u64,
    /// What became of packets of both directions that did not arrive.
    pub lost: Losses,
    /// Packets of both directions that something on the way took out.
    pub absorbed: u64,
    /// Packets of both directions that something on the way made.
    pub local: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Fast retransmits: entries into loss recovery.
    pub fast_retransmits: u64,
    /// What its timeouts and its fast retransmits were, of a run that was judged.
    pub truths: Option<[Truths; 2]>,
    /// Timeouts that a detector of the sender found spurious.
    pub found_spurious: u64,
    /// Packets without payload that the receiver sent.
    pub acks: u64,
    /// Duplicate acknowledgments that reached the sender.
    pub dupacks: u64,
    /// How long data packets took that reached the receiver.
    pub delay: Delays,
    /// The part of it all that is measured.
    pub measured: Measured,
}

/// Packets that did not arrive, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Dropped by a full queue.
    pub queue: u64,
    /// Lost to transmission errors or by script.
    pub error: u64,
    /// Lost in outages.
    pub outage: u64,
    /// Dropped by a queue's discipline.
    pub early: u64,
    /// Older than a link keeps packets.
    pub lifetime: u64,
    /// Given up by a link's local retransmission.
    pub retries: u64,
    /// Found damaged at their destination.
    pub corrupt: u64,
}

impl Losses {
    /// Of any cause.
    pub const fn total(&self) -> u64 {
        let Self { queue, error, outage, early, lifetime, retries, corrupt } = *self;
        queue + error + outage + early + lifetime + retries + corrupt
    }

    /// A link lost one.
    pub fn count(&mut self, cause: DropCause) {
        *match cause {
            DropCause::Queue => &mut self.queue,
            DropCause::Error | DropCause::Script => &mut self.error,
            DropCause::Outage => &mut self.outage,
            DropCause::Early => &mut self.early,
            DropCause::Lifetime => &mut self.lifetime,
            DropCause::Retries => &mut self.retries,
        } += 1;
    }
}

/// One-way delays of data packets, from leaving the sender to arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    /// Of how many packets.
    pub packets: u64,
    /// All together.
    pub total: Duration,
    /// The longest.
    pub max: Duration,
}

impl Delays {
    /// A packet took so long.
    pub fn count(&mut self, delay: Duration) {
        self.packets += 1;
        self.total += delay;
        self.max = self.max.max(delay);
    }

    /// In seconds; `None` if there was no packet.
    pub fn mean_s(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.total.secs_f64() / self.packets as f64)
    }
}

/// What of a connection lies within the part of the run that is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// How long that part is.
    pub span: Duration,
    /// As in [`ConnectionRow`].
    pub bytes: u64,
    /// As in [`ConnectionRow`].
    pub acked_segments: u64,
    /// As in [`ConnectionRow`].
    pub segments: u64,
    /// As in [`ConnectionRow`].
    pub retransmissions: u64,
    /// As in [`ConnectionRow`].
    pub timeouts: u64,
    /// As in [`ConnectionRow`].
    pub fast_retransmits: u64,
    /// As in [`ConnectionRow`]; `max` is not told.
    pub delay: Delays,
}

impl Measured {
    /// What was counted between `before` and this, a span of so long.
    #[must_use]
    pub fn since(&self, before: &Self, span: Duration) -> Self {
        Self {
            span,
            bytes: self.bytes - before.bytes,
            acked_segments: self.acked_segments - before.acked_segments,
            segments: self.segments - before.segments,
            retransmissions: self.retransmissions - before.retransmissions,
            timeouts: self.timeouts - before.timeouts,
            fast_retransmits: self.fast_retransmits - before.fast_retransmits,
            delay: Delays {
                packets: self.delay.packets - before.delay.packets,
                total: self.delay.total.saturating_sub(before.delay.total),
                max: Duration::ZERO,
            },
        }
    }
}

/// `tasks`: one row a page, or a question with its answer.
#[derive(Clone, Debug)]
pub struct TaskRow {
    /// The name of the flow as the scenario has it.
    pub flow: Arc<str>,
    /// Counts the flow's tasks from 1.
    pub number: u32,
    /// When it was to begin.
    pub due: Instant,
    /// When it was written: later where the one before was still under way.
    pub start: Instant,
    /// When its last byte reached the other application; `None` if the run ended before.
    pub end: Option<Instant>,
    /// The payload of the page, or of question and answer together.
    pub bytes: u64,
}

/// `timeouts`: one row a timeout or fast retransmit.
#[derive(Clone, Debug)]
pub struct TimeoutRow {
    /// The flow's name.
    pub flow: Arc<str>,
    /// Which end retransmits.
    pub end: Place,
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
    /// What a spurious one cost: the run beside a copy of it without this timeout or fast
    /// retransmit, if somebody asked and the transfer has an end.
    pub cost: Option<Comparison>,
    /// What the sender's detector said (`spurious`, `genuine`, `blind`), if it has one and it did.
    pub verdict: Option<&'static str>,
    /// Which detector said so.
    pub detector: Option<DetectorId>,
    /// When it did.
    pub verdict_at: Option<Instant>,
}

/// Whether a packet was sent or received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketEvent {
    /// The packet left the host.
    Sent,
    /// The packet arrived at the host.
    Received,
}

impl PacketEvent {
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
    Dropped(DropCause),
    /// It did, but damaged: its destination discarded it.
    Corrupt,
    /// Something on the way took it out.
    Absorbed,
}

impl Fate {
    /// As the tables say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Underway => "underway",
            Self::Delivered => "delivered",
            Self::Dropped(DropCause::Queue) => "queue",
            Self::Dropped(DropCause::Error) => "error",
            Self::Dropped(DropCause::Outage) => "outage",
            Self::Dropped(DropCause::Script) => "script",
            Self::Dropped(DropCause::Early) => "early",
            Self::Dropped(DropCause::Lifetime) => "lifetime",
            Self::Dropped(DropCause::Retries) => "retries",
            Self::Corrupt => "corrupt",
            Self::Absorbed => "absorbed",
        }
    }
}

/// `segments`: one row a packet event, in a traced run.
#[derive(Clone, Debug)]
pub struct SegmentRow {
    /// The connection's index: it counts the flows of the scenario, or their legs.
    pub flow: u32,
    /// The flow's name.
    pub flow_name: Arc<str>,
    /// When.
    pub at: Instant,
    /// Where.
    pub place: Place,
    /// Sent or received there.
    pub event: PacketEvent,
    /// Which copy: the same number where it is sent and where it is received.
    pub copy: u64,
    /// The segment; without flags: a datagram.
    pub segment: Segment,
    /// Its size with IP and TCP or UDP headers, in bytes.
    pub bytes: u32,
    /// Was (part of) it sent before?
    pub retransmission: bool,
    /// For a retransmission: did, or will, an earlier copy deliver every byte of it?
    pub unneeded: bool,
    /// What became of this copy.
    pub fate: Fate,
    /// When it arrived or was lost; equal to `at` on arrival, unless it is the second arrival of a
    /// copy that a link has doubled.
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
    /// What happened to its frames.
    pub stats: Stats,
    /// Bytes transmitted within the part of the run that is measured.
    pub measured_transmitted_bytes: u64,
    /// Bytes that came out within it.
    pub measured_delivered_bytes: u64,
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
