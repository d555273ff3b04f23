//! Explicit congestion notification (RFC 3168 section 6.1): the network marks segments instead of
//! dropping them, the peer echoes the marks, and the window is reduced as for a loss.

use crate::segment::{Codepoint, Flags, Segment};
use crate::seq::Seq;

/// The sending half of a connection both ends of which use ECN.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ecn {
    /// SND.MAX when an echo last reduced the window: once more than this is acknowledged, the next
    /// may.
    recover: Option<Seq>,
    /// The window was reduced, and the next new data carry CWR.
    cwr_pending: bool,
}

impl Ecn {
    /// A new `segment` is about to leave: its data are ECN-capable, and the first after a reduction
    /// carry CWR (sections 6.1.2 and 6.1.5). What is retransmitted, and what carries no data, is
    /// not.
    pub fn mark(&mut self, segment: &mut Segment) {
        if segment.len > 0 {
            segment.set_codepoint(Codepoint::Ect0);
            if core::mem::take(&mut self.cwr_pending) {
                segment.flags |= Flags::CWR;
            }
        }
    }

    /// The window was reduced, for whatever reason: the peer need not echo any longer.
    pub const fn on_reduction(&mut self) {
        self.cwr_pending = true;
    }

    /// The reduction was spurious.
    pub const fn on_undo(&mut self) {
        self.cwr_pending = false;
    }

    /// An echo reduces the window, with data up to `max` outstanding.
    pub const fn on_echo(&mut self, max: Seq) {
        self.recover = Some(max);
    }

    /// Has an echo reduced the window, and what was outstanding then is not all acknowledged, nor
    /// anything beyond it? Then it is not reduced again, and no reduction is undone.
    pub fn is_reducing(&self, una: Seq) -> bool {
        self.recover.is_some_and(|recover| una <= recover)
    }
}

/// Does `segment` echo a mark? In a SYN the flag means something else.
pub(super) fn is_echo(segment: &Segment) -> bool {
    segment.flags.has(Flags::ECE) && !segment.flags.has(Flags::SYN)
}
