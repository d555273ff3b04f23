//! A reset that this end sends (RFC 9293 section 3.5.2).

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
