//! The segments whose acknowledgments the receiver delays (Psaras and Tsaoussidis, "The TCP Minimum
//! RTO Revisited", 2007, section 4).
//!
//! A receiver that acknowledges every second segment delays the acknowledgment of the last segment
//! of an odd number. The sender counts the segments of each train that it sends back to back. The
//! RTO has a floor only for such a last segment.

use alloc::collections::VecDeque;

use crate::config::Parity;
use crate::seq::Seq;

/// The parity of the segments sent, and the segments whose ACK may be delayed.
#[derive(Clone, Debug)]
pub(crate) struct DelayedAckTracker {
    /// `set_odd` of the paper: is an odd number of segments sent, so that the last one of the next
    /// train of even length is left over?
    set_odd: bool,
    /// Is the next segment the first one of slow start?
    slow_start_begins: bool,
    /// Do segments sent now belong to a train? Those that duplicate acknowledgments release do not,
    /// because the receiver has a gap and acknowledges at once.
    is_counting: bool,
    /// The number of segments in the current train.
    length: u64,
    /// The end of its last segment.
    last: Seq,
    /// The end of each segment whose acknowledgment may be delayed, in ascending order.
    delayed: VecDeque<Seq>,
}

impl Default for DelayedAckTracker {
    fn default() -> Self {
        Self {
            set_odd: false,
            slow_start_begins: true,
            is_counting: true,
            length: 0,
            last: Seq::FIRST,
            delayed: VecDeque::new(),
        }
    }
}

impl DelayedAckTracker {
    /// Begins a new train, or none unless `is_counting`.
    pub fn begin_train(&mut self, is_counting: bool) {
        self.is_counting = is_counting;
    }

    /// Begins slow start, whose first segment may be a single one (step 1).
    pub fn begin_slow_start(&mut self) {
        self.slow_start_begins = true;
    }

    /// Resets the parity at a timeout or at the end of fast recovery: the receiver acknowledged at
    /// once while it had a gap, and restarts its count (step 6).
    pub fn reset_parity(&mut self) {
        self.set_odd = false;
    }

    /// Records that a segment that ends at `end` is sent in the current train.
    pub fn on_sent(&mut self, end: Seq) {
        self.delayed.retain(|delayed| *delayed != end);
        if core::mem::take(&mut self.slow_start_begins) {
            self.mark_delayed(end);
        }
        if self.is_counting {
            self.length += 1;
            self.last = end;
        }
    }

    /// Marks the segment that ends at `end` as one whose acknowledgment may be delayed, such as a
    /// single retransmission.
    pub fn mark_delayed(&mut self, end: Seq) {
        if let Err(index) = self.delayed.binary_search(&end) {
            self.delayed.insert(index, end);
        }
    }

    /// Ends the train (steps 2 to 5). `una` and `smss` give the number of unacknowledged segments.
    /// Returns whether there was a train.
    pub fn end_train(&mut self, parity: Parity, una: Seq, smss: u64) -> bool {
        let length = core::mem::take(&mut self.length);
        if length == 0 {
            return false;
        }
        self.set_odd = match parity {
            Parity::Paper => self.set_odd != (length % 2 == 1),
            Parity::Resync => self.last.since(una).div_ceil(smss) % 2 == 1,
        };
        if self.set_odd {
            self.mark_delayed(self.last);
        }
        true
    }

    /// Everything below `una` is acknowledged.
    pub fn on_ack(&mut self, una: Seq) {
        while self.delayed.front().is_some_and(|end| *end <= una) {
            self.delayed.pop_front();
        }
    }

    /// May the acknowledgment of the segment that ends at `end` be delayed?
    pub fn is_delayed(&self, end: Seq) -> bool {
        self.delayed.binary_search(&end).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// Sends trains of segments of one byte after slow start. Returns for each train the number of
    /// the segment whose ACK may be delayed, counted from one.
    fn delayed_segments(parity: Parity, lengths: &[u32]) -> Vec<Option<u32>> {
        let mut tracker =
            DelayedAckTracker { slow_start_begins: false, ..DelayedAckTracker::default() };
        let mut end = Seq::FIRST;
        let train = |length: &u32| {
            let una = end;
            for _ in 0..*length {
                end += 1;
                tracker.on_sent(end);
            }
            tracker.end_train(parity, una, 1);
            let mut waiting = (1..=*length).filter(|number| tracker.is_delayed(una + *number));
            let first = waiting.next();
            assert_eq!(waiting.next(), None);
            first
        };
        lengths.iter().map(train).collect()
    }

    #[test]
    fn t_mr_1_odd_trains_toggle_the_floor() {
        let waiting = delayed_segments(Parity::Paper, &[2, 2, 3, 2, 2, 1, 2]);
        assert_eq!(waiting, [None, None, Some(3), Some(2), Some(2), None, None]);
    }

    #[test]
    fn t_mr_2_figure_4() {
        // Trains of two segments up to packet 1478, then one of three, then again of two.
        let waiting = delayed_segments(Parity::Paper, &[2, 2, 2, 3, 2, 2, 2]);
        assert_eq!(waiting, [None, None, None, Some(3), Some(2), Some(2), Some(2)]);
    }

    #[test]
    fn t_mr_6_an_empty_train_changes_nothing() {
        let waiting = delayed_segments(Parity::Paper, &[3, 0, 2, 0, 1, 0, 2]);
        assert_eq!(waiting, [Some(3), None, Some(2), None, None, None, None]);
    }

    #[test]
    fn with_resync_the_outstanding_data_counts() {
        // Everything before each train is acknowledged, so that only its own length counts.
        let waiting = delayed_segments(Parity::Resync, &[2, 3, 2, 1, 2]);
        assert_eq!(waiting, [None, Some(3), None, Some(1), None]);
    }

    #[test]
    fn a_segment_retransmitted_in_another_train_is_no_longer_the_last() {
        let mut tracker =
            DelayedAckTracker { slow_start_begins: false, ..DelayedAckTracker::default() };
        tracker.on_sent(Seq::FIRST + 1);
        tracker.end_train(Parity::Paper, Seq::FIRST, 1);
        assert!(tracker.is_delayed(Seq::FIRST + 1));
        tracker.reset_parity();
        tracker.on_sent(Seq::FIRST + 1);
        tracker.on_sent(Seq::FIRST + 2);
        tracker.end_train(Parity::Paper, Seq::FIRST, 1);
        assert!(!tracker.is_delayed(Seq::FIRST + 1) && !tracker.is_delayed(Seq::FIRST + 2));
    }
}
