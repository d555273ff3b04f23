//! The rows of each table, one struct per table.

use std::sync::Arc;

use rtolab_link::{Direction, DropCause, Stats};
use rtolab_tcp::Segment;
use rtolab_tcp::spurious::DetectorId;
use rtolab_time::{Duration, Instant};

use crate::disturbances::{DisturbanceRow, OutageRow, direction_name};
use crate::kinds::{Place, TimeoutKind, Truth};
use crate::scores::{Comparison, DuplicateRow, Truths, VerdictRow, WhatIfRow};

/// One run: a scenario with one sender and one seed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The number of the run within one call, from 0.
    pub run: u32,
    /// The seed.
    pub seed: u64,
    /// The sender specification that was requested, or that of the first flow if none was. Flows
    /// with a sender of their own do not use it; see [`ConnectionRow::flow_sender`].
    pub sender: Arc<str>,
}

/// The number of bytes kept per packet: the IP and TCP headers with all options.
pub const HEAD: usize = 120;

/// The records of one run. Tables that were not requested are empty.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The run.
    pub run: Run,
    /// One row per connection.
    pub connections: Vec<ConnectionRow>,
    /// One row per timeout or fast retransmit.
    pub timeouts: Vec<TimeoutRow>,
    /// One row per packet event, if the run is traced.
    pub segments: Vec<SegmentRow>,
    /// The names of the flows of `segments`, by [`SegmentRow::flow`].
    pub flows: Vec<Arc<str>>,
    /// The first bytes of each packet of real hosts, from the IP header on, by the number of the
    /// copy; empty for simulated runs.
    pub heads: Vec<[u8; HEAD]>,
    /// One row per change of a sender's windows, if requested.
    pub windows: Vec<WindowRow>,
    /// One row per link direction.
    pub links: Vec<LinkRow>,
    /// One row per stall, outage or spike, if the run is traced.
    pub disturbances: Vec<DisturbanceRow>,
    /// One row per connection and outage.
    pub outages: Vec<OutageRow>,
    /// One row per page, or request with its response.
    pub tasks: Vec<TaskRow>,
    /// One row per scored retransmission and detector.
    pub verdicts: Vec<VerdictRow>,
    /// One row per duplicate ACK, if the run is scored.
    pub duplicates: Vec<DuplicateRow>,
    /// One row per timeout and alternative sender.
    pub what_ifs: Vec<WhatIfRow>,
}

impl Recording {
    /// The name of the flow of a row of `segments`; empty if it is unknown.
    pub fn flow_name(&self, row: &SegmentRow) -> &str {
        self.flows.get(row.flow as usize).map_or("", |name| name)
    }
}

/// `connections`: one row per TCP connection, leg of a split connection or flow of datagrams.
/// Counts are those of the sender's data unless stated otherwise.
#[derive(Clone, Debug, Default)]
pub struct ConnectionRow {
    /// The flow's name, with `/1`, `/2` and so on for the legs of a split flow.
    pub flow: Arc<str>,
    /// The sender specification of this flow, or `udp` or `sctp`.
    pub flow_sender: Arc<str>,
    /// The connection set to which it belongs.
    pub set: Option<Arc<str>>,
    /// When the first SYN or datagram was sent.
    pub start: Instant,
    /// When the ACK of the FIN arrived at the sender; `None` if the run ended before.
    pub end: Option<Instant>,
    /// Payload bytes that the receiver's application read.
    pub bytes: u64,
    /// Data segments (with payload) sent, retransmissions included.
    pub segments: u64,
    /// The TCP or UDP headers of these segments, in bytes.
    pub header_bytes: u64,
    /// Data segments acknowledged cumulatively.
    pub acked_segments: u64,
    /// Segments retransmitted, SYN and FIN included.
    pub retransmissions: u64,
    /// Unneeded retransmissions: an earlier copy delivered all of their bytes, at any time.
    pub unneeded: u64,
    /// Packets of both directions that did not arrive.
    pub lost: Losses,
    /// Packets of both directions that a middlebox absorbed.
    pub absorbed: u64,
    /// Packets of both directions that a middlebox generated.
    pub local: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Fast retransmits: entries into loss recovery.
    pub fast_retransmits: u64,
    /// The ground truth of its timeouts and of its fast retransmits, if the run is scored.
    pub truths: Option<[Truths; 2]>,
    /// Timeouts that a detector of the sender found spurious.
    pub found_spurious: u64,
    /// Packets without payload that the receiver sent.
    pub acks: u64,
    /// Duplicate acknowledgments that reached the sender.
    pub dupacks: u64,
    /// One-way delays of the data packets that reached the receiver.
    pub delay: Delays,
    /// The counts within the measurement interval.
    pub measured: Measured,
}

impl ConnectionRow {
    /// The time from the first SYN to the ACK of the FIN; `None` if the run ended before.
    pub fn elapsed(&self) -> Option<Duration> {
        Some(self.end?.since(self.start))
    }

    /// The payload over the elapsed time, in bit/s; `None` if the run ended before.
    pub fn goodput_bps(&self) -> Option<f64> {
        let elapsed = self.elapsed().filter(|elapsed| !elapsed.is_zero())?;
        Some(self.bytes as f64 * 8.0 / elapsed.secs_f64())
    }
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
    /// Dropped early, by active queue management.
    pub early: u64,
    /// Dropped because of their age.
    pub lifetime: u64,
    /// Abandoned by a link's ARQ.
    pub retries: u64,
    /// Found damaged at their destination.
    pub corrupt: u64,
}

impl Losses {
    /// The sum over all causes.
    pub const fn total(&self) -> u64 {
        let Self { queue, error, outage, early, lifetime, retries, corrupt } = *self;
        queue + error + outage + early + lifetime + retries + corrupt
    }

    /// Counts a packet that a link lost.
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

/// The one-way delays of data packets, from departure at the sender to arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    /// The number of packets.
    pub packets: u64,
    /// The sum of their delays.
    pub total: Duration,
    /// The longest delay.
    pub max: Duration,
}

impl Delays {
    /// Counts a packet with this delay.
    #[inline]
    pub fn count(&mut self, delay: Duration) {
        self.packets += 1;
        self.total += delay;
        self.max = self.max.max(delay);
    }

    /// The mean delay in seconds; `None` without packets.
    pub fn mean_s(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.total.secs_f64() / self.packets as f64)
    }
}

/// The counts of a connection within the measurement interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// The length of the interval.
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
    /// As in [`ConnectionRow`], without `max`.
    pub delay: Delays,
}

impl Measured {
    /// The counts between `before` and these, which are `span` apart.
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

/// `tasks`: one row per page, or request with its response.
#[derive(Clone, Debug)]
pub struct TaskRow {
    /// The flow's name in the scenario.
    pub flow: Arc<str>,
    /// The number of the task within its flow, from 1.
    pub number: u32,
    /// When it was due.
    pub due: Instant,
    /// When it was written; later than due if the previous task was still in progress.
    pub start: Instant,
    /// When its last byte was read; `None` if the run ended before.
    pub end: Option<Instant>,
    /// The payload of the page, or of request and response together.
    pub bytes: u64,
}

/// `timeouts`: one row per timeout, fast retransmit or tail loss probe.
#[derive(Clone, Debug)]
pub struct TimeoutRow {
    /// The flow's name.
    pub flow: Arc<str>,
    /// The end that retransmits.
    pub end: Place,
    /// When it retransmits.
    pub at: Instant,
    /// Timeout, fast retransmit or tail loss probe.
    pub kind: TimeoutKind,
    /// The relative sequence number of the segment retransmitted (SYN is 0).
    pub seq: i64,
    /// The RTO that expired; for a fast retransmit the current RTO.
    pub rto: Duration,
    /// The number of back-offs since the last round-trip sample, or since another event that ends
    /// the back-off.
    pub backoff: u32,
    /// The congestion window before, in bytes.
    pub cwnd: u64,
    /// Was the retransmission needed? It was not if an earlier copy delivered all of its bytes.
    pub needed: bool,
    /// The ground truth, if the run is scored.
    pub truth: Option<Truth>,
    /// The cost of a spurious timeout or fast retransmit: the comparison of the run with a fork
    /// without it, if requested and the transfer has an end.
    pub cost: Option<Comparison>,
    /// The verdict of the sender's detector (`spurious`, `genuine`, `blind`), if there is one.
    pub verdict: Option<&'static str>,
    /// The detector.
    pub detector: Option<DetectorId>,
    /// When it reached the verdict.
    pub verdict_at: Option<Instant>,
}

/// The event of a packet at a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketEvent {
    /// The packet left the host.
    Sent,
    /// The packet arrived at the host.
    Received,
}

impl PacketEvent {
    /// Its name in the tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Received => "received",
        }
    }
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was in flight when the run ended.
    Underway,
    /// It arrived.
    Delivered,
    /// A link dropped it.
    Dropped(DropCause),
    /// It arrived damaged, and its destination discarded it.
    Corrupt,
    /// A middlebox absorbed it.
    Absorbed,
}

impl Fate {
    /// Its name in the tables.
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

/// `segments`: one row per packet event, if the run is traced.
#[derive(Clone, Debug)]
pub struct SegmentRow {
    /// The connection's index among the flows of the scenario, or their legs.
    pub flow: u32,
    /// When it happened.
    pub at: Instant,
    /// The host.
    pub place: Place,
    /// Sent or received.
    pub event: PacketEvent,
    /// The number of the copy, which is the same at both hosts.
    pub copy: u64,
    /// The segment; a datagram if it has no flags.
    pub segment: Segment,
    /// Its size with IP and TCP or UDP headers, in bytes.
    pub bytes: u32,
    /// Was at least a part of it sent before?
    pub retransmission: bool,
    /// Is it an unneeded retransmission? An earlier copy of it delivered all of its bytes, at any
    /// time.
    pub unneeded: bool,
    /// The fate of this copy.
    pub fate: Fate,
    /// When it arrived or was lost. Equal to `at` on arrival, except for the second arrival of a
    /// copy that a link duplicated.
    pub fate_at: Option<Instant>,
    /// The time for which spikes and stalls held it on all links, directly or after other packets.
    pub held: Duration,
}

// The copy of a larger row would call memmove.
const _: () = assert!(size_of::<SegmentRow>() <= 128);

/// `windows`: one row per change of a sender's windows, if requested.
#[derive(Clone, Debug)]
pub struct WindowRow {
    /// The flow's name.
    pub flow: Arc<str>,
    /// When it changed.
    pub at: Instant,
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow-start threshold in bytes; `None` while it is infinite.
    pub ssthresh: Option<u64>,
    /// SND.MAX - SND.UNA in bytes.
    pub flight: u64,
    /// Smoothed round-trip time, after the first sample.
    pub srtt: Option<Duration>,
    /// RTTVAR.
    pub rttvar: Option<Duration>,
    /// The current RTO, with backoff.
    pub rto: Duration,
}

/// `links`: one row per link direction.
#[derive(Clone, Debug)]
pub struct LinkRow {
    /// The link's name.
    pub link: Arc<str>,
    /// The direction.
    pub direction: Direction,
    /// The statistics of its frames.
    pub stats: Stats,
    /// Bytes transmitted within the measurement interval.
    pub measured_transmitted_bytes: u64,
    /// Bytes delivered within the measurement interval.
    pub measured_delivered_bytes: u64,
}

impl LinkRow {
    /// The name of the direction in the tables.
    pub const fn direction_name(&self) -> &'static str {
        direction_name(self.direction)
    }
}
