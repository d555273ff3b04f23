//! Reno: fast retransmit and fast recovery of RFC 5681 section 3.2, with the "bugfix" variants of
//! RFC 2582 section 3.

use super::Fast;
use crate::config::Reduction;
use crate::flight::AckFacts;
use crate::sender::Sender;

impl Sender {
    /// Outside fast recovery: the third duplicate acknowledgment starts it, and the window inflates
    /// by what left the network (steps 2 and 3; RFC 6582 section 3.2 step 2). `fast` is how it
    /// begins.
    pub(super) fn reno_counts(&mut self, facts: &AckFacts, fast: Fast) {
        if !facts.duplicate {
            return;
        }
        self.recovery.dupacks += 1;
        self.recovery.informative += 1;
        let dupthresh = self.dupthresh();
        if self.recovery.dupacks >= dupthresh && self.may_recover() {
            self.enter(fast, facts.at);
            if self.config.recovery.reduction != Reduction::RateHalving {
                self.window.cwnd += u64::from(dupthresh) * self.window.smss;
            }
        }
    }

    /// In fast recovery: each further duplicate inflates the window (step 4), and any new
    /// acknowledgment ends it (step 6).
    pub(super) fn reno_recovers(&mut self, facts: &AckFacts) {
        if facts.duplicate {
            self.window.cwnd += self.window.smss;
        } else if facts.is_new() {
            self.window.cwnd = self.recovery.halved;
            self.recovery.leave();
        }
    }
}
