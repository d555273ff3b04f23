//! The order of transmissions. It shows which of them caused the duplicate ACKs between two ACKs of
//! new data.

use std::collections::VecDeque;

use rtolab_tcp::{Segment, Seq};
use rtolab_time::Instant;

/// The maximum number of transmissions kept.
const MAX_SENT: usize = 4096;

/// The transmissions since the first pending retransmission, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct TransmissionOrder {
    sent: VecDeque<(Seq, Instant)>,
    /// The number of duplicate ACKs since the last ACK of new data.
    duplicates: usize,
}

impl TransmissionOrder {
    /// Adds a transmission.
    pub fn on_sent(&mut self, segment: &Segment, at: Instant) {
        if segment.sequence_length() == 0 {
            return;
        }
        if self.sent.len() == MAX_SENT {
            self.sent.pop_front();
        }
        self.sent.push_back((segment.seq, at));
    }

    /// Discards all transmissions. The order is unusable if the capture lacks a packet or a probe
    /// was sent, and unnecessary while no retransmission is pending.
    pub fn clear(&mut self) {
        self.sent.clear();
        self.duplicates = 0;
    }

    /// Counts a duplicate ACK.
    pub const fn on_duplicate(&mut self) {
        self.duplicates += 1;
    }

    /// The index of this transmission.
    pub fn index_of(&self, answered: (Seq, Instant)) -> Option<usize> {
        self.sent.iter().position(|&sent| sent == answered)
    }

    /// The transmissions that caused the duplicate ACKs before the latest ACK of new data: if there
    /// were n of them, the n transmissions before the one at `answered`, which caused that ACK.
    pub fn answered_by_duplicates(
        &self,
        answered: Option<usize>,
    ) -> impl Iterator<Item = (Seq, Instant)> {
        let index = answered.unwrap_or(0);
        self.sent.range(index.saturating_sub(self.duplicates)..index).copied()
    }

    /// Removes the transmissions up to and including the one that caused an ACK of new data.
    pub fn on_ack(&mut self, answered: Option<usize>) {
        self.duplicates = 0;
        if let Some(index) = answered {
            self.sent.drain(..=index);
        }
    }
}
