//! Loss marking of RACK (RFC 8985 section 6): a segment is lost if one that was sent sufficiently
//! later has been delivered.

use rtolab_time::{Duration, Instant};

use super::{Cause, Flight, Sent};
use crate::seq::Seq;

/// The transmission order of segments: the time of the last transmission, then the end sequence
/// (`RACK_sent_after`).
pub(crate) type XmitKey = (Instant, Seq);

/// The result of `RACK_detect_loss`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RackLosses {
    /// The first segment that is newly marked lost.
    pub lost: Option<Seq>,
    /// Was a retransmission among them?
    pub lost_again: bool,
    /// When the latest segment was sent whose reordering window has not expired.
    pub awaited: Option<Instant>,
}

impl Sent {
    /// Its place in the transmission order.
    pub(crate) fn xmit_key(&self) -> XmitKey {
        (self.last_sent, self.end())
    }
}

impl Flight {
    /// The segment that a tail loss probe retransmitted, unless it was acknowledged or
    /// retransmitted since.
    pub(crate) fn probed(&self) -> Option<&Sent> {
        self.segments.iter().rev().find(|sent| sent.cause == Cause::Probe)
    }

    /// Marks as lost at `at` every segment that was sent before `newest` and at least `timeout` ago
    /// (`RACK_detect_loss`). A retransmission may be lost, too.
    pub(crate) fn detect_loss(
        &mut self,
        newest: XmitKey,
        timeout: Duration,
        at: Instant,
    ) -> RackLosses {
        let mut losses = RackLosses::default();
        for index in 0..self.segments.len() {
            let sent = self.segments[index];
            if sent.xmit_key() >= newest {
                // No segment after it was sent earlier.
                if !sent.was_retransmitted() {
                    break;
                }
            } else if sent.sacked
                || (sent.lost && !sent.retrans_out)
                || (self.keeps_retrans_out && !sent.listed)
            {
            } else if sent.last_sent + timeout <= at {
                losses.lost_again |= sent.retrans_out && (sent.lost || !self.keeps_retrans_out);
                self.mark_lost_at(index);
                self.segments[index].listed = false;
                losses.lost = losses.lost.or(Some(sent.seq));
            } else {
                losses.awaited = losses.awaited.max(Some(sent.last_sent));
            }
        }
        losses
    }

    /// A copy of the segment that ends at `end` is lost; is another one in flight? Returns the
    /// first sequence number of the segment, if it is outstanding and not SACKed (RFC 9002 appendix
    /// A.10).
    pub(crate) fn mark_copy_lost(&mut self, end: Seq, other_in_flight: bool) -> Option<Seq> {
        let index = self.index_of(end - 1);
        let seq = self.segments.get(index).filter(|sent| !sent.sacked)?.seq;
        self.mark_lost_at(index);
        if other_in_flight {
            self.mark_retransmitted(seq);
        }
        Some(seq)
    }

    /// The timer expired: marks the head lost, and every segment sent at least `timeout` ago
    /// (`RACK_mark_losses_on_RTO`).
    pub(crate) fn mark_lost_on_timeout(&mut self, timeout: Duration, at: Instant) {
        for index in 0..self.segments.len() {
            let sent = self.segments[index];
            if !sent.sacked && (index == 0 || sent.last_sent + timeout <= at) {
                self.mark_lost_at(index);
            }
        }
    }

    /// The number of times that RACK marked a segment or its retransmission lost, modulo 2^16.
    pub(crate) const fn losses(&self) -> u16 {
        self.losses
    }

    /// The bytes that the last segment lacks to a full one, for each of its copies in flight. Where
    /// segments are counted, one that is not full counts like a full one (`tcp_packets_in_flight`).
    pub(crate) fn padding(&self) -> u64 {
        let smss = u32::from(self.smss);
        let Some(last) = self.last().filter(|last| last.len < smss) else { return 0 };
        let copies = u64::from(!last.sacked && !last.lost) + u64::from(last.retrans_out);
        copies * u64::from(smss - last.len)
    }

    /// Marks the first outstanding segment lost, unless it is.
    pub(crate) fn mark_head_lost(&mut self) {
        if self.head().is_some_and(|head| !head.lost) {
            self.mark_lost_at(0);
        }
    }

    /// Marks every segment lost that is not SACKed, from `seq` on.
    pub(crate) fn mark_lost_from(&mut self, seq: Seq) {
        for index in self.index_of(seq)..self.segments.len() {
            if !self.segments[index].sacked {
                self.mark_lost_at(index);
            }
        }
    }

    /// The first segment from `seq` on that is lost and was not retransmitted since.
    pub(crate) fn lost_from(&self, seq: Seq) -> Option<&Sent> {
        if self.lost == self.lost_retrans {
            return None;
        }
        self.segments.range(self.index_of(seq)..).find(|sent| sent.lost && !sent.retrans_out)
    }

    /// Marks a segment lost, and with it its retransmission.
    fn mark_lost_at(&mut self, index: usize) {
        let sent = &mut self.segments[index];
        let bytes = u64::from(sent.len);
        let was_lost = core::mem::replace(&mut sent.lost, true);
        self.losses = self.losses.wrapping_add(u16::from(!was_lost || sent.retrans_out));
        if !was_lost {
            self.lost += bytes;
        }
        if !sent.retrans_out {
        } else if was_lost {
            sent.retrans_out = false;
            self.retrans_out -= bytes;
            self.lost_retrans -= bytes;
        } else if self.keeps_retrans_out {
            self.lost_retrans += bytes;
        } else {
            sent.retrans_out = false;
            self.retrans_out -= bytes;
        }
    }
}
