//! One end of a flow: its connection, and what is counted of the data that it sends.

use std::mem::offset_of;
use std::ops::Range;
use std::sync::Arc;

use rtolab_net::{Copies, Packet};
use rtolab_record::{Place, TimeoutKind};
use rtolab_tcp::receiver::AckDue;
use rtolab_tcp::spurious::{DetectorId, EpisodeKind, Verdict};
use rtolab_tcp::{Config, Connection, Event, Flight, Retransmission, Segment, Seq, State};
use rtolab_time::Instant;

use crate::fetch::fetch_row;
use crate::timeouts::Timeouts;
use crate::truth::Stimulus;

/// What reads at this end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// An application, whatever arrives as soon as it does.
    Application,
    /// A gateway, as the next leg takes it.
    Gateway,
}

/// Where an end's connection begins.
const CONNECTION: usize = offset_of!(End, connection);

/// One end of a flow during a run; what every packet asks for comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct End {
    /// The copies of its segments.
    pub copies: Copies,
    /// Behind the highest sequence number that it has sent.
    sent_max: Seq,
    pub count: Count,
    pub reader: Reader,
    /// Bytes that were written here.
    written: u64,
    /// When the ACK of its FIN arrived.
    pub close_acknowledged: Option<Instant>,
    /// `None` before the peer's SYN arrived, and where there are only datagrams.
    pub connection: Option<Connection>,
    /// Its timeouts and fast retransmits.
    pub timeouts: Timeouts,
}

/// What is counted at one end.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Count {
    /// Payload bytes that were read here.
    pub read: u64,
    /// Packets without payload that left.
    pub acks: u64,
    /// Packets with payload that left.
    pub segments: u64,
    /// Their TCP or UDP headers, in bytes.
    pub header_bytes: u64,
    pub timeouts: u64,
    pub fast_retransmits: u64,
    pub found_spurious: u64,
}

impl End {
    pub fn new(connection: Option<Connection>, reader: Reader) -> Self {
        Self {
            connection,
            reader,
            sent_max: Seq::FIRST,
            copies: Copies::default(),
            count: Count::default(),
            timeouts: Timeouts::default(),
            written: 0,
            close_acknowledged: None,
        }
    }

    /// Has the processor fetch what is asked for here of a packet that arrives at the end `place`.
    #[inline(always)]
    pub fn fetch(&self, place: Place) {
        let of_connection = match place {
            Place::Sender => Connection::OF_ACKS,
            Place::Receiver => Connection::OF_DATA,
        };
        fetch_row(&self.sent_max, 0..CONNECTION + of_connection.end);
    }

    /// Has the processor fetch what tells which pieces have arrived here.
    #[inline(always)]
    pub fn fetch_pieces(&self) {
        let Range { start, end } = Connection::OF_PIECES;
        fetch_row(&self.sent_max, CONNECTION + start..CONNECTION + end);
    }

    /// The newest piece that has arrived here behind a gap.
    pub fn newest_piece(&self) -> Option<&Range<Seq>> {
        self.connection.as_ref()?.receiver().newest_piece()
    }

    /// Writes so many bytes.
    pub fn write(&mut self, bytes: u64) {
        if let Some(connection) = &mut self.connection {
            self.written = self.written.saturating_add(bytes);
            connection.write(bytes);
        }
    }

    /// Nothing more will be written.
    pub fn close(&mut self) {
        if let Some(connection) = &mut self.connection {
            connection.close();
        }
    }

    /// What was written and not yet sent, in bytes.
    pub fn unsent(&self) -> u64 {
        (Seq::FIRST + 1).value().saturating_add(self.written).saturating_sub(self.max().value())
    }

    /// What was written and is acknowledged, in bytes.
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

    /// What this end has outstanding, if it speaks TCP.
    pub fn flight(&self) -> Option<&Flight> {
        self.connection.as_ref().map(|connection| connection.sender().flight())
    }

    /// Is the handshake complete here?
    pub fn is_open(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| {
            !matches!(connection.state(), State::SynSent | State::SynReceived)
        })
    }

    /// A packet leaves.
    #[inline]
    pub fn count_sent(&mut self, segment: &Segment, header: u32) {
        if segment.len > 0 {
            self.count.segments += 1;
            self.count.header_bytes += u64::from(header);
        } else {
            self.count.acks += 1;
        }
    }

    /// A segment leaves: how often its first sequence number had been sent before. `peer` is the
    /// other end.
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
        self.note_resent(segment, peer)
    }

    /// The same of an acknowledgment or of new data.
    #[inline(always)]
    pub fn note_sent_in_turn(&mut self, segment: &Segment) {
        self.count_sent(segment, segment.header_bytes());
        if segment.len > 0 {
            debug_assert!(segment.seq >= self.sent_max, "new data have not been sent before");
            self.sent_max = segment.end();
        }
    }

    #[cold]
    fn note_resent(&mut self, segment: &Segment, peer: &Self) -> u16 {
        let order = self.transmissions(segment.seq).saturating_sub(1);
        self.copies.resent(segment.seq, order, peer.holds(segment));
        order
    }

    /// Has this end all of that segment of its peer?
    pub fn holds(&self, segment: &Segment) -> bool {
        let connection = self.connection.as_ref();
        connection.is_some_and(|here| here.receiver().holds(&(segment.seq..segment.end())))
    }

    fn transmissions(&self, seq: Seq) -> u16 {
        let sent = self.flight().and_then(|flight| flight.segment_at(seq));
        sent.map_or(0, |sent| sent.transmissions)
    }

    /// A segment arrived: a SYN is answered as `config` says.
    #[inline(always)]
    pub fn take(&mut self, packet: &Packet, config: &Arc<Config>, at: Instant) {
        match &mut self.connection {
            Some(connection) => connection.on_segment(&packet.segment, at),
            None => {
                self.connection = Some(Connection::accept(config.clone(), &packet.segment));
            }
        }
        if self.reader == Reader::Application {
            self.read(u64::MAX);
        }
    }

    /// Reads up to so many bytes; returns how many there were.
    #[inline]
    pub fn read(&mut self, most: u64) -> u64 {
        let Some(connection) = &mut self.connection else { return 0 };
        let bytes = connection.receiver().available().min(most);
        if bytes > 0 {
            connection.read(bytes);
            self.count.read += bytes;
        }
        bytes
    }

    /// Has the peer closed, and was everything read?
    pub fn is_exhausted(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| {
            connection.receiver().finished() && connection.receiver().available() == 0
        })
    }

    /// What the connection tells of itself; it closes when its peer has.
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

    /// Its timeouts and fast retransmits from this number on have not happened.
    pub fn forget_timeouts_from(&mut self, number: usize) {
        let Self { timeouts, count, .. } = self;
        for kind in timeouts.forget_from(number) {
            match kind {
                TimeoutKind::Timeout => count.timeouts -= 1,
                TimeoutKind::FastRetransmit => count.fast_retransmits -= 1,
                TimeoutKind::Probe => {}
            }
        }
    }

    fn note_timeout(&mut self, kind: TimeoutKind, retransmission: Retransmission) {
        let order = self.transmissions(retransmission.seq);
        self.timeouts.note(kind, retransmission, order);
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
            known.said = Some((verdict, detector, at));
            self.count.found_spurious += u64::from(verdict == Verdict::Spurious);
        }
    }

    /// Is an acknowledgment being delayed, or about to leave?
    pub fn owes_ack(&self) -> bool {
        let due = self.connection.as_ref().map(|connection| connection.receiver().ack_due());
        due.is_some_and(|due| due != AckDue::No)
    }

    /// What it was before happens to `connection` instead.
    pub fn redo(&mut self, mut connection: Connection, stimulus: Stimulus, at: Instant) {
        match stimulus {
            Stimulus::Timer => connection.on_timer(at),
            Stimulus::Arrival(segment) => connection.on_segment(&segment, at),
        }
        if self.reader == Reader::Application {
            connection.read(u64::MAX);
        }
        self.connection = Some(connection);
    }
}
