//! What became of the copies of each segment: was a retransmission needed?
//!
//! A copy delivers its data where its receiver has them from then on. What PAWS drops (RFC 7323
//! section 5) does not: its data are needed once more.

use rtolab_tcp::Seq;

/// Every segment of a flow that was sent more than once, and its earliest copy that was taken.
///
/// A retransmission is unneeded if an earlier copy delivered every byte of it, before or after.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    /// The highest sequence number of them: kept here, for few segments need more to be looked at.
    last: Seq,
    /// By sequence number.
    segments: Vec<Resent>,
}

/// A segment that was sent more than once.
#[derive(Clone, Copy, Debug)]
pub struct Resent {
    seq: Seq,
    /// Copies beyond the first.
    retransmissions: u16,
    /// The lowest order of a copy that was taken; the first copy has order 0.
    delivered: u16,
}

/// No copy was taken.
const NONE: u16 = u16::MAX;

impl Copies {
    /// The copy of order `order` of the segment at `seq` leaves; `at_receiver` says whether the
    /// receiver has all of it already.
    pub fn resent(&mut self, seq: Seq, order: u16, at_receiver: bool) {
        match self.segments.binary_search_by_key(&seq, |segment| segment.seq) {
            Ok(index) => self.segments[index].retransmissions = order,
            Err(index) => {
                let delivered = if at_receiver { 0 } else { NONE };
                self.segments.insert(index, Resent { seq, retransmissions: order, delivered });
                self.last = self.last.max(seq);
            }
        }
    }

    /// May the segment at `seq` have been sent twice? One comparison for what lies beyond all that
    /// were.
    #[inline]
    pub fn may_hold(&self, seq: Seq) -> bool {
        seq <= self.last
    }

    /// The copy of order `order` of the segment at `seq` arrived, and its receiver has all of it.
    #[inline]
    pub fn taken(&mut self, seq: Seq, order: u16) {
        if self.may_hold(seq) {
            self.look_up(seq, order);
        }
    }

    fn look_up(&mut self, seq: Seq, order: u16) {
        if let Ok(index) = self.segments.binary_search_by_key(&seq, |segment| segment.seq) {
            let segment = &mut self.segments[index];
            segment.delivered = segment.delivered.min(order);
        }
    }

    /// The one with the highest sequence number: where the others lie.
    pub fn last(&self) -> Option<&Resent> {
        self.segments.last()
    }

    /// Had, or has since, a copy before the one of order `order` delivered the segment at `seq`?
    pub fn delivered_before(&self, seq: Seq, order: u16) -> bool {
        match self.segments.binary_search_by_key(&seq, |segment| segment.seq) {
            Ok(index) => self.segments[index].delivered < order,
            Err(_) => false,
        }
    }

    /// How many retransmissions there were.
    pub fn retransmissions(&self) -> u64 {
        self.segments.iter().map(|segment| u64::from(segment.retransmissions)).sum()
    }

    /// How many of them were not needed.
    pub fn unneeded(&self) -> u64 {
        let unneeded = |segment: &Resent| segment.retransmissions.saturating_sub(segment.delivered);
        self.segments.iter().map(|segment| u64::from(unneeded(segment))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retransmission_is_unneeded_if_an_earlier_copy_arrives_whenever_it_does() {
        let mut copies = Copies::default();
        let (late, lost, acked) = (Seq::FIRST + 1, Seq::FIRST + 101, Seq::FIRST + 201);
        copies.resent(late, 1, false);
        copies.resent(late, 2, false);
        copies.resent(lost, 1, false);
        copies.resent(lost, 2, false);
        copies.resent(acked, 1, true);
        // The original of the first arrives after both retransmissions left; of the second only
        // the last retransmission does.
        copies.taken(late, 0);
        copies.taken(lost, 2);
        copies.taken(Seq::FIRST + 301, 0);
        assert_eq!((copies.retransmissions(), copies.unneeded()), (5, 3));
        assert!(copies.delivered_before(late, 1) && copies.delivered_before(late, 2));
        assert!(!copies.delivered_before(lost, 1) && !copies.delivered_before(lost, 2));
        assert!(copies.delivered_before(acked, 1));
    }
}
