//! One end of a flow: its connection and its counters.

use std::mem::offset_of;
use std::ops::Range;
use std::sync::Arc;

use rtolab_net::{Copies, Packet};
use rtolab_record::{Place, TimeoutKind};
use rtolab_tcp::receiver::AckDue;
use rtolab_tcp::spurious::{DetectorId, EpisodeKind, Verdict};
use rtolab_tcp::{Config, Connection, Event, Flight, Retransmission, Segment, Seq, State};
use rtolab_time::Instant;

use crate::prefetch::prefetch_row;
use crate::retransmission_log::RetransmissionLog;

/// The reader of the data that arrive at an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consumer {
    /// An application, which reads everything at once.
    Application,
    /// A gateway, which reads as much as the next leg can take.
    Gateway,
}

/// A connection before it processes a stimulus.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    pub connection: Connection,
    pub stimulus: Stimulus,
}

/// An event to which a connection reacts.
#[derive(Clone, Copy, Debug)]
pub enum Stimulus {
    /// A timer expired.
    Timer,
    /// A segment arrived.
    Arrival(Segment),
}

/// The offset of the connection in an [`Endpoint`].
const CONNECTION: usize = offset_of!(Endpoint, connection);

/// One end of a flow during a run. The fields that every packet needs come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Endpoint {
    /// The copies of the segments that it retransmitted.
    pub copies: Copies,
    /// The highest sequence number sent, plus one.
    sent_max: Seq,
    pub count: Count,
    pub consumer: Consumer,
    /// The number of bytes written here.
    written: u64,
    /// When the ACK of its FIN arrived.
    pub close_acknowledged: Option<Instant>,
    /// `None` before the SYN of the peer arrives, and for datagrams.
    pub connection: Option<Connection>,
    /// Its timeouts, fast retransmits and tail loss probes.
    pub timeouts: RetransmissionLog,
}

/// Counters of one end.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Count {
    /// Payload bytes read here.
    pub read: u64,
    /// Packets without payload sent.
    pub acks: u64,
    /// Packets with payload sent.
    pub segments: u64,
    /// The TCP or UDP headers of packets with payload sent, in bytes.
    pub header_bytes: u64,
    pub timeouts: u64,
    pub fast_retransmits: u64,
    pub found_spurious: u64,
}

impl Endpoint {
    pub fn new(connection: Option<Connection>, consumer: Consumer) -> Self {
        Self {
            connection,
            consumer,
            sent_max: Seq::FIRST,
            copies: Copies::default(),
            count: Count::default(),
            timeouts: RetransmissionLog::default(),
            written: 0,
            close_acknowledged: None,
        }
    }

    /// Prefetches the state that a packet arriving at this end needs. `place` is that of the end.
    #[inline(always)]
    pub fn prefetch(&self, place: Place) {
        let of_connection = match place {
            Place::Sender => Connection::BYTES_FOR_ACKS,
            Place::Receiver => Connection::BYTES_FOR_DATA,
        };
        prefetch_row(&self.sent_max, 0..CONNECTION + of_connection.end);
    }

    /// Prefetches the out-of-order queue.
    #[inline(always)]
    pub fn prefetch_out_of_order(&self) {
        let Range { start, end } = Connection::BYTES_FOR_OUT_OF_ORDER;
        prefetch_row(&self.sent_max, CONNECTION + start..CONNECTION + end);
    }

    /// The latest range that arrived out of order.
    pub fn newest_out_of_order(&self) -> Option<&Range<Seq>> {
        self.connection.as_ref()?.receiver().newest_out_of_order()
    }

    /// Writes `bytes`.
    pub fn write(&mut self, bytes: u64) {
        if let Some(connection) = &mut self.connection {
            self.written = self.written.saturating_add(bytes);
            connection.write(bytes);
        }
    }

    /// Closes the sending direction.
    pub fn close(&mut self) {
        if let Some(connection) = &mut self.connection {
            connection.close();
        }
    }

    /// Bytes written and not yet sent.
    pub fn unsent(&self) -> u64 {
        (Seq::FIRST + 1).value().saturating_add(self.written).saturating_sub(self.max().value())
    }

    /// Bytes written and acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.una().since(Seq::FIRST + 1).min(self.written)
    }

    fn max(&self) -> Seq {
        self.flight().map_or(Seq::FIRST + 1, |flight| flight.max().max(Seq::FIRST + 1))
    }

    /// SND.UNA.
    pub fn una(&self) -> Seq {
        self.flight().map_or(Seq::FIRST, Flight::una)
    }

    /// The segments in flight, if this end speaks TCP.
    pub fn flight(&self) -> Option<&Flight> {
        self.connection.as_ref().map(|connection| connection.sender().flight())
    }

    /// Is the handshake complete here?
    pub fn is_open(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| {
            !matches!(connection.state(), State::SynSent | State::SynReceived)
        })
    }

    /// Counts a packet that leaves.
    #[inline]
    pub fn count_sent(&mut self, segment: &Segment, header: u32) {
        if segment.len > 0 {
            self.count.segments += 1;
            self.count.header_bytes += u64::from(header);
        } else {
            self.count.acks += 1;
        }
    }

    /// Counts a segment that leaves. Returns the number of earlier transmissions of its first byte.
    #[inline]
    pub fn note_sent(&mut self, segment: &Segment, peer: &Self) -> u16 {
        self.count_sent(segment, segment.header_bytes());
        if segment.sequence_length() == 0 {
            return 0;
        }
        if segment.seq >= self.sent_max {
            self.sent_max = segment.end();
            return 0;
        }
        self.note_retransmitted(segment, peer)
    }

    /// Counts an ACK or new data that leave.
    #[inline(always)]
    pub fn note_sent_new(&mut self, segment: &Segment) {
        self.count_sent(segment, segment.header_bytes());
        if segment.len > 0 {
            debug_assert!(segment.seq >= self.sent_max, "the segment must be new data");
            self.sent_max = segment.end();
        }
    }

    #[cold]
    fn note_retransmitted(&mut self, segment: &Segment, peer: &Self) -> u16 {
        let order = self.transmissions(segment.seq).saturating_sub(1);
        self.copies.retransmitted(segment.seq, order, peer.holds(segment));
        order
    }

    /// Has this end received all of the peer's segment?
    pub fn holds(&self, segment: &Segment) -> bool {
        let connection = self.connection.as_ref();
        connection.is_some_and(|here| here.receiver().holds(&(segment.seq..segment.end())))
    }

    fn transmissions(&self, seq: Seq) -> u16 {
        let sent = self.flight().and_then(|flight| flight.segment_at(seq));
        sent.map_or(0, |sent| sent.transmissions)
    }

    /// Processes a segment. A SYN opens a connection with `config`.
    #[inline(always)]
    pub fn on_packet(&mut self, packet: &Packet, config: &Arc<Config>, at: Instant) {
        match &mut self.connection {
            Some(connection) => connection.on_segment(&packet.segment, at),
            None => {
                self.connection = Some(Connection::accept(config.clone(), &packet.segment));
            }
        }
        if self.consumer == Consumer::Application {
            self.read(u64::MAX);
        }
    }

    /// Reads up to `limit` bytes. Returns the number of bytes read.
    #[inline]
    pub fn read(&mut self, limit: u64) -> u64 {
        let Some(connection) = &mut self.connection else { return 0 };
        let bytes = connection.receiver().available().min(limit);
        if bytes > 0 {
            connection.read(bytes);
            self.count.read += bytes;
        }
        bytes
    }

    /// Has the peer closed, and is all data read?
    pub fn is_exhausted(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| {
            connection.receiver().has_received_fin() && connection.receiver().available() == 0
        })
    }

    /// Processes the events of the connection. An end closes when its peer does.
    #[inline]
    pub fn note_events(&mut self, at: Instant) {
        if self.connection.as_ref().is_some_and(Connection::has_events) {
            self.note_all(at);
        }
    }

    #[cold]
    fn note_all(&mut self, at: Instant) {
        while let Some(event) = self.connection.as_mut().and_then(Connection::poll_event) {
            self.note(event, at);
        }
    }

    fn note(&mut self, event: Event, at: Instant) {
        match event {
            Event::Timeout(retransmission) => {
                self.count.timeouts += 1;
                self.note_timeout(TimeoutKind::Timeout, retransmission);
            }
            Event::FastRetransmit(retransmission) => {
                self.count.fast_retransmits += 1;
                self.note_timeout(TimeoutKind::FastRetransmit, retransmission);
            }
            Event::Probe(probe) => self.note_timeout(TimeoutKind::Probe, probe),
            Event::Verdict { at, detector, kind, verdict } => {
                self.note_verdict(at, (detector, kind), verdict);
            }
            Event::CloseAcknowledged => self.close_acknowledged = Some(at),
            Event::PeerClosed => self.close(),
            Event::Connected
            | Event::Closed
            | Event::Reset
            | Event::TimedOut
            | Event::DeliveryProblem { .. }
            | Event::Duplicate { .. } => {}
        }
    }

    /// Removes the timeouts, fast retransmits and tail loss probes from this number on.
    pub fn forget_timeouts_from(&mut self, number: usize) {
        let Self { timeouts, count, .. } = self;
        for kind in timeouts.truncate(number) {
            match kind {
                TimeoutKind::Timeout => count.timeouts -= 1,
                TimeoutKind::FastRetransmit => count.fast_retransmits -= 1,
                TimeoutKind::Probe => {}
            }
        }
    }

    fn note_timeout(&mut self, kind: TimeoutKind, retransmission: Retransmission) {
        let earlier_transmissions = self.transmissions(retransmission.seq);
        self.timeouts.push(kind, retransmission, earlier_transmissions);
    }

    fn note_verdict(
        &mut self,
        at: Instant,
        (detector, kind): (DetectorId, EpisodeKind),
        verdict: Verdict,
    ) {
        let kind = match kind {
            EpisodeKind::Timeout => TimeoutKind::Timeout,
            EpisodeKind::FastRetransmit => TimeoutKind::FastRetransmit,
        };
        if let Some(known) = self.timeouts.last_of(kind) {
            known.verdict = Some((verdict, detector, at));
            self.count.found_spurious += u64::from(verdict == Verdict::Spurious);
        }
    }

    /// Is an ACK delayed, or about to leave?
    pub fn owes_ack(&self) -> bool {
        let due = self.connection.as_ref().map(|connection| connection.receiver().ack_due());
        due.is_some_and(|due| due != AckDue::No)
    }

    /// Replaces the connection by `connection`, an earlier state that then processes the stimulus.
    pub fn replay(&mut self, mut connection: Connection, stimulus: Stimulus, at: Instant) {
        match stimulus {
            Stimulus::Timer => connection.on_timer(at),
            Stimulus::Arrival(segment) => connection.on_segment(&segment, at),
        }
        if self.consumer == Consumer::Application {
            connection.read(u64::MAX);
        }
        self.connection = Some(connection);
    }
}
