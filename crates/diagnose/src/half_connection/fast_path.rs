//! The fast path of a direction: ACKs while nothing is retransmitted.

use rtolab_tcp::Segment;
use rtolab_time::Instant;

use super::HalfConnection;
use crate::history::Frame;

impl HalfConnection {
    /// Processes an ACK of the other end.
    #[inline]
    pub fn on_ack(&mut self, segment: &Segment, frame: &Frame) {
        if !self.on_plain_ack(segment, frame.at) {
            self.on_any_ack(segment, frame);
        }
    }

    /// The fast path of [`Self::on_ack`], while no retransmission is pending. Returns false if the
    /// ACK cannot take it; nothing has changed then. Has the same effect as [`Self::on_any_ack`].
    fn on_plain_ack(&mut self, segment: &Segment, at: Instant) -> bool {
        if !self.history.is_empty() || self.episodes.is_open() {
            return false;
        }
        let Some(acked) = self.detectors.on_plain_ack(segment, at) else { return false };
        self.episodes.on_packet_received(at);
        self.sender_state.on_packet_received(segment, at);
        self.conformance.on_ack(segment);
        if let Some(timestamps) = segment.timestamps() {
            self.echoed = Some(timestamps.echo);
        }
        if acked.is_new {
            self.sender_state.on_progress(segment.ack, at);
            if let Some(sent) = acked.newest_sent {
                self.rtt.measure_newest(sent, at);
            }
            self.arrivals.forget(segment.ack);
            self.episodes.on_progress(at);
        }
        self.poll_verdicts();
        true
    }
}

#[cfg(test)]
mod tests;
