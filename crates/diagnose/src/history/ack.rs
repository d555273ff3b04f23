//! An ACK with its context: the flight and the round-trip times just after it was processed.

use rtolab_tcp::{AckFacts, Flags, Flight, Segment, Seq};
use rtolab_time::{Duration, Instant};

use super::range::RetransmittedRange;
use crate::rtt::RttStatistics;

/// The longest time for which a receiver may delay an ACK (RFC 9293 section 3.8.6.3).
pub(crate) const LONGEST_DELAYED_ACK: Duration = Duration::from_millis(500);

/// An ACK with its context.
pub(crate) struct Ack<'a> {
    pub segment: &'a Segment,
    pub facts: &'a AckFacts,
    pub frame: u64,
    pub flight: &'a Flight,
    pub rtt: &'a RttStatistics,
    /// The number of duplicate ACKs between the last ACK of new data and this one.
    pub duplicates: u32,
    /// When an ACK last reported a gap.
    pub gap: Option<Instant>,
    /// When the newest original that this ACK is the first to report was sent. Retransmitted
    /// segments do not count.
    pub delivered_original: Option<Instant>,
    /// May the capture have cut off SACK blocks of this connection?
    pub is_sack_cut: bool,
}

impl Ack<'_> {
    /// Does the receiver use SACK, or may it?
    pub fn may_have_sack(&self) -> bool {
        self.is_sack_cut || self.flight.uses_sack()
    }

    /// Does it acknowledge all of this range, cumulatively or selectively?
    pub fn reports(&self, start: Seq, end: Seq) -> bool {
        let skip = usize::from(self.facts.dsack.is_some());
        let mut blocks = self.segment.sack_blocks().skip(skip);
        end <= self.facts.ack || blocks.any(|block| block.start <= start && end <= block.end)
    }

    /// May this ACK, the first to cover the range, be the delayed ACK of the original, which the
    /// receiver sent when a copy arrived? That needs that no later data arrived before the copy:
    /// the receiver would have acknowledged both at once (RFC 5681 section 4.2).
    pub fn may_be_delayed(&self, range: &RetransmittedRange) -> bool {
        let [original, copy, ..] = &range.copies[..] else { return false };
        let newest = self.facts.newest_acked.filter(|sent| sent.seq >= range.end);
        original.at > Instant::START
            && !range.is_syn
            && copy.at.since(original.at) <= LONGEST_DELAYED_ACK
            && newest.is_none_or(|sent| sent.first_sent >= copy.at)
            && self.gap.is_none_or(|gap| gap < original.at)
    }

    /// Was nothing sent between the original and the first copy of the range?
    pub fn nothing_followed(&self, range: &RetransmittedRange) -> bool {
        let retransmitted = range.first_retransmitted();
        self.next_sent().is_none_or(|sent| Some(sent) >= retransmitted)
    }

    /// Does it report nothing new?
    pub fn is_duplicate(&self) -> bool {
        let facts = self.facts;
        let nothing_new = facts.ack == facts.una_before && facts.newly_sacked == 0;
        // RFC 5681 calls it no duplicate ACK if nothing is outstanding or if it has a SYN, but it
        // still answers a copy.
        let answers = facts.repeats || self.segment.flags.has(Flags::SYN);
        nothing_new && (facts.duplicate || facts.dsack.is_some() || answers)
    }

    /// When the segment at the acknowledgment number was first sent, if data is outstanding.
    pub fn next_sent(&self) -> Option<Instant> {
        self.flight.head().map(|head| head.first_sent)
    }
}

/// When the newest original that this ACK is the first to report was sent. Retransmitted segments
/// do not count.
pub(crate) fn delivered_original(facts: &AckFacts, flight: &Flight) -> Option<Instant> {
    let newest = facts.newest_acked.filter(|sent| !sent.was_retransmitted());
    let newest = newest.map(|sent| sent.first_sent);
    let highest = facts.sacked_end.and_then(|end| flight.segment_at(end - 1));
    let highest = highest.filter(|sent| !sent.was_retransmitted()).map(|sent| sent.first_sent);
    newest.max(highest)
}
