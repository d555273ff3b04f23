//! The record of a segment that was sent, and the meaning of an acknowledgment.

use rtolab_time::Instant;

use crate::segment::{Flags, Segment};
use crate::seq::Seq;

/// Why a segment was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cause {
    /// It is new data.
    New,
    /// The retransmission timer expired, and this segment was the first to be retransmitted.
    Timeout,
    /// Fast retransmit: duplicate acknowledgments or SACK showed that it was lost.
    FastRetransmit,
    /// Fast recovery retransmitted a hole.
    Recovery,
    /// Go-back-N: it was outstanding when the retransmission timer expired.
    GoBackN,
    /// It is a tail loss probe (RFC 8985 section 7).
    Probe,
    /// It answers a SYN of the peer, which the peer retransmitted or sent at the same time.
    SynAnswer,
    /// The cause is unknown, as in a capture.
    #[default]
    Unknown,
}

/// A segment that was sent and is not yet acknowledged cumulatively.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its first sequence number.
    pub seq: Seq,
    /// The number of sequence numbers that it occupies, SYN and FIN included.
    pub len: u32,
    /// SYN, FIN or neither.
    pub flags: Flags,
    /// When it was sent first.
    pub first_sent: Instant,
    /// When it was sent last.
    pub last_sent: Instant,
    /// TSval of its last transmission, zero without timestamps.
    pub timestamp: u32,
    /// TSval of its first transmission, zero without timestamps.
    pub first_timestamp: u32,
    /// The number of transmissions.
    pub transmissions: u16,
    /// Was its last transmission marked as a retransmission ([`Flags::RXT`])?
    pub marked: bool,
    /// Why it was sent last.
    pub cause: Cause,
    pub(super) sacked: bool,
    /// Was it ever SACKed, even before a timeout cleared the scoreboard?
    pub(super) ever_sacked: bool,
    pub(super) lost: bool,
    /// Was it retransmitted in the current recovery?
    pub(super) retrans_out: bool,
    /// Is it in RACK's list: sent since RACK last marked it lost (Linux: `tcp_tsorted_anchor`)?
    pub(super) listed: bool,
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
            ever_sacked: false,
            lost: false,
            retrans_out: false,
            listed: true,
        }
    }

    /// The sequence number after its last one.
    pub fn end(&self) -> Seq {
        self.seq + self.len
    }

    /// Was it sent more than once?
    pub const fn was_retransmitted(&self) -> bool {
        self.transmissions > 1
    }

    /// Is it SACKed?
    pub const fn is_sacked(&self) -> bool {
        self.sacked
    }

    /// Is it marked lost?
    pub const fn is_lost(&self) -> bool {
        self.lost
    }

    /// Was it retransmitted in the current recovery, and neither SACKed nor marked lost since?
    pub const fn is_retrans_out(&self) -> bool {
        self.retrans_out
    }
}

/// The meaning of an acknowledgment of new data on the fast path: nothing is SACKed or marked lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FastPathAck {
    /// The number of sequence numbers by which it advances SND.UNA.
    pub advanced: u64,
    /// FlightSize before it, in bytes.
    pub flight_size: u64,
    /// When the first segment that it wholly acknowledges was sent; `None` if there is none, or if
    /// any of them was retransmitted.
    pub sent: Option<Instant>,
    /// TSval of the last transmission of the last segment that it wholly acknowledges.
    pub newest_timestamp: Option<u32>,
    /// TSecr.
    pub echo: Option<u32>,
}

/// The last segment that an acknowledgment wholly acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NewestAcked {
    /// When it was sent first.
    pub first_sent: Instant,
    /// Its length in sequence numbers.
    pub len: u32,
}

/// The meaning of one acknowledgment, given the segments in flight.
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
    /// The number of sequence numbers by which it advances SND.UNA.
    pub advanced: u64,
    /// The first segment that it newly and wholly acknowledges, if any.
    pub oldest_acked: Option<Sent>,
    /// The last such segment.
    pub newest_acked: Option<Sent>,
    /// Was any segment that it newly acknowledges retransmitted?
    pub acks_retransmission: bool,
    /// Bytes above `una_before` that were SACKed before it.
    pub sacked_before: u64,
    /// Bytes that it newly SACKs.
    pub newly_sacked: u64,
    /// The sequence number after the highest byte that it newly SACKs.
    pub sacked_end: Option<Seq>,
    /// When the first of the segments that it newly SACKs was sent, without retransmitted ones
    /// (Linux: `first_sackt`).
    pub sacked_sent: Option<Instant>,
    /// When the last of these was sent (Linux: `last_sackt`).
    pub last_sacked_sent: Option<Instant>,
    /// When the first and the last segment were sent that it newly acknowledges, and that were
    /// neither SACKed before nor retransmitted (Linux: `first_ackt`, `last_ackt`).
    pub acked_sent: Option<(Instant, Instant)>,
    /// Was any segment that it acknowledges retransmitted, SACKed before or not (Linux:
    /// `FLAG_RETRANS_DATA_ACKED`)?
    pub covers_retransmission: bool,
    /// The bytes of retransmissions in flight after it (`retrans_out`); `None` if this is unknown.
    pub retrans_out: Option<u64>,
    /// The end of the lowest segment that was never retransmitted, and that this acknowledgment is
    /// the first to acknowledge or SACK. The original of this segment arrived (Linux:
    /// `FLAG_ORIG_SACK_ACKED`).
    pub original: Option<Seq>,
    /// Its D-SACK block.
    pub dsack: Option<DsackBlock>,
    /// Does the receiver report more duplicates than there were retransmissions? Linux then ignores
    /// the D-SACK.
    pub dsack_ignored: bool,
    /// Is it a duplicate acknowledgment (RFC 5681 section 2)?
    pub duplicate: bool,
    /// Does it repeat the last acknowledgment and its window, without SACK blocks?
    pub repeats: bool,
    /// Does it answer a marked retransmission ([`Flags::RXT_ECHO`])? Such an acknowledgment is not
    /// a duplicate.
    pub answers_retransmission: bool,
    /// TSecr.
    pub echo: Option<u32>,
}

/// A D-SACK block: a range of sequence numbers that the receiver received twice (RFC 2883).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DsackBlock {
    /// Its first sequence number.
    pub start: Seq,
    /// The sequence number after its last one.
    pub end: Seq,
}

impl AckFacts {
    /// Does it advance SND.UNA?
    pub const fn is_new(&self) -> bool {
        self.advanced > 0
    }

    /// Updates [`Self::original`]: the acknowledgment covers `segment`, which is not marked yet.
    pub(super) fn note_original(&mut self, segment: &Sent) {
        if !segment.was_retransmitted() && !segment.ever_sacked {
            let end = segment.end();
            self.original = Some(self.original.map_or(end, |lowest| lowest.min(end)));
        }
    }

    /// Updates [`Self::acked_sent`] and [`Self::covers_retransmission`]: the acknowledgment covers
    /// `segment`.
    #[inline]
    pub(super) fn note_acked_sent(&mut self, segment: &Sent) {
        if segment.was_retransmitted() {
            self.covers_retransmission = true;
        } else if !segment.sacked {
            let sent = segment.first_sent;
            let first = self.acked_sent.map_or(sent, |(first, _)| first);
            self.acked_sent = Some((first, sent));
        }
    }

    /// Updates [`Self::sacked_sent`]: the acknowledgment SACKs `segment`.
    pub(super) fn note_sacked_sent(&mut self, segment: &Sent) {
        if !segment.was_retransmitted() {
            let sent = segment.first_sent;
            self.last_sacked_sent = self.last_sacked_sent.max(Some(sent));
            self.sacked_sent = Some(self.sacked_sent.map_or(sent, |first| first.min(sent)));
        }
    }

    /// Is it the first to acknowledge the SYN?
    pub fn acks_syn(&self) -> bool {
        self.is_new() && self.una_before <= Seq::FIRST
    }
}
