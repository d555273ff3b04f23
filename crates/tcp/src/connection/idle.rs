//! The idle timer: keep-alive, FIN-WAIT-2 and TIME-WAIT share it, because no two run at once.

use rtolab_time::Instant;

use super::keep_alive::KeepAliveStep;
use super::{Connection, Failure, State};
use crate::event::Event;
use crate::timer::Timer;

impl Connection {
    /// Starts the keep-alive timer of an established connection.
    pub(super) fn start_keep_alive(&mut self, at: Instant) {
        let due = self.config.connection.keep_alive.map(|settings| at + settings.idle);
        self.sender.timers.arm(Timer::Idle, due);
    }

    /// The idle timer expired: TIME-WAIT, an orphaned FIN-WAIT-2 or a keep-alive interval ends.
    #[cold]
    pub(super) fn on_idle_timer(&mut self, at: Instant) {
        match self.state {
            State::TimeWait => self.finish(Event::Closed),
            _ if self.is_orphaned() => self.finish(Event::Closed),
            _ => self.on_keep_alive_timer(at),
        }
    }

    /// The keep-alive timer expired: sends a probe, waits longer, or gives up.
    fn on_keep_alive_timer(&mut self, at: Instant) {
        let Some(settings) = self.config.connection.keep_alive else { return };
        let timers = &mut self.sender.timers;
        let has_other_probes = self.sender.flight.size() > 0 || timers.is_running(Timer::Persist);
        let last_received = self.sender.last_received();
        match self.cold.keep_alive.on_timer(&settings, at, (last_received, has_other_probes)) {
            KeepAliveStep::Wait(until) => self.sender.timers.set(Timer::Idle, until),
            KeepAliveStep::Probe => {
                self.persist.request_probe();
                self.sender.timers.set(Timer::Idle, at + settings.interval);
            }
            KeepAliveStep::TimedOut => self.fail(Failure::TimedOut),
        }
    }
}
