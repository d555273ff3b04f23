//! The scoreboard: which outstanding data is SACKed, marked lost and retransmitted (RFC 6675
//! section 4).

use alloc::boxed::Box;
use core::ops::Range;

use super::known::KnownBlocks;
use super::{AckFacts, DsackBlock, Flight, Sent};
use crate::segment::Flags;
use crate::seq::Seq;

/// How much data SACKed above a segment makes it lost; either threshold is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossRule {
    /// The number of discontiguous SACKed sequences.
    pub sacked_ranges: u32,
    /// The number of SACKed bytes.
    pub bytes: u64,
}

impl Flight {
    /// The outstanding data in bytes, without the sequence number of a FIN (RFC 5827: `ownd`).
    pub(crate) fn data(&self) -> u64 {
        self.size() - self.fin(|_| true)
    }

    /// The outstanding data in bytes that is not SACKed, without the sequence number of a FIN.
    pub(crate) fn unsacked_data(&self) -> u64 {
        self.size() - self.sacked - self.fin(|last| !last.sacked)
    }

    /// One if a FIN is outstanding and its segment `is_counted`, else zero.
    fn fin(&self, is_counted: impl Fn(&Sent) -> bool) -> u64 {
        u64::from(self.last().is_some_and(|last| last.flags.has(Flags::FIN) && is_counted(last)))
    }

    /// The number of SACKed bytes below `seq`.
    pub fn sacked_below(&self, seq: Seq) -> u64 {
        if seq >= self.sacked_end {
            return self.sacked;
        }
        let below = self.segments.iter().take_while(|segment| segment.seq < seq);
        below.filter(|segment| segment.sacked).map(|segment| u64::from(segment.len)).sum()
    }

    /// Marks the segments that lie wholly within `block` as SACKed, and adds the new ones to
    /// `facts`.
    pub(super) fn mark_sacked(
        &mut self,
        block: &Range<Seq>,
        facts: &mut AckFacts,
        on_delivered: &mut impl FnMut(&Sent, &AckFacts),
    ) {
        if block.start >= block.end || block.start < self.una || block.end > self.max {
            return;
        }
        let known = self.known.get_or_insert_with(|| Box::new(KnownBlocks::EMPTY));
        let first = match known.marked_up_to(block) {
            Some(end) if block.end <= end => return,
            Some(end) => self.index_of(end),
            None => self.first_from(block.start),
        };
        for segment in self.segments.range_mut(first..) {
            if segment.end() > block.end {
                break;
            }
            if segment.sacked || segment.seq < block.start {
                continue;
            }
            on_delivered(segment, facts);
            let bytes = u64::from(segment.len);
            facts.newly_sacked += bytes;
            facts.sacked_end = facts.sacked_end.max(Some(segment.end()));
            facts.note_original(segment);
            facts.note_sacked_sent(segment);
            let was_lost = core::mem::take(&mut segment.lost);
            if was_lost {
                self.lost -= bytes;
            }
            if segment.retrans_out && (was_lost || !self.keeps_retrans_out) {
                segment.retrans_out = false;
                self.retrans_out -= bytes;
                self.lost_retrans -= if was_lost { bytes } else { 0 };
            }
            segment.sacked = true;
            segment.ever_sacked = true;
            // The segment extends the highest run downwards, or begins a new highest run.
            let (extends, is_above) =
                (segment.end() == self.highest_run, segment.seq > self.sacked_end);
            if self.sacked == 0 || extends || is_above {
                self.highest_run = segment.seq;
            }
            self.sacked += bytes;
            self.sacked_end = self.sacked_end.max(segment.end());
        }
    }

    /// Marks every segment lost that is not SACKed and that is lost by `rule` (RFC 6675 section 4,
    /// IsLost).
    pub fn mark_lost(&mut self, rule: LossRule) {
        let end = self.loss_end_by(rule);
        if end <= self.lost_end {
            return;
        }
        let first = self.index_of(self.lost_end);
        for segment in self.segments.range_mut(first..) {
            if segment.seq >= end {
                break;
            }
            if !segment.sacked && !segment.lost {
                segment.lost = true;
                self.lost += u64::from(segment.len);
                self.lost_retrans += if segment.retrans_out { u64::from(segment.len) } else { 0 };
            }
        }
        self.lost_end = end;
    }

    /// The end of the highest segment that is lost by `rule`.
    fn loss_end_by(&self, rule: LossRule) -> Seq {
        let (start, end) = (self.highest_run, self.sacked_end);
        let nothing_new = start <= self.lost_end.max(self.una);
        if nothing_new || self.sacked < u64::from(rule.sacked_ranges) {
            return self.lost_end;
        }
        let above = self.index_of(start);
        let (mut bytes, mut runs, mut in_run) = (end.since(start), 1, true);
        for segment in self.segments.range(..above).rev() {
            if segment.end() <= self.lost_end {
                break;
            }
            if segment.sacked {
                bytes += u64::from(segment.len);
                runs += u32::from(!in_run);
            } else if runs >= rule.sacked_ranges || bytes >= rule.bytes {
                return segment.end();
            }
            in_run = segment.sacked;
        }
        self.lost_end
    }

    /// Records that the segment at `seq` was retransmitted in the current recovery.
    pub fn mark_retransmitted(&mut self, seq: Seq) {
        let index = self.index_of(seq);
        if let Some(segment) = self.segments.get_mut(index) {
            if !segment.retrans_out && !segment.sacked {
                segment.retrans_out = true;
                self.retrans_out += u64::from(segment.len);
                self.lost_retrans += if segment.lost { u64::from(segment.len) } else { 0 };
            }
        }
    }

    /// Clears the marks of lost and retransmitted segments: a recovery begins or ends.
    pub fn clear_losses(&mut self) {
        if self.lost == 0 && self.retrans_out == 0 && self.lost_end <= self.una {
            return;
        }
        for segment in &mut self.segments {
            segment.lost = false;
            segment.retrans_out = false;
        }
        (self.lost, self.retrans_out, self.lost_retrans) = (0, 0, 0);
        self.lost_end = self.una;
    }

    /// A D-SACK shows that the retransmissions in `range` have arrived (Linux: `tcp_sacktag_one`).
    pub(super) fn end_retrans_out(&mut self, range: &DsackBlock) {
        let first = self.first_from(range.start.max(self.una));
        for segment in self.segments.range_mut(first..) {
            if segment.end() > range.end {
                break;
            }
            if segment.sacked && core::mem::take(&mut segment.retrans_out) {
                self.retrans_out -= u64::from(segment.len);
                self.lost_retrans -= if segment.lost { u64::from(segment.len) } else { 0 };
            }
        }
    }

    /// Clears the marks of lost segments. Retransmissions stay in flight.
    pub(crate) fn unmark_lost(&mut self) {
        for segment in &mut self.segments {
            segment.lost = false;
        }
        (self.lost, self.lost_retrans) = (0, 0);
        self.lost_end = self.una;
    }

    /// Clears the scoreboard: a timeout may mean that the receiver reneged (RFC 2018 section 8).
    pub fn clear_scoreboard(&mut self) {
        self.clear_losses();
        for segment in &mut self.segments {
            segment.sacked = false;
        }
        self.sacked = 0;
        (self.sacked_end, self.highest_run) = (self.una, self.una);
        self.forget_blocks();
    }

    pub(super) fn forget_blocks(&mut self) {
        if let Some(known) = &mut self.known {
            **known = KnownBlocks::EMPTY;
        }
    }
}
