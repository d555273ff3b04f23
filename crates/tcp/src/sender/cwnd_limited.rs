//! Is the window what limits a sender? Linux (`tcp_cwnd_validate`, `tcp_is_cwnd_limited`), in place of
//! RFC 2861: a window that was not filled does not grow.

use super::Sender;
use crate::seq::Seq;

/// What was used of the window since all of it was acknowledged last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filled {
    /// Was the window full?
    full: bool,
    /// The most that was outstanding, in bytes (`max_packets_out`).
    most: u64,
    /// SND.MAX then: once it is acknowledged, it is counted anew (`cwnd_usage_seq`).
    until: Seq,
}

impl Default for Filled {
    fn default() -> Self {
        Self { full: false, most: 0, until: Seq::FIRST }
    }
}

impl Sender {
    /// New data have left.
    pub(super) fn note_filled(&self, filled: &mut Filled) {
        let full = self.outstanding() + self.window.smss > self.window.cwnd;
        let (una, max, size) = (self.flight.una(), self.flight.max(), self.flight.size());
        if una >= filled.until || full || (!filled.full && size > filled.most) {
            *filled = Filled { full, most: size, until: max };
        }
    }

    /// May the window grow? In slow start where more than half of it was used, too.
    pub(super) const fn is_cwnd_limited(&self, filled: &Filled) -> bool {
        let window = &self.window;
        filled.full || (window.cwnd < window.ssthresh && window.cwnd < 2 * filled.most)
    }
}
