//! SACK-based loss recovery: RFC 6675, and RFC 3517 before it.

use super::Fast;
use crate::config::{Outstanding, SackRules};
use crate::flight::{AckFacts, Cause, LossRule, Sent};
use crate::sender::{Chunk, Sender};
use crate::seq::Seq;

impl Sender {
    /// IsLost (section 4 of both RFCs): enough was SACKed above.
    fn loss_rule(&self) -> LossRule {
        let dupthresh = self.config.recovery.dupthresh;
        let bytes = match self.config.recovery.sack.rules {
            SackRules::Rfc3517 => u64::from(dupthresh) * self.window.smss,
            // ns-2 has no such rule, and does not ask.
            SackRules::Rfc6675 | SackRules::Ns2 => {
                u64::from(dupthresh.max(1) - 1) * self.window.smss + 1
            }
        };
        LossRule { runs: dupthresh, bytes }
    }

    /// Outside recovery (RFC 6675 section 5): duplicate acknowledgments are counted, those of
    /// RFC 5681 by RFC 3517, those with new SACK information by RFC 6675.
    pub(super) fn sack_counts(&mut self, facts: &AckFacts) {
        let rules = self.config.recovery.sack.rules;
        let duplicate = match rules {
            SackRules::Rfc3517 => facts.duplicate,
            SackRules::Rfc6675 | SackRules::Ns2 => facts.newly_sacked > 0,
        };
        if facts.newly_sacked > 0 {
            self.flight.mark_lost(self.loss_rule());
        }
        if !duplicate {
            return;
        }
        self.recovery.dupacks += 1;
        if facts.newly_sacked > 0 {
            self.recovery.informative += 1;
        }
        let counted = self.recovery.dupacks >= self.dupthresh();
        let head_lost = rules == SackRules::Rfc6675 && self.flight.lost_edge() > self.flight.una();
        if (counted || head_lost) && self.may_recover() {
            let end = self.flight.head().map_or(self.flight.una(), Sent::end);
            self.enter(Fast::Sack { high_rxt: end, rescue: end }, facts.at);
            self.flight.mark_repaired(self.flight.una());
        }
    }

    /// In recovery (RFC 6675 section 5 step C).
    pub(super) fn sack_recovers(&mut self, facts: &AckFacts) {
        if facts.ack >= self.recovery.recover {
            self.recovery.leave();
        }
        if facts.newly_sacked > 0 || facts.is_new() {
            self.flight.mark_lost(self.loss_rule());
        }
    }

    /// What counts against the window in recovery: the pipe (RFC 6675 section 4, SetPipe), or all
    /// that is outstanding and not SACKed.
    pub(super) fn sack_outstanding(&self) -> u64 {
        let flight = &self.flight;
        let unsacked = flight.size() - flight.sacked();
        match self.config.recovery.sack.outstanding {
            Outstanding::Pipe => unsacked - flight.lost() + flight.repaired(),
            Outstanding::Classic => unsacked,
        }
    }

    /// NextSeg (RFC 6675 section 4), as long as the window has room for a whole segment.
    pub(crate) fn choose_by_scoreboard(&mut self) -> Option<Chunk> {
        if self.outstanding() + self.window.smss > self.window.cwnd {
            return None;
        }
        let Some(Fast::Sack { high_rxt, rescue }) = self.recovery.fast else { return None };
        // (1) the first hole that is lost
        if let Some(hole) = self.hole_below(self.flight.lost_edge(), high_rxt) {
            return self.repair(hole);
        }
        // (2) new data
        if let Some(chunk) = self.new_chunk() {
            return Some(chunk);
        }
        // (3) the first hole below something SACKed
        if let Some(hole) = self.hole_below(self.flight.sacked_edge(), high_rxt) {
            return self.repair(hole);
        }
        // (4) once, the last segment, for nothing else may show that it was lost
        if self.config.recovery.sack.rules == SackRules::Rfc3517 || self.flight.una() <= rescue {
            return None;
        }
        let last = self.flight.last_unsacked().copied()?;
        self.recovery.fast = Some(Fast::Sack { high_rxt, rescue: self.recovery.recover });
        self.chunk_at(last.seq, Cause::Recovery)
    }

    /// The first hole from `high_rxt` on, if it lies below `edge`: where nothing does, nothing is
    /// looked through.
    fn hole_below(&self, edge: Seq, high_rxt: Seq) -> Option<Seq> {
        let from = high_rxt.max(self.flight.una());
        if from >= edge {
            return None;
        }
        let hole = self.flight.unsacked_from(from)?.seq;
        (hole < edge).then_some(hole)
    }

    fn repair(&mut self, seq: Seq) -> Option<Chunk> {
        let end = self.flight.segment_at(seq)?.end();
        self.flight.mark_repaired(seq);
        if let Some(Fast::Sack { high_rxt, .. }) = &mut self.recovery.fast {
            *high_rxt = end;
        }
        self.chunk_at(seq, Cause::Recovery)
    }
}
