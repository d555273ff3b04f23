//! The validation of resets, and the cases in which one is sent (RFC 9293 sections 3.5.2 and 3.5.3,
//! RFC 5961 section 3).

use rtolab_time::Instant;

use super::reset::Reset;
use super::states::Opened;
use super::{Connection, Failure, State};
use crate::config::TimeWaitReset;
use crate::event::Event;
use crate::segment::Segment;

impl Connection {
    /// Sends a challenge ACK, within the limit.
    #[cold]
    pub(super) fn challenge(&mut self, at: Instant) {
        if self.cold.challenges.allow(&self.config.connection.challenge, at) {
            self.receiver.ack_now();
        }
    }

    /// A reset arrived. It is valid only if its sequence number is RCV.NXT; elsewhere in the window
    /// it gets a challenge ACK, to which the true peer sends a valid one (RFC 5961 section 3.2).
    #[cold]
    pub(super) fn on_reset(&mut self, segment: &Segment, at: Instant) {
        let ignored = self.config.connection.time_wait_reset == TimeWaitReset::Ignored;
        if self.state == State::TimeWait && ignored {
            return;
        }
        if segment.seq != self.receiver.rcv_nxt() {
            if self.receiver.is_in_window(segment.seq) {
                self.challenge(at);
            }
            return;
        }
        match (self.state, self.cold.opened) {
            (State::TimeWait, _) => self.finish(Event::Closed),
            (State::SynReceived, Opened::Actively) => self.fail(Failure::Refused),
            _ => self.fail(Failure::Reset),
        }
    }

    /// Ends the connection before both ends have closed it.
    #[cold]
    pub(super) fn fail(&mut self, failure: Failure) {
        if self.state == State::Closed {
            return;
        }
        self.cold.failure = Some(failure);
        self.receiver.cancel_acks();
        self.finish(match failure {
            Failure::Refused | Failure::Reset => Event::Reset,
            Failure::TimedOut => Event::TimedOut,
            Failure::Aborted => Event::Closed,
        });
    }

    /// A segment arrived in CLOSED. An aborted connection answers with a reset. A connection that
    /// both ends have closed stays silent, to spare the peer's TIME-WAIT a reset for each late
    /// segment; an owner that drops the connection uses [`refuse`](super::refuse).
    #[cold]
    pub(super) fn on_closed(&mut self, segment: &Segment) {
        if matches!(self.cold.failure, Some(Failure::Aborted | Failure::TimedOut)) {
            self.reset = Reset::of(segment);
        }
    }

    /// Resets the connection if the segment has data that the application will not read (RFC 9293
    /// section 3.6.1). Returns whether it does.
    pub(super) fn resets_for_data(&mut self, segment: &Segment) -> bool {
        let refuses = self.rcv_shutdown
            && segment.len > 0
            && segment.seq + segment.len > self.receiver.rcv_nxt();
        if refuses {
            self.reset = Some(Reset::Refuse(segment.ack));
            self.fail(Failure::Aborted);
        }
        refuses
    }
}
