//! Is the congestion window what limits a sender? Linux (`tcp_cwnd_validate`,
//! `tcp_is_cwnd_limited`), in place of RFC 2861: a window that was not filled does not grow.

use crate::congestion::Window;
use crate::flight::Flight;
use crate::seq::Seq;

/// What was used of the window since all of it was acknowledged last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CwndUsage {
    is_cwnd_limited: bool,
    /// The most that was outstanding, in bytes.
    max_packets_out: u64,
    /// SND.MAX then: once it is acknowledged, it is counted anew.
    cwnd_usage_seq: Seq,
}

impl Default for CwndUsage {
    fn default() -> Self {
        Self { is_cwnd_limited: false, max_packets_out: 0, cwnd_usage_seq: Seq::FIRST }
    }
}

impl CwndUsage {
    /// New data have left, and `pipe` bytes count against the window.
    pub fn on_sent(&mut self, pipe: u64, flight: &Flight, window: &Window) {
        let is_cwnd_limited = pipe + window.smss() > window.cwnd();
        let larger = !self.is_cwnd_limited && flight.size() > self.max_packets_out;
        if flight.una() >= self.cwnd_usage_seq || is_cwnd_limited || larger {
            let (max_packets_out, cwnd_usage_seq) = (flight.size(), flight.max());
            *self = Self { is_cwnd_limited, max_packets_out, cwnd_usage_seq };
        }
    }

    /// May the window grow? In slow start where more than half of it was used, too.
    pub const fn may_grow(&self, window: &Window) -> bool {
        let in_slow_start = window.cwnd() < window.ssthresh();
        self.is_cwnd_limited || (in_slow_start && window.cwnd() < 2 * self.max_packets_out)
    }
}
