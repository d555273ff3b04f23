//! The fast path of the segments in flight: nothing is SACKed or marked lost.

use rtolab_time::Instant;

use super::{FastPathAck, Flight, NewestAcked, Sent};
use crate::segment::{Flags, Segment};

impl Flight {
    /// Records the window of a segment without flags and options.
    #[inline(always)]
    pub(crate) fn note_window(&mut self, window: u32) {
        self.window = Some(window);
    }

    /// As [`Self::sent`], for new data that begins at SND.MAX.
    #[inline(always)]
    pub(crate) fn sent_new(&mut self, segment: &Segment, at: Instant) {
        debug_assert_eq!(segment.seq, self.max);
        self.max += segment.len;
        self.push(Sent::new(segment, at));
    }

    /// Is nothing SACKed, marked lost or retransmitted?
    pub const fn is_clean(&self) -> bool {
        self.sacked | self.lost | self.retrans_out == 0
    }

    /// As [`Self::on_ack`], if nothing is SACKed or marked lost and `segment` acknowledges new data
    /// without SACK blocks and is no SYN.
    #[inline(always)]
    pub(crate) fn on_fast_path_ack(&mut self, segment: &Segment) -> FastPathAck {
        let mut ack = FastPathAck {
            advanced: segment.ack.since(self.una),
            flight_size: self.size(),
            sent: self.segments.front().map(|head| head.first_sent),
            newest_timestamp: None,
            echo: segment.timestamps().map(|timestamps| timestamps.echo),
        };
        self.window = Some(segment.window);
        self.una = segment.ack;
        self.remove_acked(segment, &mut ack);
        ack.sent = ack.sent.filter(|_| ack.newest_timestamp.is_some());
        ack
    }

    /// As [`Self::on_ack`], if nothing is SACKed, marked lost or counted as retransmitted, and
    /// `segment` has no SACK blocks, is no SYN and no duplicate acknowledgment. Returns the last
    /// segment that it wholly acknowledges, if there is one and none of them was retransmitted.
    #[inline]
    pub(crate) fn acked_plainly(&mut self, segment: &Segment) -> Option<NewestAcked> {
        self.window = Some(segment.window);
        self.una = segment.ack;
        let mut newest = None;
        let mut acks_retransmission = false;
        while let Some(head) = self.segments.front() {
            if head.end() > segment.ack {
                if head.seq < segment.ack {
                    self.trim_head(segment.ack);
                }
                break;
            }
            acks_retransmission |= head.was_retransmitted();
            newest = Some(NewestAcked { first_sent: head.first_sent, len: head.len });
            let taken = u32::from(head.flags.any(Flags::SYN | Flags::FIN));
            self.totals.acked_segments += u64::from(head.len > taken);
            self.segments.pop_front();
        }
        newest.filter(|_| !acks_retransmission)
    }

    /// Removes the segments that `segment` acknowledges.
    #[inline(always)]
    fn remove_acked(&mut self, segment: &Segment, ack: &mut FastPathAck) {
        while let Some(head) = self.segments.front().filter(|head| head.seq < segment.ack) {
            if head.end() > segment.ack {
                self.trim_head(segment.ack);
                break;
            }
            if head.was_retransmitted() {
                ack.sent = None;
            }
            ack.newest_timestamp = Some(head.timestamp);
            let taken = u32::from(head.flags.any(Flags::SYN | Flags::FIN));
            self.totals.acked_segments += u64::from(head.len > taken);
            let is_last = head.end() == segment.ack;
            self.segments.pop_front();
            if is_last {
                return;
            }
        }
    }
}
