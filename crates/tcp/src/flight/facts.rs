//! What is known of a segment that was sent, and of an acknowledgment.

use rtolab_time::Instant;

use crate::segment::{Flags, Segment};
use crate::seq::Seq;

/// Why a segment is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cause {
    /// For the first time.
    New,
    /// Its retransmission timer expired.
    Timeout,
    /// Duplicate acknowledgments said that it was lost.
    FastRetransmit,
    /// Fast recovery fills a hole.
    Recovery,
    /// Go-back-N: it was outstanding when the timer of another expired.
    GoBackN,
    /// Nothing was heard for a while, and its acknowledgment will tell more (RFC 8985 section 7).
    Probe,
    /// The peer repeated what it answers.
    Answer,
    /// Nobody knows, as in a capture.
    #[default]
    Unknown,
}

/// A segment that was sent and is not yet acknowledged cumulatively.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its first sequence number.
    pub seq: Seq,
    /// The sequence numbers that it takes, SYN and FIN included.
    pub len: u32,
    /// SYN, FIN or neither.
    pub flags: Flags,
    /// When it was sent first.
    pub first_sent: Instant,
    /// When it was sent last.
    pub last_sent: Instant,
    /// The timestamp (TSval) of its last sending, zero without timestamps.
    pub timestamp: u32,
    /// The timestamp of its first sending, zero without timestamps.
    pub first_timestamp: u32,
    /// How often it was sent.
    pub transmissions: u16,
    /// Was its last sending marked as a retransmission ([`Flags::RXT`])?
    pub marked: bool,
    /// Why it was sent last.
    pub cause: Cause,
    /// Was it selectively acknowledged?
    pub(super) sacked: bool,
    /// Was it ever, also before a timeout cleared the scoreboard?
    pub(super) reported: bool,
    /// Does the sender take it for lost?
    pub(super) lost: bool,
    /// Was it retransmitted in the recovery under way?
    pub(super) repaired: bool,
}

impl Sent {
    /// New data, sent for the first time.
    #[inline(always)]
    pub(super) fn new(segment: &Segment, at: Instant) -> Self {
        let timestamp = segment.timestamps().map_or(0, |timestamps| timestamps.value);
        Self {
            seq: segment.seq,
            len: segment.len,
            flags: segment.flags,
            first_sent: at,
            last_sent: at,
            timestamp,
            first_timestamp: timestamp,
            transmissions: 1,
            marked: false,
            cause: Cause::New,
            sacked: false,
            reported: false,
            lost: false,
            repaired: false,
        }
    }

    /// The sequence number behind its last one.
    pub fn end(&self) -> Seq {
        self.seq + self.len
    }

    /// Was it sent more than once?
    pub const fn was_retransmitted(&self) -> bool {
        self.transmissions > 1
    }

    /// Was it selectively acknowledged?
    pub const fn is_sacked(&self) -> bool {
        self.sacked
    }

    /// Does the sender take it for lost?
    pub const fn is_lost(&self) -> bool {
        self.lost
    }

    /// Was it retransmitted in the recovery under way, and is not selectively acknowledged?
    pub const fn is_repaired(&self) -> bool {
        self.repaired
    }
}

/// What an acknowledgment of new data says while nothing is selectively acknowledged or taken for
/// lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CleanAck {
    /// How many sequence numbers it acknowledges newly.
    pub advanced: u64,
    /// FlightSize before it, in bytes.
    pub flight_size: u64,
    /// When the first segment that it acknowledges wholly was sent; `None` if there is none, or if
    /// any was sent more than once.
    pub sent: Option<Instant>,
    /// The timestamp of the last sending of the last segment that it acknowledges wholly.
    pub newest_timestamp: Option<u32>,
    /// The timestamp that it echoes.
    pub echo: Option<u32>,
}

/// What one acknowledgment says, measured against all that was sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckFacts {
    /// When it arrived.
    pub at: Instant,
    /// Its acknowledgment number.
    pub ack: Seq,
    /// SND.UNA before it.
    pub una_before: Seq,
    /// SND.MAX.
    pub max: Seq,
    /// How many sequence numbers it acknowledges newly and cumulatively.
    pub advanced: u64,
    /// The first segment that it acknowledges newly and wholly, if any.
    pub oldest_acked: Option<Sent>,
    /// The last one.
    pub newest_acked: Option<Sent>,
    /// Was any segment that it acknowledges newly sent more than once?
    pub acks_retransmission: bool,
    /// Bytes above `una_before` selectively acknowledged before it.
    pub sacked_before: u64,
    /// Bytes that it newly acknowledges selectively.
    pub newly_sacked: u64,
    /// Behind the highest of them.
    pub sacked_end: Option<Seq>,
    /// When the first of them left that was sent once.
    pub sacked_sent: Option<Instant>,
    /// Behind the lowest segment that was sent once and that this acknowledgment, cumulative or
    /// selective, is the first to report: its original arrived.
    pub original: Option<Seq>,
    /// The range it reports as received twice (RFC 2883).
    pub dsack: Option<DuplicateRange>,
    /// Was more reported as received twice than was sent again? Linux takes no notice of the report
    /// then.
    pub doubted: bool,
    /// Is it a duplicate acknowledgment (RFC 5681 section 2)?
    pub duplicate: bool,
    /// Does it repeat the last acknowledgment and its window, and say nothing else?
    pub repeats: bool,
    /// Does it say that it answers a marked retransmission ([`Flags::RXT_ECHO`])? Then it is no
    /// duplicate acknowledgment.
    pub answers_retransmission: bool,
    /// The timestamp that it echoes.
    pub echo: Option<u32>,
}

/// A range of sequence numbers that the receiver got twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DuplicateRange {
    /// Its first sequence number.
    pub start: Seq,
    /// The one behind its last.
    pub end: Seq,
}

impl AckFacts {
    /// Does it advance SND.UNA?
    pub const fn is_new(&self) -> bool {
        self.advanced > 0
    }

    /// The acknowledgment reports `segment`, as it was before: see [`Self::original`].
    pub(super) fn note_original(&mut self, segment: &Sent) {
        if !segment.was_retransmitted() && !segment.reported {
            let end = segment.end();
            self.original = Some(self.original.map_or(end, |lowest| lowest.min(end)));
        }
    }

    /// The acknowledgment SACKs `segment`: see [`Self::sacked_sent`].
    pub(super) fn note_sacked_sent(&mut self, segment: &Sent) {
        if !segment.was_retransmitted() {
            let sent = segment.first_sent;
            self.sacked_sent = Some(self.sacked_sent.map_or(sent, |first| first.min(sent)));
        }
    }

    /// Is it the first to acknowledge the SYN?
    pub fn acks_syn(&self) -> bool {
        self.is_new() && self.una_before <= Seq::FIRST
    }
}
