//! Is the window what limits a sender? Linux (`tcp_cwnd_validate`, `tcp_is_cwnd_limited`), in place of
//! RFC 2861: a window that was not filled does not grow.

use super::Sender;
use super::validation::Usage;
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
    pub(super) fn note_filled(&self, usage: &mut Usage) {
        let full = self.outstanding() + self.window.smss > self.window.cwnd;
        let (una, max, size) = (self.flight.una(), self.flight.max(), self.flight.size());
        let filled = &mut usage.filled;
        if una >= filled.until || full || (!filled.full && size > filled.most) {
            *filled = Filled { full, most: size, until: max };
        }
    }

    /// May the window grow? In slow start where more than half of it was used, too.
    pub(super) const fn is_cwnd_limited(&self, usage: &Usage) -> bool {
        let (window, filled) = (&self.window, &usage.filled);
        filled.full || (window.cwnd < window.ssthresh && window.cwnd < 2 * filled.most)
    }
}
