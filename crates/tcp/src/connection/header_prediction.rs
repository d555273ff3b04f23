//! Header prediction: Jacobson, "4BSD Header Prediction", ACM Computer Communication Review 20(2),
//! 1990. Most segments are of two kinds: the next acknowledgment at an end that sends, or the next
//! data at an end that only receives. For these the result of every check of RFC 9293 section
//! 3.10.7.4 is known.

use rtolab_time::Instant;

use super::{Connection, State};
use crate::segment::{Flags, Segment};

/// A predicted segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prediction {
    /// It acknowledges new data and carries none.
    NextAck,
    /// It carries the next expected data, and acknowledges nothing new.
    NextData,
}

impl Connection {
    /// The kind of the segment, if it is a predicted one.
    #[inline(always)]
    pub(super) fn prediction(&self, segment: &Segment) -> Option<Prediction> {
        let plain = segment.flags == Flags::ACK && segment.has_timestamps_at_most();
        let expected = self.state == State::Established && segment.seq == self.receiver.rcv_nxt();
        if !plain || !expected || !self.sender.is_on_fast_path() {
            return None;
        }
        let flight = self.sender.flight();
        let (una, max) = (flight.una(), flight.max());
        match segment.len {
            0 if una < segment.ack && segment.ack <= max => Some(Prediction::NextAck),
            1.. if una == segment.ack && una == max && self.receiver.fits(segment) => {
                Some(Prediction::NextData)
            }
            _ => None,
        }
    }

    /// Processes a predicted segment.
    #[inline(always)]
    pub(super) fn on_predicted(&mut self, prediction: Prediction, segment: &Segment, at: Instant) {
        if self.negotiated.timestamps {
            if self.receiver.is_old(segment, at) {
                self.on_any_segment(segment, at);
                return;
            }
            self.receiver.note_timestamp(segment, at);
        }
        self.update_window(segment);
        match prediction {
            Prediction::NextAck => self.sender.on_fast_path_ack(segment, at),
            Prediction::NextData => {
                self.sender.on_pure_ack(segment, at);
                self.receiver.take(segment, at);
                // An early FIN may have waited for it.
                if self.receiver.has_received_fin() {
                    self.on_fin(at);
                }
            }
        }
    }
}
