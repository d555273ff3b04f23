//! Reordered acknowledgments, which have old timestamps: Linux accepts some that RFC 7323 drops,
//! and limits the rate of its answers to them and to SYNs.

use rtolab_time::{Duration, Instant};

use super::Connection;
use crate::config::OldAcks;
use crate::segment::{Flags, Segment};

impl Connection {
    /// Is a segment accepted despite its old timestamp (Linux: `tcp_disordered_ack_check`)?
    #[cold]
    pub(super) fn accepts_old_timestamp(&self, segment: &Segment) -> bool {
        let behind = self.receiver.ticks_behind(segment);
        let linux = self.config.receiver.old_acks == OldAcks::Linux;
        linux
            && (behind <= 1 || (self.is_repeated_ack(segment) && behind <= self.max_ticks_behind()))
    }

    /// Does the segment repeat the last acknowledgment without a larger window?
    fn is_repeated_ack(&self, segment: &Segment) -> bool {
        let una = self.sender.flight().una();
        let offered = self.sender.wnd_edge().since(una);
        segment.sequence_length() == 0
            && segment.flags.has(Flags::ACK)
            && segment.seq == self.receiver.rcv_nxt()
            && segment.ack == una
            && (1..=offered).contains(&u64::from(segment.window))
    }

    /// The largest accepted age in ticks: 1.2 times the RTO in milliseconds, which Linux assumes to
    /// be the tick of the peer's clock (`tcp_tsval_replay`).
    fn max_ticks_behind(&self) -> u32 {
        let tick = Duration::from_millis(1).nanos();
        u32::try_from((self.sender.rtt().rto() * 6 / 5).nanos() / tick).unwrap_or(u32::MAX)
    }

    /// Returns whether an old or out-of-window segment may be answered. Linux limits the rate of
    /// answers to those without data (`tcp_oow_rate_limited`).
    pub(super) fn may_answer_unacceptable(&mut self, segment: &Segment, at: Instant) -> bool {
        let unlimited = segment.sequence_length() > 0 && !segment.flags.has(Flags::SYN);
        unlimited || self.may_answer_now(at)
    }

    /// Returns whether an invalid segment may be answered, for Linux at most once in a time
    /// (`__tcp_oow_rate_limited`).
    pub(super) fn may_answer_now(&mut self, at: Instant) -> bool {
        if self.config.receiver.old_acks != OldAcks::Linux {
            return true;
        }
        let spacing = self.config.connection.challenge.spacing;
        let is_limited = self.cold.last_oow_ack.is_some_and(|before| at - before < spacing);
        if !is_limited {
            self.cold.last_oow_ack = Some(at);
        }
        !is_limited
    }
}
