//! SACK recovery of ns-2.35 (tcp-sack1.cc, scoreboard-rq.cc), with its defaults: `partial_ack_` off.
//!
//! The pipe is a count that every acknowledgment lowers, whatever it reports, so that segments lost
//! stay in it but for the three that began recovery. Every hole below the highest SACKed segment is
//! lost at once. The scoreboard lives from one new acknowledgment to the next, outside of recovery.

use super::Fast;
use crate::flight::{AckFacts, Cause, Sent};
use crate::sender::{Chunk, Sender};
use crate::seq::Seq;

impl Sender {
    /// Outside recovery: duplicate acknowledgments with new SACK information are counted, but for
    /// those between a timeout and the first new acknowledgment after it.
    pub(super) fn sack1_counts(&mut self, facts: &AckFacts) {
        if facts.is_new() || self.timed_out_at.is_some() {
            self.forget_sacked();
            return;
        }
        if facts.newly_sacked == 0 {
            return;
        }
        self.recovery.dupacks += 1;
        self.recovery.informative += 1;
        if self.recovery.dupacks == self.dupthresh() && self.may_recover() {
            self.begin_sack1(facts);
        }
    }

    /// The duplicate acknowledgments say that as many segments left the network. The head leaves, and
    /// does not count in the pipe; all else waits for the next acknowledgment.
    fn begin_sack1(&mut self, facts: &AckFacts) {
        let high_rxt = self.flight.head().map_or(self.flight.una(), Sent::end);
        let outstanding = self.flight.size().div_ceil(self.window.smss);
        let pipe = outstanding as i64 - i64::from(self.recovery.dupacks);
        self.enter(Fast::Sack1 { high_rxt, pipe }, facts.at);
        self.burst = 1;
    }

    /// In recovery: an acknowledgment takes one segment off the pipe, a partial one two, for the
    /// retransmission that it answers was not counted where it left.
    pub(super) fn sack1_recovers(&mut self, facts: &AckFacts) {
        if facts.ack >= self.recovery.recover {
            self.recovery.leave();
            // `recover_` holds for as long as recovery lasts: it is then zero.
            self.recovery.recover = Seq::FIRST;
            self.forget_sacked();
            return;
        }
        let partial = facts.is_new();
        if let Some(Fast::Sack1 { pipe, .. }) = &mut self.recovery.fast {
            let counts = partial || facts.duplicate || facts.newly_sacked > 0;
            *pipe -= i64::from(counts) + i64::from(partial);
        }
    }

    /// The pipe in bytes.
    pub(super) fn sack1_outstanding(&self, pipe: i64) -> u64 {
        u64::try_from(pipe).unwrap_or(0) * self.window.smss
    }

    /// As long as the pipe has room: the next hole below something SACKed, then new data.
    pub(crate) fn choose_by_pipe(&mut self) -> Option<Chunk> {
        if self.outstanding() + self.window.smss > self.window.cwnd {
            return None;
        }
        let Some(Fast::Sack1 { high_rxt, .. }) = self.recovery.fast else { return None };
        let hole = self.flight.unsacked_from(high_rxt.max(self.flight.una())).copied();
        let hole = hole.filter(|hole| hole.seq < self.flight.sacked_edge());
        let chunk = match hole {
            Some(hole) => self.chunk_at(hole.seq, Cause::Recovery),
            None => self.new_chunk(),
        }?;
        if let Some(Fast::Sack1 { high_rxt, pipe }) = &mut self.recovery.fast {
            *pipe += 1;
            *high_rxt = hole.map_or(*high_rxt, |hole| hole.end());
        }
        Some(chunk)
    }

    fn forget_sacked(&mut self) {
        if self.flight.sacked() > 0 {
            self.flight.clear_scoreboard();
        }
    }
}
