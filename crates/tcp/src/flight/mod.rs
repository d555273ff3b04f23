//! The history of what was sent and acknowledged; turns an acknowledgment into facts.
//!
//! A sender, a passive detector and a diagnosis all keep a `Flight`, so that all interpret an
//! acknowledgment by the same code.

mod facts;
mod fast_path;
mod known;
mod rack;
mod scoreboard;
mod split;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::ops::Range;

use rtolab_time::Instant;

use crate::segment::{Flags, Segment};
use crate::seq::Seq;

pub use facts::{AckFacts, Cause, DsackBlock, Sent};
pub(crate) use facts::{FastPathAck, NewestAcked};
use known::KnownBlocks;
pub(crate) use rack::{RackLosses, XmitKey};
pub use scoreboard::LossRule;

/// The history of one direction of a connection. The fields that every segment needs come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Flight {
    una: Seq,
    max: Seq,
    segments: VecDeque<Sent>,
    /// The window of the last acknowledgment; a duplicate acknowledgment has the same one.
    window: Option<u32>,
    /// The SACK blocks that are marked already; `None` before the first one.
    known: Option<Box<KnownBlocks>>,
    sacked: u64,
    lost: u64,
    retrans_out: u64,
    /// The bytes that are both lost and retransmitted.
    lost_retrans: u64,
    /// The sequence number after the highest one SACKed.
    sacked_end: Seq,
    /// The start of the highest run of SACKed segments, which ends at `sacked_end`.
    highest_run: Seq,
    /// Everything below that is not SACKed has been marked lost.
    lost_end: Seq,
    totals: Totals,
    /// Did this end offer SACK?
    offers_sack: bool,
    /// Is SACK in use?
    sack: bool,
    /// Does a retransmission count as in flight after its original was delivered or marked lost
    /// (Linux: `TCPCB_SACKED_RETRANS` without `TCPCB_LOST`)?
    keeps_retrans_out: bool,
    /// The number of times that segments were marked lost, and retransmissions again (Linux:
    /// `lost`), modulo 2^16.
    losses: u16,
    /// The size of a full segment in bytes, zero before the handshake is complete.
    smss: u16,
}

/// The counters of a flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Segments with payload that were acknowledged cumulatively.
    pub acked_segments: u64,
    /// Duplicate acknowledgments.
    pub duplicates: u64,
}

impl Default for Flight {
    fn default() -> Self {
        Self::starting_at(Seq::FIRST)
    }
}

impl Flight {
    /// An empty history; `seq` is the first sequence number to be sent.
    pub const fn starting_at(seq: Seq) -> Self {
        Self {
            segments: VecDeque::new(),
            una: seq,
            max: seq,
            window: None,
            offers_sack: false,
            sack: false,
            keeps_retrans_out: false,
            losses: 0,
            smss: 0,
            sacked: 0,
            lost: 0,
            retrans_out: 0,
            lost_retrans: 0,
            sacked_end: seq,
            highest_run: seq,
            lost_end: seq,
            known: None,
            totals: Totals { acked_segments: 0, duplicates: 0 },
        }
    }

    /// A retransmission of a segment that is no longer marked lost stays in flight until it is
    /// acknowledged, or not, as in RFC 6675 section 4.
    pub(crate) const fn keep_retrans_out(&mut self, keep: bool) {
        self.keeps_retrans_out = keep;
    }

    /// Full segments have `smss` bytes.
    pub(crate) fn set_smss(&mut self, smss: u32) {
        self.smss = u16::try_from(smss).unwrap_or(u16::MAX);
    }

    /// The counters so far.
    pub const fn totals(&self) -> Totals {
        self.totals
    }

    /// SND.UNA: the first sequence number not acknowledged.
    pub const fn una(&self) -> Seq {
        self.una
    }

    /// SND.MAX: the sequence number after the highest one ever sent.
    pub const fn max(&self) -> Seq {
        self.max
    }

    /// FlightSize: SND.MAX - SND.UNA, in bytes.
    pub const fn size(&self) -> u64 {
        self.max.since(self.una)
    }

    /// Is SACK in use? It is if both ends offered it, or if a SACK block arrived.
    pub const fn uses_sack(&self) -> bool {
        self.sack
    }

    /// Bytes selectively acknowledged above SND.UNA.
    pub const fn sacked(&self) -> u64 {
        self.sacked
    }

    /// Bytes marked lost.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Bytes retransmitted in the current recovery and not yet acknowledged.
    pub const fn retrans_out(&self) -> u64 {
        self.retrans_out
    }

    /// Is more data lost than retransmitted (`retrans_out < lost_out` in Linux's
    /// `tcp_xmit_retransmit_queue`)? Retransmissions of segments that are no longer lost after an
    /// undo count, too.
    pub(crate) const fn has_unretransmitted_losses(&self) -> bool {
        self.retrans_out < self.lost()
    }

    /// The number of outstanding segments.
    pub fn outstanding(&self) -> usize {
        self.segments.len()
    }

    /// The segment that SND.UNA lies in.
    pub fn head(&self) -> Option<&Sent> {
        self.segments.front()
    }

    /// The outstanding segment with the highest sequence numbers.
    pub fn last(&self) -> Option<&Sent> {
        self.segments.back()
    }

    /// One of the SACK blocks that are known to be marked, as a hint where the others lie.
    pub fn known_block(&self) -> Option<&Range<Seq>> {
        self.known.as_ref().map(|known| known.any())
    }

    /// The segment that spans `seq`.
    pub fn segment_at(&self, seq: Seq) -> Option<&Sent> {
        self.segments.get(self.index_of(seq))
    }

    /// The outstanding segments, beginning with the one that spans `seq`.
    pub fn segments_from(&self, seq: Seq) -> impl Iterator<Item = &Sent> {
        self.segments.range(self.index_of(seq)..)
    }

    /// The first segment at or above `seq` that is not SACKed.
    pub fn unsacked_from(&self, seq: Seq) -> Option<&Sent> {
        self.segments.range(self.index_of(seq)..).find(|segment| !segment.sacked)
    }

    /// The last segment that is not SACKed.
    pub fn last_unsacked(&self) -> Option<&Sent> {
        self.segments.iter().rev().find(|segment| !segment.sacked)
    }

    /// The sequence number after the highest one SACKed.
    pub const fn sacked_end(&self) -> Seq {
        self.sacked_end
    }

    /// Everything below that is not SACKed is marked lost.
    pub const fn lost_end(&self) -> Seq {
        self.lost_end
    }

    /// The index of the segment that spans `seq`; that after the last one if none does.
    fn index_of(&self, seq: Seq) -> usize {
        let Some(head) = self.segments.front().filter(|_| seq < self.max) else {
            return self.segments.len();
        };
        // Most segments are as long as the first.
        let guess = (seq.since(head.seq) as u32 / head.len.max(1)) as usize;
        let spans = |sent: &&Sent| sent.seq <= seq && seq < sent.end();
        match self.segments.get(guess).filter(spans) {
            Some(_) => guess,
            None => self.segments.partition_point(|segment| segment.end() <= seq),
        }
    }

    /// The index of the first segment that begins at or above `seq`, which is outstanding.
    fn first_from(&self, seq: Seq) -> usize {
        let index = self.index_of(seq);
        index + usize::from(self.segments.get(index).is_some_and(|segment| segment.seq < seq))
    }

    /// Records that `segment` was sent, and why.
    #[inline(always)]
    pub fn sent(&mut self, segment: &Segment, at: Instant, cause: Cause) {
        if segment.flags.has(Flags::SYN) {
            self.offers_sack |= segment.syn_options().sack_permitted;
            // A SYN-ACK offers only what the SYN did (RFC 2018 section 2).
            self.sack |= segment.flags.has(Flags::ACK) && segment.syn_options().sack_permitted;
        }
        if segment.seq < self.max {
            self.retransmitted(segment, at, cause);
        }
        let end = segment.end();
        if end > self.max {
            let seq = self.max;
            let len = end.since(seq) as u32;
            let marked = segment.flags.has(Flags::RXT);
            self.push(Sent { seq, len, marked, cause, ..Sent::new(segment, at) });
            self.max = end;
        }
    }

    /// Appends an outstanding segment.
    #[inline(always)]
    fn push(&mut self, sent: Sent) {
        if self.segments.len() == self.segments.capacity() {
            self.reserve();
        }
        self.segments.push_back(sent);
    }

    /// Reserves capacity for a single SYN, or for many segments.
    #[cold]
    #[inline(never)]
    fn reserve(&mut self) {
        let outstanding = self.segments.len();
        let capacity = if self.max == Seq::FIRST { 1 } else { CAPACITY.max(2 * outstanding) };
        self.segments.reserve_exact(capacity - outstanding);
    }

    /// Records the part of `segment` that was sent before.
    #[inline(never)]
    fn retransmitted(&mut self, segment: &Segment, at: Instant, cause: Cause) {
        let timestamp = timestamp_of(segment);
        let mut index = self.index_of(segment.seq);
        while let Some(known) = self.segments.get_mut(index) {
            if known.seq >= segment.end() {
                return;
            }
            known.last_sent = at;
            known.timestamp = timestamp;
            known.cause = cause;
            known.listed = true;
            known.marked = segment.flags.has(Flags::RXT);
            known.transmissions = known.transmissions.saturating_add(1);
            index += 1;
        }
    }

    /// Processes an acknowledgment and returns what it means. Its acknowledgment number must not be
    /// beyond SND.MAX.
    #[inline]
    pub fn on_ack(&mut self, segment: &Segment, at: Instant) -> AckFacts {
        let mut facts = self.expected(segment, at);
        self.note_acked(segment, &mut facts, |_, _| {});
        facts
    }

    /// The facts that follow from the header of an acknowledgment alone. This is a function of its
    /// own so that the facts, which are large, are built in their final place.
    #[inline(always)]
    pub(crate) fn expected(&self, segment: &Segment, at: Instant) -> AckFacts {
        let answers_retransmission = segment.flags.has(Flags::RXT_ECHO);
        let repeats = segment.ack == self.una
            && segment.sequence_length() == 0
            && self.window == Some(segment.window);
        AckFacts {
            at,
            ack: segment.ack,
            una_before: self.una,
            max: self.max,
            advanced: segment.ack.since(self.una),
            oldest_acked: None,
            newest_acked: None,
            acks_retransmission: false,
            sacked_before: self.sacked,
            newly_sacked: 0,
            sacked_end: None,
            sacked_sent: None,
            last_sacked_sent: None,
            acked_sent: None,
            covers_retransmission: false,
            retrans_out: None,
            original: None,
            dsack: None,
            dsack_ignored: false,
            duplicate: repeats && self.max > self.una && !answers_retransmission,
            repeats: repeats && segment.sack_count() == 0,
            answers_retransmission,
            echo: segment.timestamps().map(|timestamps| timestamps.echo),
        }
    }

    /// Adds what the acknowledgment acknowledges to the [expected](Self::expected) facts.
    /// `on_delivered` receives each segment that it is the first to report, in its former state.
    pub(crate) fn note_acked(
        &mut self,
        segment: &Segment,
        facts: &mut AckFacts,
        mut on_delivered: impl FnMut(&Sent, &AckFacts),
    ) {
        debug_assert!(segment.ack <= self.max, "acknowledges data that was never sent");
        self.note_header(segment);
        if segment.ack > self.una {
            self.advance_to(segment.ack, facts, &mut on_delivered);
        }
        if segment.sack_count() > 0 {
            self.sack = true;
            facts.dsack = dsack_block(segment);
            let skip = usize::from(facts.dsack.is_some());
            for block in segment.sack_blocks().skip(skip) {
                self.mark_sacked(&block, facts, &mut on_delivered);
            }
            if let (Some(range), true) = (facts.dsack, self.retrans_out > 0) {
                self.end_retrans_out(&range);
            }
        }
        self.totals.duplicates += u64::from(facts.duplicate);
    }

    /// Records the window and the SACK offer of a segment.
    #[inline]
    pub(crate) fn note_header(&mut self, segment: &Segment) {
        self.window = Some(segment.window);
        self.sack |= self.offers_sack && segment.syn_options().sack_permitted;
    }

    fn advance_to(
        &mut self,
        ack: Seq,
        facts: &mut AckFacts,
        on_delivered: &mut impl FnMut(&Sent, &AckFacts),
    ) {
        self.una = ack;
        while let Some(segment) = self.segments.front() {
            if segment.end() > ack {
                if segment.seq < ack {
                    self.trim_head(ack);
                }
                return;
            }
            let Some(segment) = self.segments.pop_front() else { return };
            self.forget_marks(&segment, segment.len);
            let taken = u32::from(segment.flags.any(Flags::SYN | Flags::FIN));
            self.totals.acked_segments += u64::from(segment.len > taken);
            if !segment.sacked {
                facts.acks_retransmission |= segment.was_retransmitted();
                on_delivered(&segment, facts);
            }
            facts.note_original(&segment);
            facts.note_acked_sent(&segment);
            facts.newest_acked = Some(segment);
            if facts.oldest_acked.is_none() {
                facts.oldest_acked = Some(segment);
            }
        }
    }

    /// The head was acknowledged in part; the rest of it begins at `ack`.
    fn trim_head(&mut self, ack: Seq) {
        if let Some(head) = self.segments.front().copied() {
            let cut = ack.since(head.seq) as u32;
            self.forget_marks(&head, cut);
            self.segments[0].seq = ack;
            self.segments[0].len -= cut;
            // The rest may lie within a block now.
            self.forget_blocks();
        }
    }

    #[inline]
    fn forget_marks(&mut self, segment: &Sent, bytes: u32) {
        let bytes = u64::from(bytes);
        if segment.sacked {
            self.sacked -= bytes;
        }
        if segment.lost {
            self.lost -= bytes;
        }
        if segment.retrans_out {
            self.retrans_out -= bytes;
        }
        if segment.lost && segment.retrans_out {
            self.lost_retrans -= bytes;
        }
    }

    /// Limits the capacity to four times the outstanding segments. An end that only receives sends
    /// nothing after the handshake, and many flows have their largest windows at different times.
    /// The variation of congestion avoidance stays within the limit.
    pub fn shrink(&mut self) {
        self.segments.shrink_to(4 * self.segments.len());
    }
}

/// The least capacity, in segments, of a flight with more than a SYN, so that the ring grows
/// rarely.
const CAPACITY: usize = 4;

/// The TSval of a segment, zero without timestamps.
fn timestamp_of(segment: &Segment) -> u32 {
    segment.timestamps().map_or(0, |timestamps| timestamps.value)
}

/// The D-SACK block: the first one, if it lies below the acknowledgment number or within the
/// second (RFC 2883 section 4).
pub(crate) fn dsack_block(segment: &Segment) -> Option<DsackBlock> {
    let mut blocks = segment.sack_blocks();
    let first = blocks.next()?;
    let below = first.end <= segment.ack;
    let within =
        blocks.next().is_some_and(|second| second.start <= first.start && first.end <= second.end);
    let valid = first.start < first.end && (below || within);
    valid.then_some(DsackBlock { start: first.start, end: first.end })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 2883 section 4: the first block reports a duplicate if it is below the acknowledgment
    /// number, or if the second block contains it.
    #[test]
    fn the_first_block_is_a_dsack_below_the_ack_or_within_the_second() {
        let seq = |kilobytes: u32| Seq::FIRST + 1000 * kilobytes;
        for (blocks, is_dsack) in [
            (&[(1, 2)][..], true),
            (&[(9, 10)], true),
            (&[(9, 11)], false),
            (&[(12, 13)], false),
            (&[(12, 13), (11, 15)], true),
            (&[(12, 13), (12, 13)], true),
            (&[(12, 13), (13, 15)], false),
            (&[(12, 14), (11, 13)], false),
            (&[(12, 13), (14, 15)], false),
            // Empty blocks and blocks that end before they begin.
            (&[(5, 5)], false),
            (&[(6, 5)], false),
            (&[(12, 12), (11, 15)], false),
            (&[], false),
        ] {
            let mut segment = Segment::new(Seq::FIRST, 0, Flags::ACK);
            segment.ack = seq(10);
            for (start, end) in blocks {
                segment.push_sack(seq(*start)..seq(*end));
            }
            let expected = blocks.first().filter(|_| is_dsack);
            let expected = expected.map(|(start, end)| (seq(*start), seq(*end)));
            let found = dsack_block(&segment).map(|block| (block.start, block.end));
            assert_eq!(found, expected, "{blocks:?}");
        }
    }
}
