//! An ACK in its context, just after the flight processed it.

use rtolab_tcp::{AckFacts, Flags, Flight, Segment, Seq};
use rtolab_time::{Duration, Instant};

use super::range::RetransmittedRange;
use crate::rtt::RoundTrips;

/// No ACK may be delayed longer (RFC 9293 section 3.8.6.3).
pub(crate) const LONGEST_DELAYED_ACK: Duration = Duration::from_millis(500);

/// An ACK in its context.
pub(crate) struct Ack<'a> {
    pub segment: &'a Segment,
    pub facts: &'a AckFacts,
    pub frame: u64,
    pub flight: &'a Flight,
    pub trips: &'a RoundTrips,
    /// Earlier duplicate ACKs since the last new one.
    pub duplicates: u32,
    /// When an ACK last reported a gap.
    pub gap: Option<Instant>,
    /// When the newest segment was sent of those that were sent once and that this ACK reports
    /// first.
    pub delivered_original: Option<Instant>,
}

impl Ack<'_> {
    /// Does it acknowledge all of this range, cumulatively or selectively?
    pub fn reports(&self, start: Seq, end: Seq) -> bool {
        let skip = usize::from(self.facts.dsack.is_some());
        let mut blocks = self.segment.sack_blocks().skip(skip);
        end <= self.facts.ack || blocks.any(|block| block.start <= start && end <= block.end)
    }

    /// May this ACK, the first to cover the range, be the original's own, delayed until a copy
    /// arrived? No later data had then arrived before the copy: it would have made the receiver
    /// acknowledge both (RFC 5681 section 4.2).
    pub fn may_be_delayed(&self, range: &RetransmittedRange) -> bool {
        let [original, again, ..] = &range.copies[..] else { return false };
        let newest = self.facts.newest_acked.filter(|sent| sent.seq >= range.end);
        original.at > Instant::START
            && !range.is_syn
            && again.at.since(original.at) <= LONGEST_DELAYED_ACK
            && newest.is_none_or(|sent| sent.first_sent >= again.at)
            && self.gap.is_none_or(|gap| gap < original.at)
    }

    /// Was nothing sent between the original and the first copy of the range?
    pub fn nothing_followed(&self, range: &RetransmittedRange) -> bool {
        let again = range.first_retransmitted();
        self.next_sent().is_none_or(|sent| Some(sent) >= again)
    }

    /// Does it repeat the previous ACK?
    pub fn repeats(&self) -> bool {
        let facts = self.facts;
        let nothing_new = facts.ack == facts.una_before && facts.newly_sacked == 0;
        // With nothing outstanding, and to a SYN, it is no duplicate ACK but still an answer.
        let answers = facts.repeats || self.segment.flags.has(Flags::SYN);
        nothing_new && (facts.duplicate || facts.dsack.is_some() || answers)
    }

    /// When the segment at the acknowledgment number was first sent, if data is outstanding.
    pub fn next_sent(&self) -> Option<Instant> {
        self.flight.head().map(|head| head.first_sent)
    }
}

/// When the newest segment was sent of those that were sent once and that these facts report first.
pub(crate) fn delivered_original(facts: &AckFacts, flight: &Flight) -> Option<Instant> {
    let newest = facts.newest_acked.filter(|sent| !sent.was_retransmitted());
    let newest = newest.map(|sent| sent.first_sent);
    let highest = facts.sacked_end.and_then(|end| flight.segment_at(end - 1));
    let highest = highest.filter(|sent| !sent.was_retransmitted()).map(|sent| sent.first_sent);
    newest.max(highest)
}
