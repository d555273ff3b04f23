//! TIME-WAIT: how long it lasts, and who may end it early (RFC 9293 section 3.6.1, RFC 6191); and
//! how long FIN-WAIT-2 may last before it.

use rtolab_time::{Duration, Instant};

use super::{Connection, State};
use crate::segment::{Flags, Segment};
use crate::timer::Timer;

impl Connection {
    /// TIME-WAIT begins, or begins again.
    pub(super) fn wait(&mut self, at: Instant) {
        self.state = State::TimeWait;
        self.sender.timers.set(Timer::Idle, at + self.time_wait());
    }

    /// FIN-WAIT-2 begins: without an application the peer must not keep it open without limit.
    pub(super) fn await_fin(&mut self, at: Instant) {
        let timeout = self.config.connection.fin_timeout.filter(|_| self.rcv_shutdown);
        if let Some(timeout) = timeout {
            // Not before what may have been lost can have come again (Linux, `tcp_fin_time`).
            let timeout = timeout.max(self.sender.rto() * 7 / 2);
            self.sender.timers.set(Timer::Idle, at + timeout);
        }
    }

    /// Does nobody wait any more for the peer to close?
    pub(super) fn is_forsaken(&self) -> bool {
        let limited = self.config.connection.fin_timeout.is_some();
        self.state == State::FinWait2 && self.rcv_shutdown && limited
    }

    /// How long TIME-WAIT lasts.
    fn time_wait(&self) -> Duration {
        self.config.msl * 2
    }

    /// Is the connection in TIME-WAIT, and does `syn` begin another one that nothing of this one
    /// can be mistaken for (RFC 6191 section 2)? Then its owner may drop it and give the segment to
    /// a [`Listener`](crate::Listener). The initial sequence number of the new one has to lie above
    /// what this one has sent, which the clock of RFC 6528 sees to.
    pub fn yields_to(&self, syn: &Segment) -> bool {
        let opens = syn.flags.has(Flags::SYN) && !syn.flags.any(Flags::ACK | Flags::RST);
        if self.state != State::TimeWait || !opens {
            return false;
        }
        let later = syn.seq >= self.receiver.nxt();
        let stamped = syn.timestamps().filter(|_| self.config.timestamps);
        match (self.receiver.recent().filter(|_| self.agreed.timestamps), stamped) {
            (Some(recent), Some(new)) => match new.value.wrapping_sub(recent) as i32 {
                0 => later,
                age => age > 0,
            },
            (None, Some(_)) => true,
            (_, None) => later,
        }
    }
}
