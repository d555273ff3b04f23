//! The resets that this end sends (RFC 9293 section 3.5.2).

use crate::segment::{Flags, Segment};
use crate::seq::Seq;

/// A pending reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reset {
    /// This end aborts the connection.
    Abort,
    /// The segment acknowledged data that this end did not send, or there is no connection. The
    /// reset has this acknowledgment number as its sequence number.
    Refuse(Seq),
    /// There is no connection, and the segment had no ACK. The reset acknowledges everything up to
    /// here.
    RefuseUpTo(Seq),
}

impl Reset {
    /// The answer to `segment` in CLOSED (RFC 9293 section 3.10.7.1); `None` if it is a reset.
    pub(super) fn of(segment: &Segment) -> Option<Self> {
        match segment.flags {
            flags if flags.has(Flags::RST) => None,
            flags if flags.has(Flags::ACK) => Some(Self::Refuse(segment.ack)),
            _ => Some(Self::RefuseUpTo(segment.end())),
        }
    }

    /// The segment to send; `None` for [`Self::Abort`], whose segment depends on the connection.
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

/// The answer to a segment without a connection or [`Listener`](crate::Listener), as in the state
/// CLOSED (RFC 9293 section 3.10.7.1); `None` if the segment is a reset.
///
/// Sequence numbers without a connection are those of the wire: [`Seq::FIRST`] stands for zero.
pub fn refuse(segment: &Segment) -> Option<Segment> {
    Reset::of(segment).and_then(Reset::segment)
}
