//! The resets that this end sends (RFC 9293 section 3.5.2).

use crate::segment::{Flags, Segment};
use crate::seq::Seq;

/// A pending reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reset {
    /// This end aborts the connection.
    Abort,
    /// `<SEQ=SEG.ACK><CTL=RST>`, with this acknowledgment number: the segment acknowledged data
    /// that this end did not send, carried data that nobody will read, or belongs to no connection.
    Refuse(Seq),
    /// `<SEQ=0><ACK=SEG.SEQ+SEG.LEN><CTL=RST,ACK>`, with the end of the segment: the segment had no
    /// ACK, and belongs to no connection.
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
/// Without a connection no initial sequence number is known, so sequence numbers are those of the
/// wire, and [`Seq::FIRST`] stands for zero.
pub fn refuse(segment: &Segment) -> Option<Segment> {
    Reset::of(segment).and_then(Reset::segment)
}
