//! NewReno: RFC 6582, with the "bugfix" variants of RFC 2582 section 3. It begins as Reno does.

use super::Fast;
use crate::config::{FullAck, PartialAck};
use crate::flight::{AckFacts, Cause};
use crate::sender::Sender;

impl Fast {
    /// Fast recovery at its beginning.
    pub(super) const NEWRENO: Self = Self::NewReno { partials: 0 };
}

impl Sender {
    /// In fast recovery (RFC 6582 section 3.2 steps 3 to 5, RFC 5681 section 3.2).
    pub(super) fn newreno_recovers(&mut self, facts: &AckFacts) {
        if facts.duplicate {
            self.window.cwnd += self.window.smss;
        } else if facts.is_new() && facts.ack >= self.recovery.recover {
            self.full_acknowledgment();
        } else if facts.is_new() {
            self.partial_acknowledgment(facts.advanced);
        }
    }

    fn full_acknowledgment(&mut self) {
        let smss = self.window.smss;
        self.window.cwnd = match self.config.window.full_ack {
            FullAck::FlightSize => self.window.ssthresh.min(self.flight.size().max(smss) + smss),
            FullAck::Ssthresh | FullAck::Halved => self.recovery.halved,
        };
        self.recovery.leave();
    }

    /// The next segment was lost too: it is retransmitted, and the window deflates by what left
    /// the network.
    fn partial_acknowledgment(&mut self, acked: u64) {
        let smss = self.window.smss;
        let cwnd = self.window.cwnd.saturating_sub(acked).max(smss);
        self.window.cwnd = if acked >= smss { cwnd + smss } else { cwnd };
        self.resend_head = Some(Cause::Recovery);
        if self.config.recovery.newreno.partial_ack == PartialAck::RetransmissionOnly {
            // The retransmission takes the place of the one segment that may leave.
            self.burst = 1;
        }
        if let Some(Fast::NewReno { partials }) = &mut self.recovery.fast {
            *partials += 1;
        }
    }
}
