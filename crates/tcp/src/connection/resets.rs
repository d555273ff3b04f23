//! Which resets are believed, and when one is sent (RFC 9293 sections 3.5.2 and 3.5.3, RFC 5961
//! section 3).

use rtolab_time::Instant;

use super::reset::Reset;
use super::states::Opened;
use super::{Connection, Failure, State};
use crate::config::TimeWaitReset;
use crate::event::Event;
use crate::segment::Segment;

impl Connection {
    /// Answers a doubtful segment, within the limit.
    #[cold]
    pub(super) fn challenge(&mut self, at: Instant) {
        if self.cold.challenges.allow(&self.config.connection.challenge, at) {
            self.receiver.ack_now();
        }
    }

    /// RFC 5961 section 3.2: only one that is exactly where the next segment is expected is
    /// believed; the true peer, asked, sends such a one.
    #[cold]
    pub(super) fn on_reset(&mut self, segment: &Segment, at: Instant) {
        let ignored = self.config.connection.time_wait_reset == TimeWaitReset::Ignored;
        if self.state == State::TimeWait && ignored {
            return;
        }
        if segment.seq != self.receiver.nxt() {
            if self.receiver.expects(segment.seq) {
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

    /// The connection is over before both ends have closed it.
    #[cold]
    pub(super) fn fail(&mut self, failure: Failure) {
        if self.state == State::Closed {
            return;
        }
        self.cold.failure = Some(failure);
        self.receiver.owe_nothing();
        self.finish(match failure {
            Failure::Refused | Failure::Reset => Event::Reset,
            Failure::TimedOut => Event::TimedOut,
            Failure::Aborted => Event::Closed,
        });
    }

    /// CLOSED: a connection that this end gave up does not exist, and a segment to it is answered
    /// by a reset. One that both have closed says nothing here: who forgets it has
    /// [`refuse`](super::refuse), and who keeps it spares the peer's TIME-WAIT a reset for each
    /// segment that was late.
    #[cold]
    pub(super) fn on_closed(&mut self, segment: &Segment) {
        if matches!(self.cold.failure, Some(Failure::Aborted | Failure::TimedOut)) {
            self.reset = Reset::of(segment);
        }
    }

    /// Do data arrive that nobody will read (RFC 9293 section 3.6.1)? The connection is reset.
    pub(super) fn refuses_data(&mut self, segment: &Segment) -> bool {
        let refuses =
            self.rcv_shutdown && segment.len > 0 && segment.seq + segment.len > self.receiver.nxt();
        if refuses {
            self.reset = Some(Reset::Refuse(segment.ack));
            self.fail(Failure::Aborted);
        }
        refuses
    }
}
