//! The order of transmissions, and the number of duplicate ACKs between two ACKs of new data.

use std::collections::VecDeque;

use rtolab_tcp::{Segment, Seq};
use rtolab_time::Instant;

/// The maximum number of transmissions kept.
const MAX_SENT: usize = 4096;

/// The transmissions since the first retransmission, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct TransmissionOrder {
    sent: VecDeque<(Seq, Instant)>,
    /// The number of duplicate ACKs since the last ACK of new data.
    duplicates: usize,
}

impl TransmissionOrder {
    /// Adds a transmission.
    pub fn sent(&mut self, segment: &Segment, at: Instant) {
        if segment.sequence_length() == 0 {
            return;
        }
        if self.sent.len() == MAX_SENT {
            self.sent.pop_front();
        }
        self.sent.push_back((segment.seq, at));
    }

    /// Discards the order, because nothing is retransmitted, the capture lacks a packet, or a probe
    /// was sent.
    pub fn forget(&mut self) {
        self.sent.clear();
        self.duplicates = 0;
    }

    pub const fn on_duplicate(&mut self) {
        self.duplicates += 1;
    }

    /// The index of this transmission.
    pub fn index_of(&self, answered: (Seq, Instant)) -> Option<usize> {
        self.sent.iter().position(|&sent| sent == answered)
    }

    /// The transmissions that the duplicate ACKs before the latest ACK of new data answered. That
    /// ACK answered the transmission at this index. The n duplicate ACKs answered the n
    /// transmissions before it.
    pub fn followed(&self, answered: Option<usize>) -> impl Iterator<Item = (Seq, Instant)> {
        let index = answered.unwrap_or(0);
        self.sent.range(index.saturating_sub(self.duplicates)..index).copied()
    }

    /// Removes the transmissions up to the one that an ACK of new data answers.
    pub fn acked(&mut self, answered: Option<usize>) {
        self.duplicates = 0;
        if let Some(index) = answered {
            self.sent.drain(..=index);
        }
    }
}
