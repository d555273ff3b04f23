//! The idle timer: keep-alive, FIN-WAIT-2 and TIME-WAIT share it, because no two run at once.

use rtolab_time::Instant;

use super::keep_alive::Silence;
use super::{Connection, Failure, State};
use crate::event::Event;
use crate::timer::Timer;

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

    /// Has the peer been silent for long?
    fn on_silence(&mut self, at: Instant) {
        let Some(knobs) = self.config.connection.keep_alive else { return };
        let timers = &mut self.sender.timers;
        let else_asks = self.sender.flight.size() > 0 || timers.is_running(Timer::Persist);
        let heard = self.sender.last_received();
        match self.cold.asked.on_timer(&knobs, at, (heard, else_asks)) {
            Silence::NotLongEnough(until) => self.sender.timers.set(Timer::Idle, until),
            Silence::Probe => {
                self.persist.ask();
                self.sender.timers.set(Timer::Idle, at + knobs.interval);
            }
            Silence::TooLong => self.fail(Failure::TimedOut),
        }
    }
}
