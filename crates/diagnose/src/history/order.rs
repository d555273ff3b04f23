//! The order of transmissions, and the duplicate ACKs between two ACKs of new data.

use std::collections::VecDeque;

use rtolab_tcp::{Segment, Seq};
use rtolab_time::Instant;

/// The most transmissions remembered.
const MOST_SENT: usize = 4096;

/// The transmissions since the first retransmission, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct TransmissionOrder {
    sent: VecDeque<(Seq, Instant)>,
    /// Duplicate ACKs since the last new ACK.
    duplicates: usize,
}

impl TransmissionOrder {
    /// Records a transmission.
    pub fn sent(&mut self, segment: &Segment, at: Instant) {
        if segment.sequence_length() == 0 {
            return;
        }
        if self.sent.len() == MOST_SENT {
            self.sent.pop_front();
        }
        self.sent.push_back((segment.seq, at));
    }

    /// Discards the order: nothing was retransmitted, the capture lacks a packet, or a probe was
    /// sent.
    pub fn forget(&mut self) {
        self.sent.clear();
        self.duplicates = 0;
    }

    pub const fn on_duplicate(&mut self) {
        self.duplicates += 1;
    }

    /// The index of this transmission.
    pub fn place(&self, answered: (Seq, Instant)) -> Option<usize> {
        self.sent.iter().position(|&sent| sent == answered)
    }

    /// The transmissions that duplicate ACKs answered before an ACK of new data answered the one at
    /// this index: as many of the latest ones before it as there were duplicate ACKs.
    pub fn followed(&self, answered: Option<usize>) -> impl Iterator<Item = (Seq, Instant)> {
        let place = answered.unwrap_or(0);
        self.sent.range(place.saturating_sub(self.duplicates)..place).copied()
    }

    /// Forgets the transmissions that this ACK of new data answers.
    pub fn acked(&mut self, answered: Option<usize>) {
        self.duplicates = 0;
        if let Some(place) = answered {
            self.sent.drain(..=place);
        }
    }
}
