//! Retransmissions whose duplicate ACKs may still arrive.
//!
//! A receiver acknowledges a segment that it already has at once. With SACK, no other segment
//! causes an ACK that reports nothing new.

use std::collections::VecDeque;

use rtolab_time::{Duration, Instant};

/// The maximum number of retransmissions kept.
const MAX_KEPT: usize = 4096;

/// Retransmissions whose duplicate ACKs may still arrive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unanswered {
    /// When they were sent, oldest first.
    sent: VecDeque<Instant>,
    /// The number of duplicate ACKs since the last arrival of an original.
    duplicates: usize,
}

impl Unanswered {
    pub fn on_retransmission(&mut self, at: Instant) {
        if self.sent.len() == MAX_KEPT {
            self.sent.pop_front();
        }
        self.sent.push_back(at);
    }

    /// Processes an ACK that reports nothing new. It answers a retransmission only if `soonest` has
    /// passed since then.
    pub fn on_duplicate(&mut self, at: Instant, soonest: Duration) {
        let answers = self.sent.front().is_some_and(|&sent| at.since(sent) >= soonest);
        self.duplicates += usize::from(answers);
    }

    /// When the first and the last of the retransmissions before `sent` were sent, if duplicate
    /// ACKs answered each of them. An original sent at `sent` has arrived.
    pub fn answered_before(&self, sent: Instant) -> Option<(Instant, Instant)> {
        let count = self.sent_before(sent)?;
        let at_once = self.sent.get(count) == Some(&sent);
        (self.duplicates == count && !at_once).then(|| (self.sent[0], self.sent[count - 1]))
    }

    /// Removes the retransmissions before `sent`: an original sent later has arrived, so no further
    /// answers to them will.
    pub fn forget_before(&mut self, sent: Instant) {
        if let Some(count) = self.sent_before(sent) {
            self.sent.drain(..count);
            self.duplicates = 0;
        }
    }

    fn sent_before(&self, at: Instant) -> Option<usize> {
        self.sent.front().filter(|&&first| first < at)?;
        Some(self.sent.partition_point(|&sent| sent < at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOONEST: Duration = Duration::from_millis(60);

    fn at(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    /// Retransmissions at 10 and 20 ms, and duplicate ACKs at these times.
    fn answers(duplicates: &[u64]) -> Unanswered {
        let mut unanswered = Unanswered::default();
        for millis in [10, 20] {
            unanswered.on_retransmission(at(millis));
        }
        for millis in duplicates {
            unanswered.on_duplicate(at(*millis), SOONEST);
        }
        unanswered
    }

    #[test]
    fn as_many_duplicate_acks_as_retransmissions_answer_each() {
        let both = Some((at(10), at(20)));
        assert_eq!(answers(&[70, 80]).answered_before(at(30)), both);
        assert_eq!(answers(&[70]).answered_before(at(30)), None, "one ACK is missing");
        assert_eq!(answers(&[70, 80, 90]).answered_before(at(30)), None, "one has another cause");
        assert_eq!(answers(&[69, 80]).answered_before(at(30)), None, "the first comes too soon");
        assert_eq!(answers(&[]).answered_before(at(10)), None, "nothing was sent before");
        assert_eq!(answers(&[70]).answered_before(at(15)), Some((at(10), at(10))));
        assert_eq!(answers(&[70]).answered_before(at(20)), None, "the second left at that time");
    }

    #[test]
    fn an_original_that_arrived_ends_the_wait_for_those_before() {
        let mut unanswered = answers(&[70]);
        unanswered.forget_before(at(20));
        assert_eq!(unanswered.answered_before(at(30)), None);
        unanswered.on_duplicate(at(80), SOONEST);
        assert_eq!(unanswered.answered_before(at(30)), Some((at(20), at(20))));
        // Nothing was sent before, so that the count goes on.
        unanswered.forget_before(at(20));
        assert_eq!(unanswered.answered_before(at(30)), Some((at(20), at(20))));
    }

    #[test]
    fn the_oldest_of_too_many_are_forgotten() {
        let mut unanswered = Unanswered::default();
        (0..=MAX_KEPT as u64).for_each(|millis| unanswered.on_retransmission(at(millis)));
        (0..MAX_KEPT).for_each(|_| unanswered.on_duplicate(at(1_000_000), SOONEST));
        let last = at(MAX_KEPT as u64);
        assert_eq!(unanswered.answered_before(at(1_000_000)), Some((at(1), last)));
    }
}
