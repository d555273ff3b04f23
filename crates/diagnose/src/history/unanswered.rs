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
