//! The scoreboard: what of the outstanding data is selectively acknowledged, taken for lost, and
//! repaired (RFC 6675 section 4).

use alloc::boxed::Box;
use core::ops::Range;

use super::known::Known;
use super::{AckFacts, Flight, Sent};
use crate::seq::Seq;

/// How much SACKed above a segment makes it lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossRule {
    /// So many runs that do not touch each other.
    pub runs: u32,
    /// Or so many bytes.
    pub bytes: u64,
}

impl Flight {
    /// Bytes selectively acknowledged below `edge`.
    pub fn sacked_below(&self, edge: Seq) -> u64 {
        if edge >= self.sacked_edge {
            return self.sacked;
        }
        let below = self.segments.iter().take_while(|segment| segment.seq < edge);
        below.filter(|segment| segment.sacked).map(|segment| u64::from(segment.len)).sum()
    }

    /// Marks what lies wholly within `block` as selectively acknowledged, and notes what is new.
    pub(super) fn mark_sacked(
        &mut self,
        block: &Range<Seq>,
        facts: &mut AckFacts,
        on_delivered: &mut impl FnMut(&Sent, &AckFacts),
    ) {
        if block.start >= block.end || block.start < self.una || block.end > self.max {
            return;
        }
        let known = self.known.get_or_insert_with(|| Box::new(Known::nothing()));
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
            if core::mem::take(&mut segment.lost) {
                self.lost -= bytes;
            }
            if core::mem::take(&mut segment.repaired) {
                self.repaired -= bytes;
            }
            segment.sacked = true;
            segment.reported = true;
            // What touches neither end of the highest run is another run: above it, or below.
            let (joins, is_above) =
                (segment.end() == self.sacked_top, segment.seq > self.sacked_edge);
            if self.sacked == 0 || joins || is_above {
                self.sacked_top = segment.seq;
            }
            self.sacked += bytes;
            self.sacked_edge = self.sacked_edge.max(segment.end());
        }
    }

    /// Marks as lost all that is not selectively acknowledged and that `rule` takes for lost
    /// (RFC 6675 section 4, IsLost).
    pub fn mark_lost(&mut self, rule: LossRule) {
        let edge = self.loss_edge_by(rule);
        if edge <= self.lost_edge {
            return;
        }
        let first = self.index_of(self.lost_edge);
        for segment in self.segments.range_mut(first..) {
            if segment.seq >= edge {
                break;
            }
            if !segment.sacked && !segment.lost {
                segment.lost = true;
                self.lost += u64::from(segment.len);
            }
        }
        self.lost_edge = edge;
    }

    /// Behind the highest segment that has enough SACKed above it to be taken for lost.
    fn loss_edge_by(&self, rule: LossRule) -> Seq {
        let (top, edge) = (self.sacked_top, self.sacked_edge);
        let nothing_new = top <= self.lost_edge.max(self.una);
        if nothing_new || self.sacked < u64::from(rule.runs) {
            return self.lost_edge;
        }
        let above = self.index_of(top);
        let (mut bytes, mut runs, mut in_run) = (edge.since(top), 1, true);
        for segment in self.segments.range(..above).rev() {
            if segment.end() <= self.lost_edge {
                break;
            }
            if segment.sacked {
                bytes += u64::from(segment.len);
                runs += u32::from(!in_run);
            } else if runs >= rule.runs || bytes >= rule.bytes {
                return segment.end();
            }
            in_run = segment.sacked;
        }
        self.lost_edge
    }

    /// Notes that the segment at `seq` was retransmitted in the recovery under way.
    pub fn mark_repaired(&mut self, seq: Seq) {
        let index = self.index_of(seq);
        if let Some(segment) = self.segments.get_mut(index) {
            if !segment.repaired && !segment.sacked {
                segment.repaired = true;
                self.repaired += u64::from(segment.len);
            }
        }
    }

    /// Forgets what was taken for lost and what was repaired: a new recovery begins, or none goes
    /// on.
    pub fn clear_losses(&mut self) {
        if self.lost == 0 && self.repaired == 0 && self.lost_edge <= self.una {
            return;
        }
        for segment in &mut self.segments {
            segment.lost = false;
            segment.repaired = false;
        }
        self.lost = 0;
        self.repaired = 0;
        self.lost_edge = self.una;
    }

    /// Forgets the scoreboard: a timeout may mean that the receiver reneged (RFC 2018 section 8).
    pub fn clear_scoreboard(&mut self) {
        self.clear_losses();
        for segment in &mut self.segments {
            segment.sacked = false;
        }
        self.sacked = 0;
        (self.sacked_edge, self.sacked_top) = (self.una, self.una);
        self.forget_blocks();
    }

    pub(super) fn forget_blocks(&mut self) {
        if let Some(known) = &mut self.known {
            **known = Known::nothing();
        }
    }
}
