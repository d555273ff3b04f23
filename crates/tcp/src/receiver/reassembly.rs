//! Out-of-order data is kept until the gap before it is filled (RFC 9293 section 3.10.7.4), and
//! acknowledged by the rules of RFC 5681 section 4.2.

use core::ops::Range;

use rtolab_time::Instant;

use super::dupacks::Dupack;
use super::sack_memory::take_touching;
use super::window_growth::{Own, Queued};
use super::{AckDue, Receiver};
use crate::config::{AckRules, GapFill};
use crate::segment::{Flags, Segment};
use crate::seq::Seq;

impl Receiver {
    /// Does the receiver hold all of this range?
    #[inline]
    pub fn holds(&self, range: &Range<Seq>) -> bool {
        range.end <= self.rcv_nxt
            || self
                .queued
                .iter()
                .any(|block| block.start <= range.start.max(self.rcv_nxt) && range.end <= block.end)
    }

    /// The parts of this range that the receiver does not hold, in order.
    pub fn missing(&self, range: Range<Seq>) -> impl Iterator<Item = Range<Seq>> + '_ {
        let Range { start, end } = range;
        let mut next = start.max(self.rcv_nxt);
        core::iter::from_fn(move || {
            while let Some(block) = self.queued.iter().find(|block| block.contains(&next)) {
                next = block.end;
            }
            let above = self.queued.iter().map(|block| block.start).filter(|start| *start > next);
            let part = next..end.min(above.min().unwrap_or(end));
            next = next.max(part.end);
            (!part.is_empty()).then_some(part)
        })
    }

    /// The number of disjoint ranges held above RCV.NXT. A buffer of their bytes may bound it.
    pub fn out_of_order_ranges(&self) -> usize {
        self.queued.len()
    }

    /// The most recent of them.
    pub fn newest_out_of_order(&self) -> Option<&Range<Seq>> {
        self.queued.first()
    }

    /// Processes payload and FIN of an acceptable or duplicate segment, and schedules its
    /// acknowledgment.
    #[inline(always)]
    pub fn take(&mut self, segment: &Segment, at: Instant) {
        let range = segment.seq..segment.end();
        if range.is_empty() {
            return;
        }
        if segment.flags.has(Flags::FIN) {
            self.note_fin(&range);
        }
        let is_next = range.start == self.rcv_nxt;
        self.delayed.arrived(segment, at, &self.config.receiver);
        let fits = range.end <= self.rcv_wnd_edge;
        // The common case: the next expected segment, with nothing queued.
        if is_next && self.queued.is_empty() && fits {
            self.rcv_nxt = range.end;
            self.due = self.delayed.in_order(segment, at, self.due, &self.config.receiver);
            return;
        }
        self.take_out_of_order(segment, at);
    }

    /// Records the peer's FIN, if it lies in the window and is the first one.
    fn note_fin(&mut self, range: &Range<Seq>) {
        if self.fin.is_none() && range.end > self.rcv_nxt && range.end <= self.rcv_wnd_edge {
            self.fin = Some(range.end - 1);
        }
    }

    /// Processes a segment that is not the next expected one, or that may fill a gap.
    #[inline(never)]
    fn take_out_of_order(&mut self, segment: &Segment, at: Instant) {
        let range = segment.seq..segment.end();
        let fits = range.end <= self.rcv_wnd_edge;
        let before = self.rcv_nxt;
        self.duplicate = self.duplicate_part(&range);
        // Nothing follows a FIN.
        let edge = self.fin.map_or(self.rcv_wnd_edge, |fin| self.rcv_wnd_edge.min(fin + 1));
        let rest = range.start.max(self.rcv_nxt)..range.end.min(edge);
        let queues = !rest.is_empty();
        let queued = self.queued_data(&range);
        if range.end <= before {
            let is_new = !self.echo.has_acknowledged_beyond(range.end);
            self.delayed.duplicate(is_new, &self.config.receiver);
        }
        if queues {
            self.queue(rest);
            self.remember_sack_blocks(range.clone());
        }
        match range.start == before && fits && self.duplicate.is_none() {
            true => self.schedule_fill(segment, at, (queued, before)),
            false if range.start > before && queues => self.schedule_dupack(segment, at, queued),
            false => self.due = AckDue::Now,
        }
        if self.rcv_nxt > before {
            // Linux forgets all SACK information at a FIN (`tcp_fin`).
            if self.has_received_fin() && self.config().ack_rules == AckRules::Linux {
                self.duplicate = None;
            }
            if let Some(dupacks) = &mut self.dupacks {
                dupacks.filled();
            }
        }
    }

    /// The data above RCV.NXT before a segment with this `range` arrives, if it counts.
    fn queued_data(&self, range: &Range<Seq>) -> Queued {
        if self.config().memory.is_none() {
            return Queued::default();
        }
        let bytes = self.queued.iter().map(|range| range.end.since(range.start)).sum();
        let own = match self.queued.iter().any(|before| before.end == range.start) {
            _ if range.start <= self.rcv_nxt => Own::Queued,
            _ if self.duplicate.as_ref() == Some(range) => Own::Dropped,
            true => Own::Appended,
            false => Own::NotYet,
        };
        Queued { ranges: self.queued.len(), bytes, own }
    }

    /// Schedules the acknowledgment of a segment that filled a gap, or the beginning of one:
    /// RCV.NXT was `before`.
    fn schedule_fill(&mut self, segment: &Segment, at: Instant, (queued, before): (Queued, Seq)) {
        let at_once = match self.config().gap_fill {
            GapFill::AtOnce => true,
            GapFill::WhereJoined => self.rcv_nxt > segment.end() || self.due != AckDue::No,
            GapFill::Delayed => false,
        };
        self.due = match at_once || self.has_received_fin() {
            true => {
                let moved = (queued, before, self.rcv_nxt);
                self.delayed.fill(segment, (at, &self.config.receiver), moved);
                AckDue::Now
            }
            false => self.delayed.in_order(segment, at, self.due, &self.config.receiver),
        };
    }

    /// Schedules the duplicate acknowledgment of a segment above a gap.
    fn schedule_dupack(&mut self, segment: &Segment, at: Instant, queued: Queued) {
        let dupack = self.dupacks.as_mut().map_or(Dupack::Now, |dupacks| dupacks.arrived(at));
        if dupack == Dupack::Now {
            let before = (queued, self.rcv_nxt, self.due);
            self.due = self.delayed.out_of_order(segment, (at, self.config.sack), before);
        }
    }

    /// The first part of `range` that was received before.
    pub(super) fn duplicate_part(&self, range: &Range<Seq>) -> Option<Range<Seq>> {
        if range.start < self.rcv_nxt {
            return Some(range.start..range.end.min(self.rcv_nxt));
        }
        let overlap = |block: &Range<Seq>| range.start.max(block.start)..range.end.min(block.end);
        self.queued
            .iter()
            .map(overlap)
            .filter(|part| !part.is_empty())
            .min_by_key(|part| part.start)
    }

    /// Updates the SACK blocks of a receiver that remembers only some, after a segment with this
    /// `range` was queued.
    fn remember_sack_blocks(&mut self, range: Range<Seq>) {
        let Some(most) = self.config().remembered_sack_blocks else { return };
        let memory = self.sack_memory.get_or_insert_default();
        if range.start > self.rcv_nxt {
            memory.add(range, most as usize);
        }
        memory.advance(self.rcv_nxt, self.queued.is_empty());
    }

    /// Merges `range` into the queue and advances RCV.NXT.
    fn queue(&mut self, range: Range<Seq>) {
        let range = take_touching(&mut self.queued, range);
        if range.start <= self.rcv_nxt {
            self.rcv_nxt = range.end;
        } else {
            self.queued.insert(0, range);
        }
    }
}
