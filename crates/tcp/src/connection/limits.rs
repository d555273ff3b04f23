//! R1 and R2: the limits of retransmission (RFC 9293 section 3.8.3).

use rtolab_time::{Duration, Instant};

use super::{Connection, Failure};
use crate::config::GiveUp;
use crate::event::Event;
use crate::segment::Flags;

/// The attempts so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tried {
    pub(super) times: u32,
    pub(super) time: Duration,
}

impl GiveUp {
    /// Is that enough?
    fn is_reached(self, tried: Tried) -> bool {
        match self {
            Self::Never => false,
            Self::After(longest) => tried.time >= longest,
            Self::Retransmissions(most) => tried.times >= most,
        }
    }
}

impl Connection {
    /// A timer of the sender expired. If it is the retransmission timer, the segment is
    /// retransmitted, or the limit is reached.
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
        let tried = Tried { times, time: at - head.first_sent };
        let r2 = if head.flags.has(Flags::SYN) { limits.r2_syn } else { limits.r2 };
        if r2.is_reached(tried) {
            self.fail(Failure::TimedOut);
            return;
        }
        let seq = head.seq;
        if limits.r1 == Some(times) {
            self.push_event(Event::DeliveryProblem { at, seq });
        }
        self.sender.on_timeout(at);
    }

    /// The persist timer may have expired. A window may stay closed without limit, as long as the
    /// peer answers probes (RFC 9293 section 3.8.6.1).
    pub(super) fn on_persist_timer(&mut self, at: Instant) {
        let heard = self.sender.last_received();
        self.persist.on_timer(&mut self.sender.timers, at, (self.config.rto.max, heard));
        let times = self.persist.unanswered().saturating_sub(1);
        let time = heard.map_or(Duration::ZERO, |heard| at - heard);
        if times > 0 && self.config.connection.limits.r2.is_reached(Tried { times, time }) {
            self.fail(Failure::TimedOut);
        }
    }
}
