//! Rate halving: the window comes down by a segment for every second acknowledgment, so that new
//! segments go out evenly. As in Linux 2.4 (`tcp_cwnd_down`; Sarolahti and Kuznetsov, "Congestion
//! Control in Linux TCP", 2002).

use crate::flight::AckFacts;
use crate::sender::Sender;

/// How far rate halving has come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rate {
    /// Did an odd number of acknowledgments arrive?
    odd: bool,
    /// The window in bytes, without what duplicate acknowledgments add to it.
    cwnd: u64,
}

impl Sender {
    /// Fast recovery begins with `flight_size` bytes outstanding.
    pub(super) fn begin_rate_halving(&mut self, flight_size: u64) {
        self.window.cwnd = flight_size.max(self.window.smss);
        self.recovery.rate = Rate { odd: false, cwnd: self.window.cwnd };
    }

    /// An acknowledgment arrived, in fast recovery if the sender was `recovering`: every second one
    /// takes a segment off the window, down to half of `ssthresh`, and none releases more than one.
    pub(super) fn halve_rate(&mut self, facts: &AckFacts, recovering: bool) {
        let counts = facts.duplicate || facts.newly_sacked > 0 || facts.is_new();
        if !self.recovery.is_fast() || !counts {
            return;
        }
        let (smss, outstanding) = (self.window.smss, self.outstanding());
        if !recovering {
            // The retransmission alone leaves at first.
            self.window.cwnd = self.window.cwnd.min(outstanding).max(smss);
            return;
        }
        let rate = &mut self.recovery.rate;
        rate.odd = !rate.odd;
        if !rate.odd && rate.cwnd > self.window.ssthresh / 2 {
            rate.cwnd = rate.cwnd.saturating_sub(smss);
            self.window.cwnd = self.window.cwnd.saturating_sub(smss);
        }
        self.window.cwnd = self.window.cwnd.min(outstanding + smss).max(smss);
    }
}
