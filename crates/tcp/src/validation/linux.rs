//! The window validation of Linux (`tcp_cwnd_validate`, `tcp_is_cwnd_limited`): cwnd grows only if
//! it limits the sender.

use crate::congestion::Window;
use crate::flight::Flight;
use crate::seq::Seq;

/// The use of the window in the last round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CwndUsage {
    is_cwnd_limited: bool,
    /// The largest FlightSize, in bytes.
    max_packets_out: u64,
    /// SND.MAX when `max_packets_out` was set. Once it is acknowledged, a new round begins.
    cwnd_usage_seq: Seq,
}

impl Default for CwndUsage {
    fn default() -> Self {
        Self { is_cwnd_limited: false, max_packets_out: 0, cwnd_usage_seq: Seq::FIRST }
    }
}

impl CwndUsage {
    /// New data was sent, and the pipe is `pipe` bytes.
    pub fn on_sent(&mut self, pipe: u64, flight: &Flight, window: &Window) {
        let is_cwnd_limited = pipe + window.smss() > window.cwnd();
        let larger = !self.is_cwnd_limited && flight.size() > self.max_packets_out;
        if flight.una() >= self.cwnd_usage_seq || is_cwnd_limited || larger {
            let (max_packets_out, cwnd_usage_seq) = (flight.size(), flight.max());
            *self = Self { is_cwnd_limited, max_packets_out, cwnd_usage_seq };
        }
    }

    /// New data cannot be sent. If cwnd is the cause, it limits the sender.
    pub fn on_blocked(&mut self, pipe: u64, flight: &Flight, window: &Window) {
        if pipe + window.smss() > window.cwnd() {
            self.on_sent(pipe, flight, window);
        }
    }

    /// May the window grow? In slow start it suffices that more than half of it was used.
    pub const fn can_grow(&self, window: &Window) -> bool {
        let in_slow_start = window.cwnd() < window.ssthresh();
        self.is_cwnd_limited || (in_slow_start && window.cwnd() < 2 * self.max_packets_out)
    }
}
