//! The order of transmissions, and the duplicate ACKs between two that acknowledge new data.

use std::collections::VecDeque;

use rtolab_tcp::{Segment, Seq};
use rtolab_time::Instant;

/// At most this many transmissions are remembered.
const MOST_SENT: usize = 4096;

/// The transmissions since the first retransmission, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct TransmissionOrder {
    sent: VecDeque<(Seq, Instant)>,
    /// Duplicate ACKs since the last new one.
    duplicates: usize,
}

impl TransmissionOrder {
    /// New data or a retransmission is sent.
    pub fn sent(&mut self, segment: &Segment, at: Instant) {
        if segment.sequence_length() == 0 {
            return;
        }
        if self.sent.len() == MOST_SENT {
            self.sent.pop_front();
        }
        self.sent.push_back((segment.seq, at));
    }

    /// The order is not known any more: nothing was retransmitted, the capture lacks a packet, or a
    /// probe was sent.
    pub fn forget(&mut self) {
        self.sent.clear();
        self.duplicates = 0;
    }

    pub const fn on_duplicate(&mut self) {
        self.duplicates += 1;
    }

    /// The place of this transmission.
    pub fn place(&self, answered: (Seq, Instant)) -> Option<usize> {
        self.sent.iter().position(|&sent| sent == answered)
    }

    /// An ACK of new data answers the transmission at this place: as many of the last ones before
    /// it as there were duplicate ACKs.
    pub fn followed(&self, answered: Option<usize>) -> impl Iterator<Item = (Seq, Instant)> {
        let place = answered.unwrap_or(0);
        self.sent.range(place.saturating_sub(self.duplicates)..place).copied()
    }

    /// That ACK is evaluated.
    pub fn acked(&mut self, answered: Option<usize>) {
        self.duplicates = 0;
        if let Some(place) = answered {
            self.sent.drain(..=place);
        }
    }
}
