//! The validation of resets, and the cases in which one is sent (RFC 9293 sections 3.5.2 and 3.5.3,
//! RFC 5961 section 3).

use rtolab_time::Instant;

use super::outgoing_reset::Reset;
use super::states::Opened;
use super::{Connection, Failure, State};
use crate::config::{InWindow, TimeWaitReset};
use crate::event::Event;
use crate::segment::Segment;

impl Connection {
    /// Sends a challenge ACK, within the rate limit (RFC 5961 section 7).
    #[cold]
    pub(super) fn send_challenge_ack(&mut self, at: Instant) {
        let allowed = self.may_answer_now(at);
        if allowed && self.cold.challenges.allow(&self.config.connection.challenge, at) {
            self.receiver.ack_now();
        }
    }

    /// Processes a reset. It is valid only if its sequence number is RCV.NXT. Any other reset in
    /// the window gets a challenge ACK, which the real peer answers with a valid reset (RFC 5961
    /// section 3.2), unless the configuration accepts it.
    #[cold]
    pub(super) fn on_reset(&mut self, segment: &Segment, at: Instant) {
        let ignored = self.config.connection.time_wait_reset == TimeWaitReset::Ignored;
        if self.state == State::TimeWait && ignored {
            return;
        }
        if !self.receiver.is_in_window(segment.seq) {
            return;
        }
        let challenged = self.config.connection.challenge.reset_in_window == InWindow::Challenged;
        if challenged && segment.seq != self.receiver.rcv_nxt() {
            self.send_challenge_ack(at);
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

    /// Processes a segment in CLOSED. A connection that was aborted or timed out answers with a
    /// reset. A connection that both ends have closed stays silent, because a reset that answers a
    /// late segment could end the peer's TIME-WAIT (RFC 1337). An owner that drops the connection
    /// uses [`refuse`](super::refuse).
    #[cold]
    pub(super) fn on_closed(&mut self, segment: &Segment) {
        if matches!(self.cold.failure, Some(Failure::Aborted | Failure::TimedOut)) {
            self.reset = Reset::of(segment);
        }
    }

    /// Resets the connection if the segment has data that the application will not read (RFC 9293
    /// section 3.6.1). Returns whether it did.
    pub(super) fn reset_on_unread_data(&mut self, segment: &Segment) -> bool {
        let is_unread = self.rcv_shutdown
            && segment.len > 0
            && segment.seq + segment.len > self.receiver.rcv_nxt();
        if is_unread {
            self.reset = Some(Reset::Refuse(segment.ack));
            self.fail(Failure::Aborted);
        }
        is_unread
    }
}
