//! Keep-alive: probes a peer that has been silent for long (RFC 9293 section 3.8.4).

use rtolab_time::Instant;

use super::{Connection, Failure, State};
use crate::event::Event;
use crate::timer::Timer;

/// The probes so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked {
    /// When the last one left.
    last: Option<Instant>,
    /// Probes without an answer.
    unanswered: u32,
}

impl Connection {
    /// The connection is established: the keep-alive timer starts.
    pub(super) fn keep_alive(&mut self, at: Instant) {
        let due = self.config.connection.keep_alive.map(|knobs| at + knobs.idle);
        self.sender.timers.arm(Timer::Idle, due);
    }

    /// The end of TIME-WAIT, of FIN-WAIT-2 where nobody reads, or of a keep-alive interval.
    #[cold]
    pub(super) fn on_idle_timer(&mut self, at: Instant) {
        match self.state {
            State::TimeWait => self.finish(Event::Closed),
            _ if self.is_forsaken() => self.finish(Event::Closed),
            _ => self.on_silence(at),
        }
    }

    /// Has the peer been silent for long? Its segments do not restart the timer, which compares
    /// times when it expires.
    fn on_silence(&mut self, at: Instant) {
        let Some(knobs) = self.config.connection.keep_alive else { return };
        let heard = self.sender.last_received();
        let asked = &mut self.cold.asked;
        if heard >= asked.last {
            asked.unanswered = 0;
        }
        let due = heard.map_or(at, |heard| heard + knobs.idle);
        // Outstanding data and a closed window have probes of their own.
        let asks = self.sender.flight().size() > 0 || self.sender.timers.is_running(Timer::Persist);
        if asks || (asked.unanswered == 0 && due > at) {
            self.sender.timers.set(Timer::Idle, if asks { at + knobs.idle } else { due });
        } else if asked.unanswered >= knobs.probes {
            self.fail(Failure::TimedOut);
        } else {
            *asked = Asked { last: Some(at), unanswered: asked.unanswered + 1 };
            self.persist.ask();
            self.sender.timers.set(Timer::Idle, at + knobs.interval);
        }
    }
}
