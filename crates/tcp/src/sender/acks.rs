//! What an acknowledgment changes.

use rtolab_time::Instant;

use super::Sender;
use crate::config::{FullAck, Sampling};
use crate::flight::AckFacts;
use crate::segment::{Flags, Segment};

impl Sender {
    /// Takes an acknowledgment, whose number is from SND.UNA to SND.MAX.
    pub fn on_ack(&mut self, segment: &Segment, at: Instant) {
        let facts = match segment.sack_count() > 0 && !self.config.sack {
            false => self.flight.acked(segment, at),
            true => self.flight.acked(&segment.without_sack(), at),
        };
        self.burst = self.config.window.max_burst.unwrap_or(u32::MAX);
        if facts.is_new() {
            self.nxt = self.nxt.max(facts.ack);
            self.timed_out_at = None;
            self.forbears = false;
            self.sample(&facts);
        }
        self.saved.congestion_echoed |= segment.flags.has(Flags::ECE);
        let settled = self.judge(&facts);
        let recovering = self.recovery.is_fast();
        self.recover_or_begin(&facts, settled);
        if facts.is_new() {
            let ended = recovering && !self.recovery.is_fast();
            let grows = !recovering || (ended && self.config.window.full_ack == FullAck::Halved);
            if grows && !settled.freezes() && !facts.acks_syn() {
                self.window.grow(facts.advanced);
            }
            if settled.ends() || ended {
                self.moderate();
            }
            self.restart_timer(at);
        }
    }

    /// Takes a round-trip sample (RFC 6298 section 3, RFC 7323 section 4).
    fn sample(&mut self, facts: &AckFacts) {
        let sent = match (self.config.rto.sampling, facts.echo) {
            (Sampling::EveryAck, Some(echo)) => Some(self.instant_of(echo, facts.at)),
            (Sampling::EveryAck, None) if facts.acks_retransmission => None,
            (Sampling::EveryAck, None) => facts.oldest_acked.map(|segment| segment.first_sent),
            (Sampling::OncePerWindow, _) => self
                .timed
                .filter(|(seq, _)| *seq < facts.ack)
                .inspect(|_| self.timed = None)
                .map(|(_, sent)| sent),
        };
        if facts.acks_syn() && !self.config.rto.sample_handshake {
            return;
        }
        if let Some(sent) = sent {
            let rtt = self.rtt.measure(sent, facts.at);
            self.rtt.sample(rtt, self.flight.una(), self.flight.max());
            let new = |from| facts.oldest_acked.is_some_and(|oldest| oldest.seq >= from);
            if let Some(adapting) = self.adapting.take_if(|adapting| new(adapting.from)) {
                self.rtt.adapt(adapting.before, rtt);
            }
        }
    }

    /// The timestamp clock of this end (RFC 7323 section 5.4).
    pub fn timestamp(&self, at: Instant) -> u32 {
        (at.nanos() / self.config.timestamp.tick.nanos()) as u32
    }

    /// When the timestamp `echo` was taken, seen from `at`.
    fn instant_of(&self, echo: u32, at: Instant) -> Instant {
        let age = self.timestamp(at).wrapping_sub(echo);
        let tick = self.config.timestamp.tick.nanos();
        let now = at.nanos() / tick * tick;
        Instant::from_nanos(now.saturating_sub(u64::from(age) * tick))
    }

    /// A recovery or a spurious timeout ends, and much may have been acknowledged at once: the window
    /// shrinks to what is outstanding and one burst (report C-2002-07 section 3, as Linux does).
    fn moderate(&mut self) {
        if let Some(most) = self.config.window.max_burst {
            let burst = u64::from(most) * self.window.smss;
            self.window.cwnd = self.window.cwnd.min(self.outstanding() + burst);
        }
    }
}
