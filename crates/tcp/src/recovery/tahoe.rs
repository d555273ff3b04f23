//! Tahoe: fast retransmit without fast recovery (Jacobson, "Congestion Avoidance and Control",
//! 1988).
//!
//! The third duplicate acknowledgment does what a timeout does, but sooner and without back-off.

use crate::event::Event;
use crate::flight::{AckFacts, Cause, Sent};
use crate::sender::Sender;

impl Sender {
    /// The third duplicate acknowledgment starts go-back-N in slow start; those that follow it do
    /// nothing.
    pub(super) fn tahoe_counts(&mut self, facts: &AckFacts) {
        if !facts.duplicate {
            return;
        }
        self.recovery.dupacks += 1;
        self.recovery.informative += 1;
        if self.recovery.dupacks == self.dupthresh() && self.may_recover() {
            let una = self.flight.una();
            self.push_event(Event::FastRetransmit(self.retransmission(una, facts.at)));
            self.halve(self.flight.size() - self.recovery.limited);
            self.window.set_segments(1);
            self.reduction = None;
            self.recovery.recover = self.flight.max();
            (self.recovery.limited, self.recovery.informative) = (0, 0);
            self.nxt = self.flight.head().map_or(una, Sent::end);
            self.resend_head = Some(Cause::FastRetransmit);
        }
    }
}
