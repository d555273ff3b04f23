//! What RACK asks of the history (RFC 8985 section 6): which segments arrived, and which have not
//! although one that was sent later has.

use rtolab_time::{Duration, Instant};

use super::{Cause, Flight, Sent};
use crate::seq::Seq;

/// When a segment left last, and where it ends: of two that left at once the higher one left later
/// (`RACK_sent_after`).
pub(crate) type XmitKey = (Instant, Seq);

/// What `RACK_detect_loss` finds among the segments that others have overtaken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Overtaken {
    /// The first one that is marked lost now.
    pub lost: Option<Seq>,
    /// Was one of them retransmitted before?
    pub lost_again: bool,
    /// When the last of those left for which it is too early to tell.
    pub awaited: Option<Instant>,
}

impl Sent {
    /// When it left last, and where it ends.
    pub(crate) fn xmit_key(&self) -> XmitKey {
        (self.last_sent, self.end())
    }
}

impl Flight {
    /// What a tail loss probe sent again, unless it was acknowledged or sent again since.
    pub(crate) fn probed(&self) -> Option<&Sent> {
        self.segments.iter().rev().find(|sent| sent.cause == Cause::Probe)
    }

    /// Takes for lost at `at` what left before `newest`, by as much as `settle` ago or earlier
    /// (`RACK_detect_loss`). What was retransmitted may be lost again.
    pub(crate) fn mark_overtaken(
        &mut self,
        newest: XmitKey,
        settle: Duration,
        at: Instant,
    ) -> Overtaken {
        let mut overtaken = Overtaken::default();
        for index in 0..self.segments.len() {
            let sent = self.segments[index];
            if sent.xmit_key() >= newest {
                // Nothing behind it left earlier.
                if !sent.was_retransmitted() {
                    break;
                }
            } else if sent.sacked || (sent.lost && !sent.repaired) {
            } else if sent.last_sent + settle <= at {
                overtaken.lost_again |= sent.repaired;
                self.lose(index);
                overtaken.lost = overtaken.lost.or(Some(sent.seq));
            } else {
                overtaken.awaited = overtaken.awaited.max(Some(sent.last_sent));
            }
        }
        overtaken
    }

    /// The timer expired: the head is lost, and so is what left `settle` ago or earlier
    /// (`RACK_mark_losses_on_RTO`).
    pub(crate) fn mark_lost_on_timeout(&mut self, settle: Duration, at: Instant) {
        for index in 0..self.segments.len() {
            let sent = self.segments[index];
            if !sent.sacked && (index == 0 || sent.last_sent + settle <= at) {
                self.lose(index);
            }
        }
    }

    /// All that is not selectively acknowledged from `seq` on is lost.
    pub(crate) fn mark_lost_from(&mut self, seq: Seq) {
        for index in self.index_of(seq)..self.segments.len() {
            if !self.segments[index].sacked {
                self.lose(index);
            }
        }
    }

    /// The first segment from `seq` on that is lost and was not retransmitted since.
    pub(crate) fn unrepaired_from(&self, seq: Seq) -> Option<&Sent> {
        if self.lost == self.repaired {
            return None;
        }
        self.segments.range(self.index_of(seq)..).find(|sent| sent.lost && !sent.repaired)
    }

    /// The segment is lost, and so is what it was repaired with.
    fn lose(&mut self, index: usize) {
        let sent = &mut self.segments[index];
        let bytes = u64::from(sent.len);
        if !core::mem::replace(&mut sent.lost, true) {
            self.lost += bytes;
        }
        if core::mem::take(&mut sent.repaired) {
            self.repaired -= bytes;
        }
    }
}
