//! A retransmitted range of sequence numbers: its copies, its first covering ACK and the evidence
//! about it.

use rtolab_tcp::Seq;
use rtolab_time::{Duration, Instant};

use super::arrivals::Arrival;
use super::evidence::{Bound, Evidence, TooSoon};
use crate::rtt::RttStatistics;
use crate::trigger::Trigger;

/// One transmission of a range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    pub at: Instant,
    /// TSval.
    pub timestamp: Option<u32>,
    /// `None` if it is the original.
    pub retransmission: Option<Retransmission>,
}

/// A retransmission in the capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retransmission {
    pub frame: u64,
    pub ip_id: u16,
    /// The sequence number on the wire.
    pub raw_seq: u32,
    /// The payload in bytes.
    pub len: u32,
    pub trigger: Trigger,
    /// For a timeout: the number of its episode in the passive detectors.
    pub detector_episode: Option<u32>,
    /// May it be a tail loss probe of the only outstanding segment, if it is a timeout?
    pub is_single: bool,
    /// The time since the last event that restarts a retransmission timer.
    pub idle: Duration,
    pub arrival: Arrival,
    /// For a fast retransmit: the outstanding bytes and the latest round trip.
    pub queue: Option<(u64, Duration)>,
}

/// The first ACK that covers a range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoveringAck {
    pub at: Instant,
    pub frame: u64,
    /// Does it report the range by D-SACK (RFC 2883)?
    pub reports_duplicate: bool,
    /// Does it have a D-SACK, of this range or of another one?
    pub has_dsack: bool,
    /// Does it acknowledge all data sent before the first retransmission?
    pub all: bool,
    /// Does it newly acknowledge more than twice the bytes of the range?
    pub jumps: bool,
    /// May it be the delayed ACK of the original, which the receiver sent when a copy arrived?
    pub may_be_delayed: bool,
    pub duplicate: DuplicateAck,
}

impl CoveringAck {
    /// Can a duplicate of it still come?
    pub fn is_awaited(&self) -> bool {
        self.duplicate == DuplicateAck::Awaited
    }
}

/// The state of the duplicate ACK that later copies cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DuplicateAck {
    Awaited,
    Came,
    /// Later transmissions have arrived, but no duplicate ACK has.
    Missing,
}

/// Did the original arrive?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Original {
    Arrived,
    Lost,
    Unknown,
}

/// The copies of a range that passed before later data, which the receiver then reported while the
/// range was still missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StillMissing {
    /// Their number, in the order of transmission.
    pub copies: usize,
    /// The ACK or the retransmission at which the range was still missing.
    pub frame: u64,
}

/// A retransmitted range.
#[derive(Clone, Debug)]
pub(crate) struct RetransmittedRange {
    pub start: Seq,
    pub end: Seq,
    pub is_syn: bool,
    /// In the order of transmission. The first is the original, which the capture may lack.
    pub copies: Vec<Transmission>,
    pub evidence: Vec<Evidence>,
    pub covering_ack: Option<CoveringAck>,
    /// The copies that passed the capture point and that the receiver still missed later.
    pub still_missing: Option<StillMissing>,
    /// The number of D-SACKs that reported it.
    pub duplicates: usize,
    /// When the last of these D-SACKs arrived.
    pub last_duplicate: Option<Instant>,
    /// The acknowledgment number of the first covering ACK. The arrival of the original at this
    /// number is evidence about the copies of this range.
    pub expected_next: Option<Seq>,
    /// Is the data at `expected_next` still unacknowledged?
    pub awaits_next: bool,
    /// When the range is settled.
    pub due: Instant,
}

impl RetransmittedRange {
    /// A range from `start` to `end` that nothing covers yet, with the copies sent so far.
    pub fn new(start: Seq, end: Seq, copies: Vec<Transmission>) -> Self {
        Self {
            start,
            end,
            is_syn: false,
            copies,
            evidence: Vec::new(),
            covering_ack: None,
            still_missing: None,
            duplicates: 0,
            last_duplicate: None,
            expected_next: None,
            awaits_next: false,
            due: Instant::NEVER,
        }
    }

    /// The upper and the lower bound of the index of the first copy that arrived, by the evidence
    /// from which other evidence may be inferred.
    pub fn bounds(&self) -> (Option<usize>, usize) {
        let (mut upper, mut lower) = (None, 0);
        for piece in self.evidence.iter().filter(|piece| piece.kind.supports_inference) {
            match piece.bound {
                Bound::AtMost(first) => upper = Some(upper.map_or(first, |upper| first.min(upper))),
                Bound::AtLeast(first) => lower = first.max(lower),
            }
        }
        (upper, lower)
    }

    pub fn original(&self) -> Original {
        match self.bounds() {
            (Some(0), 1..) => Original::Unknown,
            (Some(0), 0) => Original::Arrived,
            (_, 1..) => Original::Lost,
            _ => Original::Unknown,
        }
    }

    /// Discards the evidence whose premise later packets did not confirm. If the receiver reports
    /// duplicates, only its reports confirm.
    pub fn discard_unconfirmed(&mut self, rtt: &RttStatistics, reports_duplicates: bool) {
        let is_confirmed = |premise: TooSoon| !reports_duplicates && premise.is_confirmed(rtt);
        self.evidence.retain(|piece| piece.premise.is_none_or(is_confirmed));
    }

    /// When its last copy was sent, if no earlier copy arrived.
    pub fn delivered_copy(&self) -> Option<Instant> {
        let (upper, lower) = self.bounds();
        let last = self.copies.len() - 1;
        (lower == last && upper.is_none_or(|upper| upper >= last)).then(|| self.copies[last].at)
    }

    /// The index of the first copy that arrived, if the bounds leave only one.
    pub fn arrived_copy(&self) -> Option<usize> {
        let last = self.copies.len() - 1;
        let (upper, lower) = self.bounds();
        (upper.unwrap_or(last) == lower).then_some(lower)
    }

    /// Was it first acknowledged at this time?
    pub fn is_covered_at(&self, at: Instant) -> bool {
        self.covering_ack.is_some_and(|ack| ack.at == at)
    }

    /// Was it first acknowledged before this time?
    pub fn is_covered_before(&self, at: Instant) -> bool {
        self.covering_ack.is_some_and(|ack| ack.at < at)
    }

    /// Is this frame its first covering ACK?
    pub fn is_covered_by(&self, frame: u64) -> bool {
        self.covering_ack.is_some_and(|ack| ack.frame == frame)
    }

    pub fn first_retransmitted(&self) -> Option<Instant> {
        self.copies.get(1).map(|copy| copy.at)
    }

    pub fn spans(&self, seq: Seq) -> bool {
        self.start <= seq && seq < self.end
    }

    /// Notes that the range is missing at this frame, although the receiver has reported data that
    /// passed at `reported`. One copy arrives: the last one never counts as missing.
    pub fn note_still_missing(&mut self, reported: Instant, frame: u64) {
        let before = self.copies.iter().take_while(|copy| copy.at < reported).count();
        let copies = before.min(self.copies.len() - 1);
        if copies > self.still_missing.map_or(0, |known| known.copies) {
            self.still_missing = Some(StillMissing { copies, frame });
        }
    }

    /// Adds evidence, unless it is already there.
    pub fn note(&mut self, piece: Evidence) {
        let known = |known: &Evidence| {
            let is_as_sure = known.premise.is_none() || known.premise == piece.premise;
            known.kind == piece.kind && known.bound == piece.bound && is_as_sure
        };
        if !self.evidence.iter().any(known) {
            self.evidence.push(piece);
        }
    }

    pub fn retransmissions(
        &self,
    ) -> impl DoubleEndedIterator<Item = (usize, &Transmission, &Retransmission)> {
        let copies = self.copies.iter().enumerate();
        copies.filter_map(|(index, copy)| Some((index, copy, copy.retransmission.as_ref()?)))
    }
}
