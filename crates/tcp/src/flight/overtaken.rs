//! What RACK asks of the history (RFC 8985 section 6): which segments arrived, and which have not
//! although one that was sent later has.

use rtolab_time::{Duration, Instant};

use super::{Cause, Flight, Sent, duplicate_range};
use crate::segment::Segment;
use crate::seq::Seq;

/// When a segment left last, and where it ends: of two that left at once the higher one left later
/// (`RACK_sent_after`).
pub(crate) type Sending = (Instant, Seq);

/// What becomes of segments that others have overtaken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Overtaken {
    /// The first one that is taken for lost now.
    pub lost: Option<Seq>,
    /// Is one of them lost that was sent again before?
    pub again: bool,
    /// When the last of those left for which it is too early to tell.
    pub awaited: Option<Instant>,
}

impl Sent {
    /// When it left last, and where it ends.
    pub(crate) fn sending(&self) -> Sending {
        (self.last_sent, self.end())
    }
}

impl Flight {
    /// The segments that the acknowledgment `segment`, before it is taken, is the first to report,
    /// cumulatively or selectively.
    pub(crate) fn delivered_by(&self, segment: &Segment) -> impl Iterator<Item = &Sent> {
        let (ack, max) = (segment.ack, self.max);
        let skip = usize::from(duplicate_range(segment).is_some());
        let una = self.una.max(ack);
        let valid = move |block: &core::ops::Range<Seq>| {
            block.start < block.end && block.start >= una && block.end <= max
        };
        let blocks = segment.sack_blocks().skip(skip).filter(valid);
        let selectively = blocks.flat_map(|block| {
            let first = self.segments.partition_point(|sent| sent.seq < block.start);
            self.segments.range(first..).take_while(move |sent| sent.end() <= block.end)
        });
        let cumulatively = self.segments.iter().take_while(move |sent| sent.end() <= ack);
        cumulatively.chain(selectively).filter(|sent| !sent.sacked)
    }

    /// What a tail loss probe sent again, unless it was acknowledged or sent again since.
    pub(crate) fn probed(&self) -> Option<&Sent> {
        self.segments.iter().rev().find(|sent| sent.cause == Cause::Probe)
    }

    /// Does `segment`, before it is taken, repeat the last acknowledgment and its window, and say
    /// nothing else?
    pub(crate) fn is_repeated_by(&self, segment: &Segment) -> bool {
        segment.ack == self.una
            && segment.sequence_length() == 0
            && segment.sack_count() == 0
            && self.window == Some(segment.window)
    }

    /// Takes for lost at `at` what left before `newest`, by as much as `settle` ago or earlier
    /// (`RACK_detect_loss`). What was retransmitted may be lost again.
    pub(crate) fn mark_overtaken(
        &mut self,
        newest: Sending,
        settle: Duration,
        at: Instant,
    ) -> Overtaken {
        let mut overtaken = Overtaken::default();
        for index in 0..self.segments.len() {
            let sent = self.segments[index];
            if sent.sending() >= newest {
                // Nothing behind it left earlier.
                if !sent.was_retransmitted() {
                    break;
                }
            } else if sent.sacked || (sent.lost && !sent.repaired) {
            } else if sent.last_sent + settle <= at {
                overtaken.again |= sent.repaired;
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
