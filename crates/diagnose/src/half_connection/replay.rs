//! The events of a direction that the replay of timers needs.

use rtolab_tcp::{AckFacts, Timestamps};
use rtolab_time::Instant;

use super::HalfConnection;

impl HalfConnection {
    /// When the oldest outstanding segment was sent, if timers are replayed.
    pub(super) fn head_sent(&self) -> Option<Instant> {
        self.timers.as_ref()?;
        self.flight().head().map(|head| head.first_sent)
    }

    pub(super) fn replay_new_data(&mut self, at: Instant) {
        if let Some(timers) = &mut self.timers {
            timers.on_new_data(self.detectors.flight(), self.mss, at);
        }
    }

    /// Replays an ACK on the fast path; `sample` is when the segment was sent that it measures.
    pub(super) fn replay_new_ack(&mut self, sample: Option<Instant>, at: Instant) {
        if let Some(timers) = &mut self.timers {
            timers.on_new_ack(sample, (self.detectors.flight(), self.mss), at);
        }
    }

    /// Replays an ACK, whose sample is that of Linux (`tcp_ack_update_rtt`).
    pub(super) fn replay_ack(&mut self, facts: &AckFacts, stamps: Option<Timestamps>) {
        let Some(timers) = &mut self.timers else { return };
        let flight = self.detectors.flight();
        let oldest = facts.oldest_acked.filter(|_| !facts.acks_retransmission);
        let sample = oldest.map(|sent| sent.first_sent).or(facts.sacked_sent);
        if !facts.is_new() {
            return timers.on_sack(sample, flight, facts.at);
        }
        let echoed = || stamps.and_then(|stamps| timers.sent_with(stamps.echo));
        let sample = sample.or_else(echoed);
        timers.on_new_ack(sample, (flight, self.mss), facts.at);
    }
}
