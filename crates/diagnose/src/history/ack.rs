//! An ACK in its context, just after the flight processed it.

use rtolab_tcp::{AckFacts, Flight, Segment, Seq};
use rtolab_time::Instant;

use crate::rtt::RoundTrips;

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

    /// Does it repeat the previous ACK?
    pub fn repeats(&self) -> bool {
        let facts = self.facts;
        let nothing_new = facts.ack == facts.una_before && facts.newly_sacked == 0;
        nothing_new && (facts.duplicate || facts.dsack.is_some())
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
