//! The retransmission history of one direction: its retransmitted ranges, all copies of each range,
//! and the ACKs that cover it. It records facts; [`crate::evidence`] draws conclusions.

mod ack;
mod arrivals;
mod evidence;
mod frame;
mod order;
mod range;
#[cfg(test)]
pub(crate) mod samples;
mod still_missing;
mod unanswered;

use std::ops::Range;

use rtolab_tcp::Seq;
use rtolab_tcp::flight::Sent;
use rtolab_time::Instant;

pub(crate) use ack::{Ack, LONGEST_DELAYED_ACK, delivered_original};
pub(crate) use arrivals::{Arrival, Arrivals};
pub use evidence::EvidenceKind;
pub(crate) use evidence::{Bound, Evidence, Finding, TooSoon};
pub(crate) use frame::Frame;
use order::TransmissionOrder;
pub(crate) use range::{
    CoveringAck, DuplicateAck, Original, Retransmission, RetransmittedRange, Transmission,
};
pub(crate) use still_missing::{reported_after, reported_beyond_gap};
use unanswered::Unanswered;

use crate::rtt::TOO_SOON;

/// The maximum number of open ranges. Beyond it the oldest range is settled.
const MAX_RANGES: usize = 4096;

/// The maximum number of copies per range. The next copy begins a new range.
const MAX_COPIES: usize = 256;

/// The newest transmissions that the latest ACK shows to have arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivered {
    /// When the newest retransmission among them was sent.
    pub copy: Option<Instant>,
    /// When the newest of all transmissions among them was sent.
    pub any: Option<Instant>,
    /// Without SACK, the index of the transmission whose arrival advanced the cumulative ACK.
    pub answered: Option<usize>,
}

/// The open ranges of a direction, in the order of their first retransmissions.
#[derive(Clone, Debug, Default)]
pub(crate) struct RetransmissionHistory {
    ranges: Vec<RetransmittedRange>,
    /// When the next range may be settled.
    due: Option<Instant>,
    awaits_ack: bool,
    /// When an ACK last reported a duplicate or data out of order.
    pub last_duplicate: Option<Instant>,
    pub unanswered: Unanswered,
    /// The first SACK block of the latest ACK that has any.
    first_block: Option<Range<Seq>>,
    pub order: TransmissionOrder,
    /// The transmissions that the latest ACK shows to have arrived.
    pub delivered: Delivered,
    /// When the newest transmission known to have arrived was sent, and the frame that shows its
    /// arrival.
    pub newest: Option<(Instant, u64)>,
}

impl RetransmissionHistory {
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Can the next ACK reveal more about a range?
    pub const fn awaits_ack(&self) -> bool {
        self.awaits_ack
    }

    pub fn iter(&self) -> impl Iterator<Item = &RetransmittedRange> {
        self.ranges.iter()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut RetransmittedRange> {
        self.ranges.iter_mut()
    }

    /// Adds evidence about the range at `index`.
    pub fn note(&mut self, index: usize, piece: Evidence) {
        self.ranges[index].note(piece);
    }

    /// Adds a copy of exactly this range. `original` is the first transmission, if it is in flight.
    pub fn on_retransmission(
        &mut self,
        (start, end): (Seq, Seq),
        copy: Transmission,
        original: Option<&Sent>,
    ) -> &mut RetransmittedRange {
        let same = |range: &RetransmittedRange| {
            range.start == start && range.end == end && range.copies.len() < MAX_COPIES
        };
        let known = self.ranges.iter().position(same);
        let index = known.unwrap_or_else(|| {
            let whole = |range: &&RetransmittedRange| range.start <= start && end <= range.end;
            let mut copies = match self.ranges.iter().find(whole) {
                Some(range) => range.copies.iter().take(MAX_COPIES / 2).copied().collect(),
                None => vec![first_copy(original)],
            };
            // The report lists these retransmissions with the other range.
            for copy in &mut copies {
                copy.retransmission = None;
            }
            let is_syn = original.is_some_and(|sent| sent.flags.has(rtolab_tcp::Flags::SYN));
            self.ranges
                .push(RetransmittedRange { is_syn, ..RetransmittedRange::new(start, end, copies) });
            self.ranges.len() - 1
        });
        self.awaits_ack = true;
        let range = &mut self.ranges[index];
        range.copies.push(copy);
        range
    }

    /// Counts D-SACKs and duplicate ACKs.
    pub fn count_duplicates(&mut self, ack: &Ack<'_>) {
        let facts = ack.facts;
        if let Some(block) = facts.dsack {
            for range in self.ranges.iter_mut().filter(|range| range.spans(block.start)) {
                range.duplicates += 1;
                range.last_duplicate = Some(facts.at);
            }
        }
        if facts.dsack.is_some() || !facts.is_new() {
            self.last_duplicate = Some(facts.at);
        }
        if !ack.may_have_sack() {
            if !facts.is_new() && facts.duplicate {
                self.order.on_duplicate();
            }
            return;
        }
        let reports_part = self.reports_part(ack);
        if ack.is_duplicate() && !reports_part && !self.is_first_to_report(ack) {
            let soonest = ack.rtt.min.unwrap_or_default() * TOO_SOON / 100;
            self.unanswered.on_duplicate(facts.at, soonest);
        }
    }

    /// Does its first SACK block, that of the newest arrival (RFC 2018 section 4), report a part of
    /// a super-segment for the first time? The flight knows only whole segments.
    fn reports_part(&mut self, ack: &Ack<'_>) -> bool {
        let skip = usize::from(ack.facts.dsack.is_some());
        let Some(block) = ack.segment.sack_blocks().nth(skip) else { return false };
        let is_inside = |seq| ack.flight.segment_at(seq).is_some_and(|sent| sent.seq < seq);
        let is_part = is_inside(block.start) || is_inside(block.end);
        let before = self.first_block.replace(block.clone());
        is_part && before != Some(block)
    }

    /// Is this ACK the first to report a range? If the capture lacks the original, the flight may
    /// not know that its SACK blocks report something new.
    fn is_first_to_report(&self, ack: &Ack<'_>) -> bool {
        let mut awaited = self.ranges.iter().filter(|range| range.covering_ack.is_none());
        awaited.any(|range| ack.reports(range.start, range.end))
    }

    /// Records this ACK in the ranges that it is the first to cover. Returns whether there are any.
    pub fn cover(&mut self, ack: &Ack<'_>) -> bool {
        let mut covers = false;
        for range in self.ranges.iter_mut().filter(|range| range.covering_ack.is_none()) {
            if ack.reports(range.start, range.end) {
                cover(range, ack);
                covers = true;
            }
        }
        covers
    }

    /// Notes which copies of the range at the acknowledgment number are still missing.
    pub fn note_still_missing(&mut self, ack: &Ack<'_>) {
        let Some(reported) = reported_beyond_gap(ack.flight, (ack.duplicates, ack.gap)) else {
            return;
        };
        let seq = ack.flight.una();
        let mut open = self.ranges.iter_mut().filter(|range| range.covering_ack.is_none());
        if let Some(range) = open.find(|range| range.spans(seq)) {
            range.note_still_missing(reported, ack.frame);
        }
    }

    /// Records the transmissions that arrived according to the ACK and the evidence so far.
    pub fn note_delivered(&mut self, ack: &Ack<'_>, covers: bool) {
        let covered = self.ranges.iter().filter(|range| range.is_covered_by(ack.frame));
        let copies = || covered.filter_map(RetransmittedRange::delivered_copy).max();
        let copy = covers.then(copies).flatten();
        let any = copy.max(ack.delivered_original);
        let answered = self.answered(ack).and_then(|answered| self.order.index_of(answered));
        self.delivered = Delivered { copy, any, answered };
        if let Some(sent) = any.filter(|&sent| self.newest.is_none_or(|(newest, _)| sent > newest))
        {
            self.newest = Some((sent, ack.frame));
        }
    }

    /// Without SACK, the transmission whose arrival advanced the cumulative ACK.
    fn answered(&self, ack: &Ack<'_>) -> Option<(Seq, Instant)> {
        let facts = ack.facts;
        if ack.may_have_sack() || !facts.is_new() {
            return None;
        }
        let una = facts.una_before;
        let covered =
            |range: &&RetransmittedRange| range.start == una && range.is_covered_at(facts.at);
        match (self.ranges.iter().find(covered), facts.oldest_acked) {
            (Some(range), _) => range.delivered_copy().map(|at| (una, at)),
            (None, Some(oldest)) if oldest.seq == una && !oldest.was_retransmitted() => {
                Some((una, oldest.first_sent))
            }
            (None, _) => None,
        }
    }

    /// Updates the state that depends on later ACKs.
    pub fn finish_ack(&mut self, ack: &Ack<'_>) {
        let facts = ack.facts;
        if !ack.may_have_sack() && facts.is_new() {
            self.order.on_ack(self.delivered.answered);
        }
        if !self.awaits_ack {
            return;
        }
        for range in &mut self.ranges {
            let Some(last) = range.copies.last().map(|copy| copy.at) else { continue };
            if let Some(next) = range.expected_next.filter(|_| range.awaits_next) {
                if next < facts.ack {
                    range.awaits_next = false;
                    let oldest = facts.oldest_acked.filter(|sent| !sent.was_retransmitted());
                    range.expected_next = range
                        .expected_next
                        .filter(|_| oldest.is_none_or(|oldest| oldest.seq > next));
                }
            }
            let covering = range.covering_ack.as_mut();
            if let Some(covering) = covering.filter(|one| one.is_awaited() && one.at < facts.at) {
                if self.delivered.any.is_some_and(|sent| sent > last) {
                    covering.duplicate = DuplicateAck::Missing;
                } else if ack.is_duplicate() {
                    covering.duplicate = DuplicateAck::Came;
                }
            }
        }
        self.update_awaited();
    }

    /// Schedules the settlement of a covered range.
    pub fn settle_at(&mut self, due: Instant) {
        self.due = Some(self.due.map_or(due, |earliest| earliest.min(due)));
    }

    /// Removes and returns the ranges about which later ACKs reveal nothing more.
    pub fn settled(&mut self, at: Instant) -> Vec<RetransmittedRange> {
        let over = self.ranges.len() > MAX_RANGES;
        if !over && self.due.is_none_or(|due| at < due) {
            return Vec::new();
        }
        let mut settled = Vec::new();
        if over {
            settled.push(self.ranges.remove(0));
        }
        let ranges = std::mem::take(&mut self.ranges);
        let (done, open): (Vec<_>, Vec<_>) = ranges.into_iter().partition(|one| one.due <= at);
        self.ranges = open;
        settled.extend(done);
        for ack in settled.iter_mut().filter_map(|range| range.covering_ack.as_mut()) {
            if ack.is_awaited() {
                ack.duplicate = DuplicateAck::Missing;
            }
        }
        self.update_awaited();
        settled
    }

    /// Removes and returns all ranges.
    pub fn take_all(&mut self) -> Vec<RetransmittedRange> {
        self.due = None;
        std::mem::take(&mut self.ranges)
    }

    /// Updates whether an ACK is awaited, and when the next range may be settled.
    fn update_awaited(&mut self) {
        let awaits = |range: &RetransmittedRange| {
            range.awaits_next || range.covering_ack.is_none_or(|ack| ack.is_awaited())
        };
        self.awaits_ack = self.ranges.iter().any(awaits);
        let due = self.ranges.iter().map(|range| range.due).filter(|&due| due != Instant::NEVER);
        self.due = due.min();
    }
}

/// Records the first ACK that covers the range.
fn cover(range: &mut RetransmittedRange, ack: &Ack<'_>) {
    let facts = ack.facts;
    let retransmitted = range.first_retransmitted().unwrap_or(facts.at);
    let newly_acked = facts.advanced.saturating_sub(facts.sacked_before);
    range.covering_ack = Some(CoveringAck {
        at: facts.at,
        frame: ack.frame,
        reports_duplicate: facts.dsack.is_some_and(|block| range.spans(block.start)),
        has_dsack: facts.dsack.is_some(),
        all: ack.next_sent().is_none_or(|sent| sent >= retransmitted),
        jumps: newly_acked > 2 * range.end.since(range.start),
        may_be_delayed: ack.may_be_delayed(range),
        duplicate: DuplicateAck::Awaited,
    });
    // If a queue has built up, copies take as long as their originals.
    let waited = facts.at.since(retransmitted.min(facts.at));
    range.due = facts.at + ack.rtt.answer_deadline().max(waited * 2);
    if range.end <= facts.ack {
        range.expected_next = Some(facts.ack);
        range.awaits_next = true;
    }
}

/// The original. If the capture lacks it, it counts as sent before all others.
fn first_copy(original: Option<&Sent>) -> Transmission {
    Transmission {
        at: original.map_or(Instant::START, |sent| sent.first_sent),
        timestamp: original.map(|sent| sent.first_timestamp).filter(|&value| value > 0),
        retransmission: None,
    }
}

#[cfg(test)]
mod tests {
    use super::samples::{at, covering_ack, range};
    use super::*;

    /// Ranges that may be settled at these times in milliseconds.
    fn history(due: &[u64]) -> RetransmissionHistory {
        let mut history = RetransmissionHistory::default();
        for due in due {
            let covering_ack = Some(covering_ack(50));
            let due = at(*due);
            history.ranges.push(RetransmittedRange { covering_ack, due, ..range(&[10, 20]) });
            history.settle_at(due);
        }
        history
    }

    #[test]
    fn ranges_are_settled_when_they_are_due() {
        let mut open = history(&[300, 100, 200]);
        assert_eq!((open.len(), open.is_empty()), (3, false));
        assert!(open.settled(at(99)).is_empty());
        let settled = open.settled(at(200));
        assert_eq!(settled.iter().map(|one| one.due).collect::<Vec<_>>(), [at(100), at(200)]);
        let no_duplicate = |one: &RetransmittedRange| {
            one.covering_ack.is_some_and(|ack| ack.duplicate == DuplicateAck::Missing)
        };
        assert!(settled.iter().all(no_duplicate), "no duplicate ACK came");
        assert!(open.settled(at(299)).is_empty());
        assert_eq!(open.settled(at(300)).len(), 1);
        assert!(open.is_empty());
    }

    #[test]
    fn of_too_many_ranges_the_oldest_is_settled() {
        let mut open = history(&vec![1000; MAX_RANGES]);
        assert!(open.settled(at(0)).is_empty());
        open.ranges.push(range(&[10, 20]));
        assert_eq!((open.settled(at(0)).len(), open.len()), (1, MAX_RANGES));
        assert_eq!(open.take_all().len(), MAX_RANGES);
    }

    /// A retransmission of the same range is a copy of it, one of a part begins a range of its own.
    #[test]
    fn a_range_has_its_copies() {
        let mut open = RetransmissionHistory::default();
        let copy = |millis| Transmission { at: at(millis), ..range(&[10, 20]).copies[1] };
        let (start, middle, end) = (Seq::FIRST + 1, Seq::FIRST + 501, Seq::FIRST + 1001);
        open.on_retransmission((start, end), copy(100), None);
        open.on_retransmission((start, end), copy(300), None);
        assert_eq!(open.iter().map(|one| one.copies.len()).collect::<Vec<_>>(), [3]);
        assert!(open.awaits_ack());
        // The whole was sent before, and its copies were copies of the part.
        open.on_retransmission((middle, end), copy(700), None);
        let lengths: Vec<_> = open.iter().map(|one| one.copies.len()).collect();
        assert_eq!(lengths, [3, 4]);
        let of_part: Vec<_> = open.iter().last().expect("a range").retransmissions().collect();
        assert_eq!(of_part.len(), 1, "the others are listed with the whole");
        assert!(open.iter().all(|one| one.spans(middle) && !one.spans(end)));
    }
}
