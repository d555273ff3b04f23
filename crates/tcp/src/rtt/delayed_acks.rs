//! Which segments' acknowledgments the receiver delays: Psaras and Tsaoussidis, "The TCP Minimum
//! RTO Revisited", 2007, section 4.
//!
//! A receiver that acknowledges every second segment delays the acknowledgment of the last one of
//! an odd number. The sender counts the segments of each train that it sends back to back, and only
//! for such a last one the timeout has a floor.

use alloc::collections::VecDeque;

use crate::config::Parity;
use crate::seq::Seq;

/// The parity of what was sent, and the segments that a receiver may leave waiting.
#[derive(Clone, Debug)]
pub(crate) struct DelayedAckTracker {
    /// `set_odd` of the paper: the last segment of the next train of an even number is left over.
    set_odd: bool,
    /// Is the next segment the first one of slow start?
    begins: bool,
    /// Do the segments that leave now belong to a train? Those that duplicate acknowledgments
    /// release do not: the receiver has a gap and acknowledges at once.
    counts: bool,
    /// Segments in the train under way.
    length: u64,
    /// The end of the last of them.
    last: Seq,
    /// The end of each segment whose acknowledgment may be delayed, in ascending order.
    delayed: VecDeque<Seq>,
}

impl Default for DelayedAckTracker {
    fn default() -> Self {
        Self {
            set_odd: false,
            begins: true,
            counts: true,
            length: 0,
            last: Seq::FIRST,
            delayed: VecDeque::new(),
        }
    }
}

impl DelayedAckTracker {
    /// What leaves from now on is a train of its own, if it `counts`.
    pub fn begin(&mut self, counts: bool) {
        self.counts = counts;
    }

    /// Slow start begins: its first segment may be a lone one (step 1).
    pub fn slow_start(&mut self) {
        self.begins = true;
    }

    /// A timeout or the end of fast recovery: the receiver has acknowledged at once while it held a
    /// gap, and counts from there (step 6).
    pub fn resume(&mut self) {
        self.set_odd = false;
    }

    /// A segment that ends at `end` leaves with the train under way.
    pub fn sent(&mut self, end: Seq) {
        self.delayed.retain(|delayed| *delayed != end);
        if core::mem::take(&mut self.begins) {
            self.delay(end);
        }
        if self.counts {
            self.length += 1;
            self.last = end;
        }
    }

    /// The segment that ends at `end` is retransmitted by itself: its acknowledgment may be
    /// delayed.
    pub fn delay(&mut self, end: Seq) {
        if let Err(index) = self.delayed.binary_search(&end) {
            self.delayed.insert(index, end);
        }
    }

    /// The train is complete (steps 2 to 5); `una` and `smss` tell how many segments from SND.UNA
    /// on the receiver has not acknowledged. Whether there was a train at all.
    pub fn end(&mut self, parity: Parity, una: Seq, smss: u64) -> bool {
        let length = core::mem::take(&mut self.length);
        if length == 0 {
            return false;
        }
        self.set_odd = match parity {
            Parity::Paper => self.set_odd != (length % 2 == 1),
            Parity::Resync => self.last.since(una).div_ceil(smss) % 2 == 1,
        };
        if self.set_odd {
            self.delay(self.last);
        }
        true
    }

    /// All below `una` is acknowledged.
    pub fn acked(&mut self, una: Seq) {
        while self.delayed.front().is_some_and(|end| *end <= una) {
            self.delayed.pop_front();
        }
    }

    /// May the acknowledgment of the segment that ends at `end` be delayed?
    pub fn delays(&self, end: Seq) -> bool {
        self.delayed.binary_search(&end).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// Sends trains of segments of one byte: which segment of each may be left waiting, counted
    /// from one. Slow start is over.
    fn left_waiting(parity: Parity, lengths: &[u32]) -> Vec<Option<u32>> {
        let mut tracker = DelayedAckTracker { begins: false, ..DelayedAckTracker::default() };
        let mut end = Seq::FIRST;
        let train = |length: &u32| {
            let una = end;
            for _ in 0..*length {
                end += 1;
                tracker.sent(end);
            }
            tracker.end(parity, una, 1);
            let mut waiting = (1..=*length).filter(|number| tracker.delays(una + *number));
            let first = waiting.next();
            assert_eq!(waiting.next(), None);
            first
        };
        lengths.iter().map(train).collect()
    }

    #[test]
    fn t_mr_1_odd_trains_switch_the_floor_on_and_off() {
        let waiting = left_waiting(Parity::Paper, &[2, 2, 3, 2, 2, 1, 2]);
        assert_eq!(waiting, [None, None, Some(3), Some(2), Some(2), None, None]);
    }

    #[test]
    fn t_mr_2_figure_4() {
        // DelayedAckTracker of two up to packet 1478, then three, then twos.
        let waiting = left_waiting(Parity::Paper, &[2, 2, 2, 3, 2, 2, 2]);
        assert_eq!(waiting, [None, None, None, Some(3), Some(2), Some(2), Some(2)]);
    }

    #[test]
    fn t_mr_6_a_train_of_nothing_changes_nothing() {
        let waiting = left_waiting(Parity::Paper, &[3, 0, 2, 0, 1, 0, 2]);
        assert_eq!(waiting, [Some(3), None, Some(2), None, None, None, None]);
    }

    #[test]
    fn with_resync_what_is_outstanding_counts() {
        // All before each train is acknowledged: only its own length matters.
        let waiting = left_waiting(Parity::Resync, &[2, 3, 2, 1, 2]);
        assert_eq!(waiting, [None, Some(3), None, Some(1), None]);
    }

    #[test]
    fn what_is_sent_again_in_another_train_is_no_longer_the_last() {
        let mut tracker = DelayedAckTracker { begins: false, ..DelayedAckTracker::default() };
        tracker.sent(Seq::FIRST + 1);
        tracker.end(Parity::Paper, Seq::FIRST, 1);
        assert!(tracker.delays(Seq::FIRST + 1));
        tracker.resume();
        tracker.sent(Seq::FIRST + 1);
        tracker.sent(Seq::FIRST + 2);
        tracker.end(Parity::Paper, Seq::FIRST, 1);
        assert!(!tracker.delays(Seq::FIRST + 1) && !tracker.delays(Seq::FIRST + 2));
    }
}
