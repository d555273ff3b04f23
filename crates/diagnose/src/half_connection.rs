//! One direction of a connection: what its end sends, and the ACKs for it.

use rtolab_tcp::spurious::{DetectorId, DetectorVerdict, PassiveDetectors};
use rtolab_tcp::{AckFacts, Cause, Flags, Segment, Seq};
use rtolab_time::{Duration, Instant};

use crate::ask;
use crate::conformance::Conformance;
use crate::episode::Episodes;
use crate::evidence::{End, Retransmitting};
use crate::history::{
    Ack, Arrival, Arrivals, Frame, Retransmission, RetransmissionHistory, RetransmittedRange,
    Transmission, delivered_original,
};
use crate::rtt::RoundTrips;
use crate::second_pass;
use crate::trigger::{Pace, Trigger};
use crate::vantage::Vantage;

/// The most payload of an Ethernet frame of usual or jumbo size, if the handshake does not show it.
const UNKNOWN_MSS: u32 = 8948;
/// The bytes of the timestamps option in each segment.
const TIMESTAMPS: u32 = 12;

/// With more outstanding segments the oldest are given up: the capture lacks ACKs or the other
/// direction.
const MOST_OUTSTANDING: usize = 1 << 16;

/// The most retransmitted ranges and verdicts per direction that are reported; the rest are only
/// counted.
const MOST_SETTLED: usize = 1 << 18;
const MOST_JUDGMENTS: usize = 1 << 20;
/// The most verdicts that are kept while their retransmissions are followed.
const MOST_KEPT_JUDGMENTS: usize = 1 << 12;

/// One direction of a connection.
#[derive(Debug)]
pub(crate) struct HalfConnection {
    judges: PassiveDetectors,
    pub history: RetransmissionHistory,
    pub trips: RoundTrips,
    pub pace: Pace,
    pub arrivals: Arrivals,
    pub episodes: Episodes,
    pub conformance: Conformance,
    /// Ranges about which later ACKs tell nothing more.
    pub settled: Vec<RetransmittedRange>,
    /// The number of further settled ranges.
    pub untold: u64,
    pub judgments: Vec<DetectorVerdict>,
    /// Has the peer ever sent a D-SACK?
    pub dsack_seen: bool,
    /// Payload bytes seen, retransmissions included.
    pub bytes: u64,
    /// Segments that carry data, retransmissions included; one that the network card splits counts
    /// as those on the wire.
    pub segments: u64,
    /// The payload of a full segment, as far as the handshake shows it.
    pub mss: u32,
    pub retransmissions: u64,
}

impl HalfConnection {
    pub fn new(first: Seq) -> Self {
        Self {
            judges: PassiveDetectors::new(DetectorId::all(), first),
            history: RetransmissionHistory::default(),
            trips: RoundTrips::default(),
            pace: Pace::default(),
            arrivals: Arrivals::starting_at(first),
            episodes: Episodes::default(),
            conformance: Conformance::default(),
            settled: Vec::new(),
            untold: 0,
            judgments: Vec::new(),
            dsack_seen: false,
            bytes: 0,
            segments: 0,
            mss: UNKNOWN_MSS,
            retransmissions: 0,
        }
    }

    pub const fn flight(&self) -> &rtolab_tcp::Flight {
        self.judges.flight()
    }

    /// The end sends a segment that takes sequence numbers.
    pub fn sent(&mut self, segment: &Segment, frame: &Frame, view: (Vantage, Duration)) {
        self.bytes += u64::from(segment.len);
        self.segments += u64::from(self.on_wire(segment.len));
        let max = self.flight().max();
        self.conformance.sent(segment, frame, self.judges.flight());
        let arrival = self.arrivals.take(segment, frame, &self.trips);
        if segment.seq >= max {
            if segment.seq > max {
                self.unseen(segment.seq, frame.at);
            }
            self.pace.sent(frame.at, self.flight().size());
            self.note_sent(segment, frame.at, Cause::New);
            return;
        }
        match arrival {
            Arrival::Reordered => {}
            Arrival::New
            | Arrival::Again
            | Arrival::FillsHole
            | Arrival::Earlier
            | Arrival::Acknowledged
            | Arrival::Forgotten => self.retransmit(segment, frame, arrival, view),
        }
        self.note_sent(segment, frame.at, Cause::Unknown);
    }

    /// The number of segments on the wire of a segment with this payload.
    pub const fn on_wire(&self, len: u32) -> u32 {
        if len <= self.mss { (len > 0) as u32 } else { len.div_ceil(self.mss) }
    }

    /// The end retransmits a segment, at least in part.
    fn retransmit(
        &mut self,
        segment: &Segment,
        frame: &Frame,
        arrival: Arrival,
        (vantage, turnaround): (Vantage, Duration),
    ) {
        let idle = self.pace.idle(frame.at);
        let trigger = match vantage {
            Vantage::Receiver if !segment.flags.has(Flags::SYN) => Trigger::Unknown,
            _ => {
                let past = (self.judges.flight(), &self.trips);
                self.pace.retransmitted(segment, frame.at, past, turnaround)
            }
        };
        let is_probe = matches!(trigger, Trigger::KeepAlive | Trigger::ZeroWindowProbe);
        if segment.sequence_length() == 0 || is_probe && segment.len == 0 {
            self.history.order.forget();
            return;
        }
        let judged = match trigger {
            Trigger::Timeout(_) | Trigger::Syn(_) => {
                Some(self.judges.timeout(segment.seq, frame.at))
            }
            Trigger::Fast => {
                self.judges.fast_retransmit(segment.seq, frame.at);
                None
            }
            _ => None,
        };
        self.retransmissions += 1;
        let size = self.flight().size();
        let retransmission = Retransmission {
            frame: frame.number,
            identification: frame.identification,
            raw: frame.raw,
            len: segment.len,
            trigger,
            judged,
            idle,
            arrival,
            queue: self.trips.latest.filter(|_| trigger == Trigger::Fast).map(|rtt| (size, rtt)),
        };
        self.note_retransmitted(segment, retransmission, frame.at);
        let known = (self.judges.flight(), self.trips.smoothed);
        self.conformance.retransmitted(&retransmission, self.pace.duplicates(), known);
        let retransmission = (&retransmission, self.trips.smoothed);
        self.episodes.retransmitted(segment, retransmission, self.judges.flight(), frame.at);
    }

    fn note_retransmitted(
        &mut self,
        segment: &Segment,
        retransmission: Retransmission,
        at: Instant,
    ) {
        let timestamp = segment.timestamps().map(|timestamps| timestamps.value);
        let copy = Transmission { at, timestamp, retransmission: Some(retransmission) };
        let end = segment.end().min(self.flight().max());
        self.history.unanswered.retransmitted(at);
        let original = self.flight().segment_at(segment.seq).copied();
        let original = original.filter(|sent| sent.seq <= segment.seq);
        let acked = end <= self.flight().una();
        let sacked = original.is_some_and(|sent| sent.is_sacked() && end <= sent.end());
        let is_gap = segment.seq <= self.flight().una() || self.flight().uses_sack();
        let now = Retransmitting {
            frame: retransmission.frame,
            is_known: acked || sacked,
            newest: self.history.newest.filter(|_| is_gap),
            reordering: self.trips.reordering(),
        };
        let bytes = (segment.seq, end.max(segment.seq + 1));
        let range = self.history.retransmitted(bytes, copy, original.as_ref());
        range.is_syn |= segment.flags.has(Flags::SYN);
        ask::on_retransmission(range, &now);
        if acked {
            range.due = at + self.trips.patience();
            let due = range.due;
            self.history.settle_at(due);
        }
    }

    /// The capture lacks data up to `end`, which was sent by `at`.
    fn unseen(&mut self, end: Seq, at: Instant) {
        self.history.order.forget();
        let max = self.flight().max();
        let mut hole = Segment::new(max, 0, Flags::ACK);
        hole.len = u32::try_from(end.since(max)).unwrap_or(u32::MAX);
        self.note_sent(&hole, at, Cause::Unknown);
    }

    fn note_sent(&mut self, segment: &Segment, at: Instant, cause: Cause) {
        if self.flight().outstanding() >= MOST_OUTSTANDING {
            self.give_up(at);
        }
        match self.history.is_empty() {
            true => self.history.order.forget(),
            false => self.history.order.sent(segment, at),
        }
        self.judges.sent(segment, at, cause);
    }

    /// No ACK comes: settles the older half.
    fn give_up(&mut self, at: Instant) {
        let half = self.flight().segments_from(self.flight().una()).nth(MOST_OUTSTANDING / 2);
        let Some(seq) = half.map(|sent| sent.seq) else { return };
        let mut ack = Segment::new(Seq::FIRST, 0, Flags::ACK);
        ack.ack = seq;
        self.judges.acked(&ack, at);
        self.arrivals.forget(seq);
    }

    /// The other end sends an ACK.
    pub fn acked(&mut self, segment: &Segment, frame: &Frame) {
        if segment.ack > self.flight().max() {
            self.unseen(segment.ack, frame.at);
            self.arrivals.missed(segment.ack);
        }
        self.episodes.heard();
        let duplicates = self.pace.duplicates();
        let facts = self.judges.acked(segment, frame.at);
        self.pace.acked(segment, facts.as_ref(), frame.at);
        self.conformance.acked(segment);
        if let Some(mss) = segment.syn_options().mss {
            let options = if segment.timestamps().is_some() { TIMESTAMPS } else { 0 };
            self.mss = u32::from(mss).saturating_sub(options).max(1);
        }
        let Some(facts) = facts else { return };
        self.dsack_seen |= facts.dsack.is_some();
        self.trips.measure(&facts);
        if facts.is_new() {
            self.arrivals.forget(segment.ack);
        }
        self.judge(segment, &facts, (frame, duplicates));
        self.episodes.acked(&facts, self.judges.flight(), frame);
    }

    /// Evaluates what the ACK tells about retransmissions.
    fn judge(&mut self, segment: &Segment, facts: &AckFacts, (frame, duplicates): (&Frame, u32)) {
        self.take_judgments();
        if self.history.is_empty() {
            return;
        }
        let flight = self.judges.flight();
        let ack = Ack {
            segment,
            facts,
            frame: frame.number,
            flight,
            trips: &self.trips,
            duplicates,
            gap: match flight.uses_sack() {
                true => self.pace.gap(),
                false => self.pace.possible_gap(),
            },
            delivered_original: delivered_original(facts, flight),
        };
        ask::on_ack(&mut self.history, &ack);
        let settled = self.history.settled(frame.at);
        self.settle(settled);
    }

    fn settle(&mut self, settled: Vec<RetransmittedRange>) {
        let room = MOST_SETTLED.saturating_sub(self.settled.len());
        self.untold += settled.len().saturating_sub(room) as u64;
        self.settled.extend(settled.into_iter().take(room));
    }

    fn take_judgments(&mut self) {
        while let Some(judgment) = self.judges.poll() {
            if self.judgments.len() < MOST_JUDGMENTS {
                self.judgments.push(judgment);
            }
        }
    }

    /// The connection ends.
    pub fn finish(&mut self, at: Instant, vantage: Vantage) {
        self.judges.finish(at);
        self.take_judgments();
        let left = self.history.take_all();
        self.settle(left);
        self.episodes.finish();
        self.conclude(vantage);
    }

    /// Settles the ranges about which nothing more is expected at this time.
    pub fn settle_due(&mut self, at: Instant) {
        let settled = self.history.settled(at);
        self.settle(settled);
    }

    /// Forgets what was reported.
    pub fn forget_settled(&mut self) {
        self.settled.clear();
        self.episodes.closed.clear();
        if self.history.is_empty() {
            self.judgments.clear();
        } else {
            // Those of open episodes come last.
            let old = self.judgments.len().saturating_sub(MOST_KEPT_JUDGMENTS);
            self.judgments.drain(..old);
        }
    }

    /// The number of segments, retransmissions and verdicts that it holds.
    pub fn items(&self) -> usize {
        self.flight().outstanding() + self.settled.len() + self.history.len()
    }

    /// Adds the evidence that only settled ranges give.
    pub fn conclude(&mut self, vantage: Vantage) {
        let last_heard = self.pace.last_ack().filter(|_| self.dsack_seen);
        let end = End { trips: &self.trips, last_heard };
        for range in &mut self.settled {
            ask::at_end(range, vantage, &end);
        }
        if vantage != Vantage::Receiver {
            second_pass::run(&mut self.settled, &self.trips, self.judges.flight().uses_sack());
        }
    }
}
