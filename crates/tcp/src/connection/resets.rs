//! Resets: which are believed, and when one is sent (RFC 9293 sections 3.5.2 and 3.5.3, RFC 5961
//! section 3).

use rtolab_time::Instant;

use super::states::Opened;
use super::{Connection, Failure, State};
use crate::config::TimeWaitReset;
use crate::event::Event;
use crate::segment::{Flags, Segment};
use crate::seq::Seq;

/// A reset that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reset {
    /// This end gives the connection up.
    Abort,
    /// The peer acknowledged, to synchronise, a number that this end did not send; or there is no
    /// connection any more.
    Refuse(Seq),
    /// There is no connection, and what arrived acknowledged nothing: all up to here is.
    RefuseUpTo(Seq),
}

impl Reset {
    /// What CLOSED answers to `segment` (RFC 9293 section 3.10.7.1): nothing to a reset.
    pub(super) fn of(segment: &Segment) -> Option<Self> {
        match segment.flags {
            flags if flags.has(Flags::RST) => None,
            flags if flags.has(Flags::ACK) => Some(Self::Refuse(segment.ack)),
            _ => Some(Self::RefuseUpTo(segment.end())),
        }
    }

    /// The segment, where it depends on nothing else; `None` for [`Self::Abort`].
    pub(super) fn segment(self) -> Option<Segment> {
        match self {
            Self::Abort => None,
            Self::Refuse(ack) => Some(Segment::new(ack, 0, Flags::RST)),
            Self::RefuseUpTo(end) => {
                let mut segment = Segment::new(Seq::FIRST, 0, Flags::RST | Flags::ACK);
                segment.ack = end;
                Some(segment)
            }
        }
    }
}

/// What a host answers to a segment for which it has neither a connection nor a
/// [`Listener`](crate::Listener): the state CLOSED (RFC 9293 section 3.10.7.1).
///
/// Who has no connection has no numbers of its own either: they begin with zero on the wire, which
/// [`Seq::FIRST`] stands for.
pub fn refuse(segment: &Segment) -> Option<Segment> {
    Reset::of(segment).and_then(Reset::segment)
}

impl Connection {
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
    /// by a reset. One that both have closed says nothing here: who forgets it has [`refuse`], and
    /// who keeps it spares the peer's TIME-WAIT a reset for each segment that was late.
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
