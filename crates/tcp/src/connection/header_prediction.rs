//! Header prediction: Jacobson, "4BSD Header Prediction", ACM Computer Communication Review 20(2),
//! 1990. Most segments are one of two: the next acknowledgment at an end that sends, or the next
//! data at an end that only receives. For those the outcome of every check of RFC 9293 section
//! 3.10.7.4 is known.

use rtolab_time::Instant;

use super::{Connection, State};
use crate::segment::{Flags, Segment};

/// A segment that header prediction foresees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prediction {
    /// It acknowledges new data and carries none.
    NextAck,
    /// It carries the data that are expected next, and acknowledges nothing new.
    NextData,
}

impl Connection {
    /// Is the segment one of those?
    #[inline(always)]
    pub(super) fn prediction(&self, segment: &Segment) -> Option<Prediction> {
        let plain = segment.flags == Flags::ACK && segment.has_timestamps_at_most();
        let expected = self.state == State::Established && segment.seq == self.receiver.nxt();
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

    /// A predicted segment arrived.
    #[inline(always)]
    pub(super) fn on_predicted(&mut self, prediction: Prediction, segment: &Segment, at: Instant) {
        if self.agreed.timestamps {
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
                if self.receiver.finished() {
                    self.on_fin(at);
                }
            }
        }
    }
}
