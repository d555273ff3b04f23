//! The fast path of a direction: segments and ACKs in order while no retransmission is pending.

use rtolab_tcp::{Cause, Flags, Segment};
use rtolab_time::Instant;

use super::{HalfConnection, MAX_OUTSTANDING, View};
use crate::history::Frame;

impl HalfConnection {
    /// Processes a segment of this end.
    #[inline]
    pub fn on_sent(&mut self, segment: &Segment, frame: &Frame, view: impl FnOnce() -> View) {
        if let (Some(timers), Some(stamps)) = (&mut self.timers, segment.timestamps()) {
            timers.note_stamp(stamps.value, frame.at);
        }
        if !self.on_plain_sent(segment, frame) {
            self.on_any_sent(segment, frame, view);
        }
    }

    /// The fast path of [`Self::on_sent`], for a segment that begins where the previous one ended.
    /// Returns false if the segment cannot take it; nothing has changed then. Has the same effect
    /// as [`Self::on_any_sent`].
    #[inline]
    fn on_plain_sent(&mut self, segment: &Segment, frame: &Frame) -> bool {
        let flight = self.detectors.flight();
        let is_plain = segment.seq == flight.max()
            && self.arrivals.expects(segment.seq)
            && !segment.flags.any(Flags::SYN | Flags::FIN | Flags::CWR)
            && self.history.is_empty()
            && !self.ack_fates.is_open()
            && flight.outstanding() < MAX_OUTSTANDING;
        if !is_plain || self.is_discarded_by_paws(segment) {
            return false;
        }
        self.single_segments.on_new_data(self.wire_segments(segment.len));
        let outstanding = self.detectors.flight().size();
        self.sender_state.on_sent(frame.at, outstanding);
        self.history.order.clear();
        if segment.len > 0 {
            if outstanding == 0 {
                self.episodes.on_first_sent();
            }
            self.bytes += u64::from(segment.len);
            self.segments += u64::from(self.wire_segments(segment.len));
            self.conformance.on_sent(segment, frame, (self.detectors.flight(), self.rtt.srtt));
            self.arrivals.take_expected(segment);
            self.detectors.sent(segment, frame.at, Cause::New);
            self.note_full(segment);
            self.note_flight(frame.at);
            self.replay_new_data(frame.at);
        }
        true
    }

    /// Processes an ACK of the other end.
    #[inline]
    pub fn on_ack(&mut self, segment: &Segment, frame: &Frame) {
        self.note_ecn_echo(segment);
        if !self.on_plain_ack(segment, frame.at) {
            self.on_any_ack(segment, frame);
        }
    }

    /// The fast path of [`Self::on_ack`], while no retransmission is pending. Returns false if the
    /// ACK cannot take it; nothing has changed then. Has the same effect as [`Self::on_any_ack`].
    fn on_plain_ack(&mut self, segment: &Segment, at: Instant) -> bool {
        if !self.history.is_empty() || self.episodes.is_open() || self.single_segments.is_pending()
        {
            return false;
        }
        let head_sent = self.head_sent();
        let Some(acked) = self.detectors.on_plain_ack(segment, at) else { return false };
        self.episodes.on_packet_received(at);
        self.sender_state.on_packet_received(segment, at);
        self.conformance.on_ack(segment);
        self.note_window(segment, at);
        if let Some(timestamps) = segment.timestamps() {
            self.echoed = Some(timestamps.echo);
        }
        if acked.is_new {
            self.sender_state.on_progress(segment.ack, at);
            if let Some(sent) = acked.newest_sent {
                self.rtt.measure_newest(sent, at);
            }
            self.replay_new_ack(head_sent.filter(|_| acked.newest_sent.is_some()), at);
            self.arrivals.forget(segment.ack);
            self.episodes.on_progress(at);
        }
        self.poll_verdicts();
        true
    }
}

#[cfg(test)]
mod tests;
