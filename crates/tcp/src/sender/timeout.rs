//! The retransmission timer, and what its expiry changes.

use rtolab_time::Instant;

use super::{Permit, Sender};
use crate::config::RepeatedTimeout;
use crate::event::Event;
use crate::flight::Cause;
use crate::segment::Flags;

impl Sender {
    /// RFC 6298 sections 5.2 and 5.3.
    pub(super) fn restart_timer(&mut self, at: Instant) {
        if self.flight.size() == 0 {
            self.deadline = None;
        } else if self.recovery.restarts_timer(&self.config.recovery) {
            self.deadline = Some(at + self.rtt.rto());
        }
    }

    /// The retransmission timer expired (RFC 6298 section 5.4 to 5.6, RFC 5681 section 3.1).
    pub fn on_timeout(&mut self, at: Instant) {
        let Some(head) = self.flight.head().copied() else {
            self.deadline = None;
            return;
        };
        self.events.push(Event::Timeout(self.retransmission(head.seq, at)));
        self.rtt.back_off();
        self.deadline = Some(at + self.rtt.rto());
        self.timed = None;
        self.resend_head = Some(Cause::Timeout);
        self.burst = u32::MAX;
        self.nxt = head.end();
        let repeated = self.timed_out_at.replace(head.seq) == Some(head.seq);
        if head.flags.has(Flags::SYN) {
            self.syn_timed_out = true;
            return;
        }
        if !repeated {
            self.saved = self.state_to_save();
        }
        if !repeated || self.config.window.repeated_timeout == RepeatedTimeout::Halves {
            self.halve(self.flight.size());
        }
        self.recovery.on_timeout(self.flight.max());
        self.flight.clear_scoreboard();
        self.permit = Permit::Windows;
        self.begin_timeout(&head, at);
        match self.config.frto {
            true => {
                self.frto.on_timeout();
                self.permit = Permit::New(0);
            }
            false => self.window.set_segments(1),
        }
    }
    /// Until SND.UNA advances the timer does not expire, duplicate acknowledgments start no
    /// recovery, and what was decided but has not left is not sent again: see
    /// [`crate::Connection::forbear`].
    pub fn forbear(&mut self) {
        self.forbears = true;
        self.resend_head = None;
        self.nxt = self.flight.max();
        self.recovery.leave();
    }
}
