//! Undo by D-SACK as in Linux (`tcp_check_dsack` and `tcp_try_undo_dsack`): retransmissions
//! increment a counter, and reported duplicates decrement it. When it is zero, no retransmission
//! was needed.
//!
//! Unlike RFC 3708 this accepts a segment that was retransmitted twice, which needs two reports,
//! and does not wait for the end of the window.

use alloc::vec::Vec;

use super::{Detector, Episode, Reason, Verdict};
use crate::flight::{AckFacts, DsackBlock, Sent};
use crate::seq::Seq;

/// Counts the retransmissions of an episode and their reported duplicates.
#[derive(Clone, Debug, Default)]
pub struct DsackLinux {
    /// The current episode.
    episode: Option<u32>,
    /// SND.UNA when it began.
    undo_marker: Seq,
    /// The number of retransmissions not yet reported.
    undo_retrans: u32,
    /// The ranges retransmitted in it.
    retransmitted: Vec<(Seq, Seq)>,
}

impl DsackLinux {
    /// Is this the report of a retransmission of the episode (`tcp_check_dsack`)?
    fn counts(&self, range: &DsackBlock, una_before: Seq) -> bool {
        let overlaps = |(start, end): &(Seq, Seq)| *start < range.end && range.start < *end;
        let below = range.end <= una_before;
        range.end > self.undo_marker && (below || self.retransmitted.iter().any(overlaps))
    }
}

impl Detector for DsackLinux {
    fn on_retransmission(&mut self, sent: &Sent, episode: &Episode) {
        if self.episode.replace(episode.number) != Some(episode.number) {
            (self.undo_marker, self.undo_retrans) = (episode.una, 0);
            self.retransmitted.clear();
        }
        self.undo_retrans += 1;
        self.retransmitted.push((sent.seq, sent.end()));
    }

    fn on_probe(&mut self, sent: &Sent, episode: &Episode) {
        self.on_retransmission(sent, episode);
    }

    fn on_ack(&mut self, ack: &AckFacts, episode: &Episode) -> Verdict {
        let Some(range) = &ack.dsack else { return Verdict::Open };
        if self.episode != Some(episode.number) || !self.counts(range, ack.una_before) {
            return Verdict::Open;
        }
        self.undo_retrans = self.undo_retrans.saturating_sub(1);
        if self.undo_retrans == 0 { Verdict::Spurious } else { Verdict::Open }
    }

    fn at_end(&mut self, episode: &Episode) -> Verdict {
        if episode.dsack_seen { Verdict::Open } else { Verdict::Inconclusive(Reason::NoDsack) }
    }
}
