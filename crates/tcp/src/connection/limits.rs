//! R1 and R2: the limits of retransmission (RFC 9293 section 3.8.3).

use rtolab_time::{Duration, Instant};

use super::{Connection, Failure};
use crate::config::GiveUp;
use crate::event::Event;
use crate::segment::Flags;

/// The transmissions so far without an acknowledgment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempts {
    pub(super) times: u32,
    pub(super) time: Duration,
}

impl GiveUp {
    /// Is the limit reached after these attempts?
    fn is_reached(self, attempts: Attempts) -> bool {
        match self {
            Self::Never => false,
            Self::After(longest) => attempts.time >= longest,
            Self::Retransmissions(most) => attempts.times >= most,
        }
    }
}

impl Connection {
    /// A timer of the sender expired. The retransmission timer retransmits the segment, or ends the
    /// connection if R2 is reached.
    #[cold]
    pub(super) fn on_sender_timer(&mut self, at: Instant) {
        if !self.sender.has_timed_out(at) {
            return;
        }
        let Some(head) = self.sender.flight().head() else {
            self.sender.on_timeout(at);
            return;
        };
        let limits = &self.config.connection.limits;
        let times = u32::from(head.transmissions).saturating_sub(1);
        let attempts = Attempts { times, time: at - head.first_sent };
        let r2 = if head.flags.has(Flags::SYN) { limits.r2_syn } else { limits.r2 };
        if r2.is_reached(attempts) || self.sender.exceeds_user_timeout(attempts.time) {
            self.fail(Failure::TimedOut);
            return;
        }
        let seq = head.seq;
        if limits.r1 == Some(times) {
            self.push_event(Event::DeliveryProblem { at, seq });
        }
        self.sender.on_timeout(at);
    }

    /// The persist timer expired. The window may stay closed for ever as long as the peer answers
    /// the probes (RFC 9293 section 3.8.6.1); R2 limits unanswered ones.
    pub(super) fn on_persist_timer(&mut self, at: Instant) {
        let last_received = self.sender.last_received();
        self.persist.on_timer(&mut self.sender.timers, at, (self.config.rto.max, last_received));
        let times = self.persist.unanswered().saturating_sub(1);
        let time = last_received.map_or(Duration::ZERO, |last_received| at - last_received);
        if times > 0 && self.config.connection.limits.r2.is_reached(Attempts { times, time }) {
            self.fail(Failure::TimedOut);
        }
    }
}
