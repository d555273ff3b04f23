//! Rate halving: the window comes down by a segment for every second acknowledgment, so that new
//! segments go out evenly. As in Linux 2.4 (`tcp_cwnd_down`; Sarolahti and Kuznetsov, "Congestion
//! Control in Linux TCP", 2002).

use crate::flight::AckFacts;
use crate::sender::Sender;
use crate::seq::Seq;

/// How far rate halving has come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rate {
    /// Did an odd number of acknowledgments arrive?
    odd: bool,
    /// The window in bytes, without what duplicate acknowledgments add to it.
    cwnd: u64,
}

/// The window comes down outside fast recovery, as in CA_CWR of Linux.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowReduction {
    /// Once more than this is acknowledged it is over.
    until: Seq,
    /// Did an odd number of acknowledgments arrive?
    odd: bool,
}

impl Sender {
    /// From a window of `cwnd` bytes, at least a segment, the window comes down to `ssthresh`, until
    /// all that is outstanding is acknowledged (`tcp_enter_cwr`).
    pub(crate) fn begin_window_reduction(&mut self, cwnd: u64) {
        self.window.cwnd = cwnd.max(self.window.smss);
        self.reduction = Some(WindowReduction { until: self.flight.max(), odd: false });
    }

    /// An acknowledgment arrived: is the window on its way down, so that it does not grow
    /// (`tcp_cwnd_down`, `tcp_complete_cwr`)?
    pub(crate) fn reduce_window(&mut self, facts: &AckFacts) -> bool {
        let Some(WindowReduction { until, odd }) = self.reduction else { return false };
        let (smss, ssthresh) = (self.window.smss, self.window.ssthresh);
        if facts.ack > until {
            self.window.cwnd = self.window.cwnd.min(ssthresh);
            self.reduction = None;
        } else if facts.duplicate || facts.newly_sacked > 0 || facts.is_new() {
            if odd && self.window.cwnd > ssthresh / 2 {
                self.window.cwnd = self.window.cwnd.saturating_sub(smss);
            }
            self.window.cwnd = self.window.cwnd.min(self.outstanding() + smss).max(smss);
            self.reduction = Some(WindowReduction { until, odd: !odd });
        }
        true
    }

    /// Fast recovery begins with `flight_size` bytes outstanding.
    pub(crate) fn begin_rate_halving(&mut self, flight_size: u64) {
        self.window.cwnd = flight_size.max(self.window.smss);
        self.recovery.rate = Rate { odd: false, cwnd: self.window.cwnd };
    }

    /// An acknowledgment arrived, in fast recovery if the sender was `recovering`: every second one
    /// takes a segment off the window, down to half of `ssthresh`, and none releases more than one.
    pub(crate) fn halve_rate(&mut self, facts: &AckFacts, recovering: bool) {
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
