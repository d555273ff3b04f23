//! Retransmissions whose duplicate ACKs may still come.
//!
//! A receiver acknowledges at once data that it already has. With SACK only that causes an ACK
//! without news.

use std::collections::VecDeque;

use rtolab_time::{Duration, Instant};

/// The most retransmissions remembered.
const MOST_WAITING: usize = 4096;

/// Retransmissions whose duplicate ACKs may still come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unanswered {
    /// When they were sent.
    waiting: VecDeque<Instant>,
    /// Duplicate ACKs since the last arrival of an original.
    duplicates: usize,
}

impl Unanswered {
    pub fn retransmitted(&mut self, at: Instant) {
        if self.waiting.len() == MOST_WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back(at);
    }

    /// A duplicate ACK without news arrives. No answer takes less than `soonest`.
    pub fn on_duplicate(&mut self, at: Instant, soonest: Duration) {
        let answers = self.waiting.front().is_some_and(|&sent| at.since(sent) >= soonest);
        self.duplicates += usize::from(answers);
    }

    /// An original sent at `sent` arrived. Returns when the first and the last of the
    /// retransmissions before it were sent if duplicate ACKs answered each of them.
    pub fn answered_before(&self, sent: Instant) -> Option<(Instant, Instant)> {
        let count = self.waiting_before(sent)?;
        let at_once = self.waiting.get(count) == Some(&sent);
        (self.duplicates == count && !at_once).then(|| (self.waiting[0], self.waiting[count - 1]))
    }

    /// Forgets the retransmissions before that original: their answers came or never will.
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
