//! The retransmissions whose duplicate ACKs may still come.
//!
//! A receiver acknowledges at once what it has already. With SACK such an ACK carries no news, and
//! nothing else causes one.

use std::collections::VecDeque;

use rtolab_time::{Duration, Instant};

/// At most this many retransmissions wait.
const MOST_WAITING: usize = 4096;

/// The retransmissions whose duplicate ACKs may still come, and how many came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unanswered {
    /// When they left.
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

    /// A duplicate ACK without news comes. No answer takes less than `soonest`.
    pub fn on_duplicate(&mut self, at: Instant, soonest: Duration) {
        let answers = self.waiting.front().is_some_and(|&sent| at.since(sent) >= soonest);
        self.duplicates += usize::from(answers);
    }

    /// An original arrived that was sent at this time. From first to last, when those
    /// retransmissions before it left of which a duplicate ACK answered each.
    pub fn answered_before(&self, sent: Instant) -> Option<(Instant, Instant)> {
        let count = self.waiting_before(sent)?;
        let at_once = self.waiting.get(count) == Some(&sent);
        (self.duplicates == count && !at_once).then(|| (self.waiting[0], self.waiting[count - 1]))
    }

    /// Retransmissions before that original were answered, or never will be.
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
