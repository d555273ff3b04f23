//! Acknowledgments that others have overtaken, by their timestamps: Linux takes some that RFC 7323
//! drops, and answers few.

use rtolab_time::{Duration, Instant};

use super::Connection;
use crate::config::OldAcks;
use crate::segment::{Flags, Segment};

/// Segments without data are answered no more often (`tcp_invalid_ratelimit`).
const SPACING: Duration = Duration::from_millis(500);

impl Connection {
    /// Is a segment with an old timestamp taken all the same?
    #[cold]
    pub(super) fn takes_old_timestamp(&self, segment: &Segment) -> bool {
        let behind = self.receiver.ticks_behind(segment);
        let linux = self.config.connection.old_acks == OldAcks::Linux;
        linux && (behind <= 1 || (self.repeats(segment) && behind <= self.most_behind()))
    }

    /// Does it repeat the last acknowledgment, without a larger window?
    fn repeats(&self, segment: &Segment) -> bool {
        let una = self.sender.flight().una();
        let offered = self.sender.wnd_edge().since(una);
        segment.sequence_length() == 0
            && segment.flags.has(Flags::ACK)
            && segment.seq == self.receiver.nxt()
            && segment.ack == una
            && (1..=offered).contains(&u64::from(segment.window))
    }

    /// 1.2 times the retransmission timeout, in milliseconds, which Linux assumes to be the unit of
    /// the peer's clock (`tcp_tsval_replay`).
    fn most_behind(&self) -> u32 {
        let tick = Duration::from_millis(1).nanos();
        u32::try_from((self.sender.rtt().rto() * 6 / 5).nanos() / tick).unwrap_or(u32::MAX)
    }

    /// Is a segment answered that is old, or outside the window?
    pub(super) fn answers_outside(&mut self, segment: &Segment, at: Instant) -> bool {
        let spaced = self.config.connection.old_acks == OldAcks::Linux;
        if !spaced || segment.sequence_length() > 0 {
            return true;
        }
        let lately = self.cold.answered.is_some_and(|before| at - before < SPACING);
        if !lately {
            self.cold.answered = Some(at);
        }
        !lately
    }
}
