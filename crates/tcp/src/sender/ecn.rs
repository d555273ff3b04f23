//! Explicit congestion notification (RFC 3168 section 6.1): the network marks packets instead of
//! dropping them, the peer echoes the marks with ECE, and the sender reduces the window as for a
//! loss.

use crate::segment::{Codepoint, Flags, Segment};
use crate::seq::Seq;

/// The ECN state of a sender, present if both ends use ECN.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ecn {
    /// SND.MAX when an ECE flag last reduced the window. Once more than this is acknowledged,
    /// another may.
    recover: Option<Seq>,
    /// Was the window reduced, so that the next new data carries CWR?
    cwr_pending: bool,
}

impl Ecn {
    /// Marks a new `segment` with data as ECN-capable, and sets CWR in the first one after a
    /// reduction (section 6.1.2). Retransmissions and segments without data are not ECN-capable
    /// (sections 6.1.4 and 6.1.5).
    pub fn mark(&mut self, segment: &mut Segment) {
        if segment.len > 0 {
            segment.set_codepoint(Codepoint::Ect0);
            if core::mem::take(&mut self.cwr_pending) {
                segment.flags |= Flags::CWR;
            }
        }
    }

    /// The window was reduced, for any reason: CWR informs the peer, which stops its echo.
    pub const fn on_reduction(&mut self) {
        self.cwr_pending = true;
    }

    /// The reduction was spurious.
    pub const fn on_undo(&mut self) {
        self.cwr_pending = false;
    }

    /// An ECE flag reduces the window; SND.MAX is `max`.
    pub const fn on_ece(&mut self, max: Seq) {
        self.recover = Some(max);
    }

    /// Has an ECE flag reduced the window, and is nothing acknowledged yet that was sent after
    /// that? Until then the window is not reduced a second time, and no reduction is undone.
    pub fn is_reducing(&self, una: Seq) -> bool {
        self.recover.is_some_and(|recover| una <= recover)
    }
}

/// Does `segment` echo a congestion mark? On a SYN, ECE has another meaning (RFC 3168 section
/// 6.1.1).
pub(super) fn is_ece(segment: &Segment) -> bool {
    segment.flags.has(Flags::ECE) && !segment.flags.has(Flags::SYN)
}
