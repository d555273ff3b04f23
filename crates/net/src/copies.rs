//! The deliveries of retransmitted segments, which show whether retransmissions were needed.
//!
//! A copy that PAWS drops (RFC 7323 section 5) does not deliver its data.

use rtolab_tcp::Seq;

/// All segments that a flow retransmitted, with the earliest copy of each that was delivered.
///
/// A retransmission is unneeded if an earlier copy delivers all of its bytes, even after the
/// retransmission.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    /// The highest sequence number of `segments`. Most segments are above it, so one comparison
    /// often suffices.
    last: Seq,
    /// The segments, sorted by sequence number.
    segments: Vec<RetransmittedSegment>,
}

/// A segment that was retransmitted.
#[derive(Clone, Copy, Debug)]
pub struct RetransmittedSegment {
    seq: Seq,
    retransmissions: u16,
    /// The lowest order of a delivered copy; the original has order 0.
    delivered: u16,
}

/// The value of `delivered` if no copy was delivered.
const UNDELIVERED: u16 = u16::MAX;

impl Copies {
    /// Adds a retransmission: the copy of order `order` of the segment at `seq`. `at_receiver` is
    /// whether the receiver already has all of the segment.
    #[inline]
    pub fn retransmitted(&mut self, seq: Seq, order: u16, at_receiver: bool) {
        match self.segments.binary_search_by_key(&seq, |segment| segment.seq) {
            Ok(index) => self.segments[index].retransmissions = order,
            Err(index) => {
                let delivered = if at_receiver { 0 } else { UNDELIVERED };
                self.segments
                    .insert(index, RetransmittedSegment { seq, retransmissions: order, delivered });
                self.last = self.last.max(seq);
            }
        }
    }

    /// May the segment at `seq` have been retransmitted? The check is one comparison.
    #[inline]
    pub fn may_contain(&self, seq: Seq) -> bool {
        seq <= self.last
    }

    /// Records the delivery of the copy of order `order` of the segment at `seq`.
    #[inline]
    pub fn delivered(&mut self, seq: Seq, order: u16) {
        if self.may_contain(seq) {
            self.record_delivery(seq, order);
        }
    }

    fn record_delivery(&mut self, seq: Seq, order: u16) {
        if let Ok(index) = self.segments.binary_search_by_key(&seq, |segment| segment.seq) {
            let segment = &mut self.segments[index];
            segment.delivered = segment.delivered.min(order);
        }
    }

    /// The segment with the highest sequence number.
    pub fn last(&self) -> Option<&RetransmittedSegment> {
        self.segments.last()
    }

    /// Has a copy of a lower order than `order` delivered the segment at `seq`, at any time?
    pub fn earlier_copy_delivered(&self, seq: Seq, order: u16) -> bool {
        match self.segments.binary_search_by_key(&seq, |segment| segment.seq) {
            Ok(index) => self.segments[index].delivered < order,
            Err(_) => false,
        }
    }

    /// The number of retransmissions.
    pub fn retransmissions(&self) -> u64 {
        self.segments.iter().map(|segment| u64::from(segment.retransmissions)).sum()
    }

    /// The number of unneeded retransmissions.
    pub fn unneeded(&self) -> u64 {
        let unneeded = |segment: &RetransmittedSegment| {
            segment.retransmissions.saturating_sub(segment.delivered)
        };
        self.segments.iter().map(|segment| u64::from(unneeded(segment))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retransmission_is_unneeded_if_an_earlier_copy_arrives_at_any_time() {
        let mut copies = Copies::default();
        let (late, lost, acked) = (Seq::FIRST + 1, Seq::FIRST + 101, Seq::FIRST + 201);
        copies.retransmitted(late, 1, false);
        copies.retransmitted(late, 2, false);
        copies.retransmitted(lost, 1, false);
        copies.retransmitted(lost, 2, false);
        copies.retransmitted(acked, 1, true);
        // The original of `late` arrives after both retransmissions left. Only the last copy of
        // `lost` arrives.
        copies.delivered(late, 0);
        copies.delivered(lost, 2);
        copies.delivered(Seq::FIRST + 301, 0);
        assert_eq!((copies.retransmissions(), copies.unneeded()), (5, 3));
        assert!(copies.earlier_copy_delivered(late, 1) && copies.earlier_copy_delivered(late, 2));
        assert!(!copies.earlier_copy_delivered(lost, 1) && !copies.earlier_copy_delivered(lost, 2));
        assert!(copies.earlier_copy_delivered(acked, 1));
    }
}
