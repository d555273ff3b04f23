//! The back-off of the retransmission timer (RFC 6298 section 5.5), and the exceptions from it.

use rtolab_time::{Duration, Instant};

use super::Sender;
use crate::config::{BackoffEnd, LinearFor, OnPathChange, OnUnreachable};
use crate::flight::Sent;
use crate::segment::Flags;
use crate::seq::Seq;
use crate::timer::Timer;

/// A stream with fewer outstanding segments is thin (Linux: `tcp_stream_is_thin`).
const THIN_SEGMENTS: u64 = 4;

impl Sender {
    /// Backs the timer off after it expired for `head`, unless that timeout is linear.
    pub(super) fn back_off(&mut self, head: &Sent) {
        if self.is_linear_syn_timeout(head) {
            return;
        }
        self.timeouts_in_a_row = self.timeouts_in_a_row.saturating_add(1);
        match self.is_linear_timeout(head) {
            // The stream may have been thicker before.
            true => self.rtt.end_backoff(),
            false => self.rtt.back_off(),
        }
    }

    /// Does the timer of `head` not back off, because it is the SYN of an active open with few
    /// timeouts (Linux: `tcp_syn_linear_timeouts`)?
    fn is_linear_syn_timeout(&self, head: &Sent) -> bool {
        let opens = head.flags.has(Flags::SYN) && !head.flags.has(Flags::ACK);
        opens && self.syn_timeouts < self.config.connection.syn_linear_timeouts
    }

    /// Does the timer of `head` not back off, because few timeouts preceded it (Linux:
    /// `TCP_THIN_LINEAR_RETRIES`)?
    fn is_linear_timeout(&self, head: &Sent) -> bool {
        let config = &self.config.backoff;
        if self.timeouts_in_a_row > config.linear || head.flags.has(Flags::SYN) {
            return false;
        }
        match config.linear_for {
            LinearFor::All => true,
            LinearFor::ThinStreams => self.flight.size() < THIN_SEGMENTS * self.window.smss(),
        }
    }

    /// Processes new data acknowledged: timeouts are counted from there on.
    pub(super) fn note_backoff_progress(&mut self) {
        self.timeouts_in_a_row = 0;
        if self.config.backoff.ends == BackoffEnd::NewAck {
            self.rtt.end_backoff();
        }
    }

    /// The connection ends at `first_sent` plus the user timeout, so the timer expires then at the
    /// latest (RFC 5482; Linux: `tcp_clamp_rto_to_user_timeout`).
    pub(super) fn clamp_to_user_timeout(&mut self, first_sent: Instant) {
        let Some(user_timeout) = self.config.connection.limits.user_timeout else { return };
        if let Some(expiry) = self.timers.get(Timer::Retransmission) {
            self.timers.set(Timer::Retransmission, expiry.min(first_sent + user_timeout));
        }
    }

    /// Processes an ICMP message `destination unreachable`, code 0 or 1, that quotes the segment at
    /// `seq`: takes back one back-off, and sets the timer to what is left of the shorter timeout
    /// (RFC 6069 section 3).
    pub(crate) fn on_unreachable(&mut self, seq: Seq, at: Instant) {
        let reverts = self.config.backoff.unreachable == OnUnreachable::Reverts;
        let timed_out = self.timeouts_in_a_row > 0 && self.rtt.backoff() > 0;
        let Some(head) = self.flight.head().filter(|head| head.seq == seq) else { return };
        if reverts && timed_out && self.timers.is_running(Timer::Retransmission) {
            let last_sent = head.last_sent;
            self.rtt.revert_backoff();
            self.timers.schedule(Timer::Retransmission, self.expiry(last_sent).max(at), at);
        }
    }

    /// Processes a hint that the path has changed or returned: ends the back-off. If the timer has
    /// expired since the last acknowledgment of new data, it expires now.
    pub(crate) fn on_path_change(&mut self, at: Instant) {
        if self.config.backoff.path_change != OnPathChange::Resets {
            return;
        }
        self.rtt.end_backoff();
        if self.timeouts_in_a_row > 0 && self.timers.is_running(Timer::Retransmission) {
            self.timers.set(Timer::Retransmission, at);
            self.timeouts_in_a_row = 0;
        }
    }

    /// Is the user timeout over for a segment that was first sent `age` ago?
    pub(crate) fn exceeds_user_timeout(&self, age: Duration) -> bool {
        self.config.connection.limits.user_timeout.is_some_and(|longest| age >= longest)
    }
}
