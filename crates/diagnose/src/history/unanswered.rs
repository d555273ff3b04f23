//! Retransmissions whose duplicate ACKs may still arrive.
//!
//! A receiver acknowledges a segment that it already has at once. With SACK, no other segment
//! causes an ACK that reports nothing new.

use std::collections::VecDeque;

use rtolab_time::{Duration, Instant};

/// The maximum number of retransmissions kept.
const MAX_WAITING: usize = 4096;

/// Retransmissions whose duplicate ACKs may still arrive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unanswered {
    /// When they were sent.
    waiting: VecDeque<Instant>,
    /// The number of duplicate ACKs since the last arrival of an original.
    duplicates: usize,
}

impl Unanswered {
    pub fn on_retransmission(&mut self, at: Instant) {
        if self.waiting.len() == MAX_WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back(at);
    }

    /// Processes an ACK that reports nothing new. It answers a retransmission only if `soonest` has
    /// passed since then.
    pub fn on_duplicate(&mut self, at: Instant, soonest: Duration) {
        let answers = self.waiting.front().is_some_and(|&sent| at.since(sent) >= soonest);
        self.duplicates += usize::from(answers);
    }

    /// When the first and the last of the retransmissions before `sent` were sent, if duplicate
    /// ACKs answered each of them. An original sent at `sent` has arrived.
    pub fn answered_before(&self, sent: Instant) -> Option<(Instant, Instant)> {
        let count = self.waiting_before(sent)?;
        let at_once = self.waiting.get(count) == Some(&sent);
        (self.duplicates == count && !at_once).then(|| (self.waiting[0], self.waiting[count - 1]))
    }

    /// Removes the retransmissions before `sent`: an original sent later has arrived, so no further
    /// answers to them will.
    pub fn forget_before(&mut self, sent: Instant) {
        if let Some(count) = self.waiting_before(sent) {
            self.waiting.drain(..count);
            self.duplicates = 0;
        }
    }

    fn waiting_before(&self, sent: Instant) -> Option<usize> {
        self.waiting.front().filter(|&&first| first < sent)?;
        Some(self.waiting.partition_point(|&at| at < sent))
    }
}
