//! The duration of TIME-WAIT and its early end (RFC 9293 section 3.6.1, RFC 6191), and the limit of
//! FIN-WAIT-2.

use rtolab_time::{Duration, Instant};

use super::{Connection, State};
use crate::segment::{Flags, Segment};
use crate::timer::Timer;

impl Connection {
    /// Enters TIME-WAIT, or restarts its timer.
    pub(super) fn enter_time_wait(&mut self, at: Instant) {
        self.state = State::TimeWait;
        self.sender.timers.set(Timer::Idle, at + self.time_wait());
    }

    /// Enters FIN-WAIT-2. If the application has closed both directions, a timer limits it (Linux:
    /// `tcp_fin_timeout`).
    pub(super) fn enter_fin_wait_2(&mut self, at: Instant) {
        let timeout = self.config.connection.fin_timeout.filter(|_| self.rcv_shutdown);
        if let Some(timeout) = timeout {
            // The peer has time for a retransmission (Linux: `tcp_fin_time`).
            let timeout = timeout.max(self.sender.rto() * 7 / 2);
            self.sender.timers.set(Timer::Idle, at + timeout);
        }
    }

    /// Is the connection in FIN-WAIT-2 without an application (an orphan, in Linux)?
    pub(super) fn is_orphaned(&self) -> bool {
        let limited = self.config.connection.fin_timeout.is_some();
        self.state == State::FinWait2 && self.rcv_shutdown && limited
    }

    /// The duration of TIME-WAIT: 2 MSL.
    fn time_wait(&self) -> Duration {
        self.config.msl * 2
    }

    /// Is the connection in TIME-WAIT, and may `syn` open a new one in its place (RFC 6191 section
    /// 2)? Then the owner may drop this connection and pass the segment to a
    /// [`Listener`](crate::Listener). The initial sequence number of the new connection must lie
    /// above SND.MAX of this one; the clock of RFC 6528 ensures that.
    pub fn can_be_reopened_by(&self, syn: &Segment) -> bool {
        let opens = syn.flags.has(Flags::SYN) && !syn.flags.any(Flags::ACK | Flags::RST);
        if self.state != State::TimeWait || !opens {
            return false;
        }
        let later = syn.seq >= self.receiver.rcv_nxt();
        let stamped = syn.timestamps().filter(|_| self.config.timestamps);
        match (self.receiver.recent().filter(|_| self.negotiated.timestamps), stamped) {
            (Some(recent), Some(new)) => match new.value.wrapping_sub(recent) as i32 {
                0 => later,
                age => age > 0,
            },
            (None, Some(_)) => true,
            (_, None) => later,
        }
    }
}
