//! Detection by D-SACK (RFC 3708 section 3). The receiver reports each segment that it received
//! twice (RFC 2883). If it reports every retransmitted segment, and each was retransmitted once, no
//! segment was lost.

use alloc::vec::Vec;

use super::{Detector, Episode, Reason, Verdict};
use crate::flight::{AckFacts, DsackBlock, Sent};
use crate::seq::Seq;

/// Waits until every retransmission of an episode is reported as a duplicate.
#[derive(Clone, Debug, Default)]
pub struct Dsack {
    /// The segments retransmitted in this episode and the one before.
    segments: Vec<Retransmitted>,
    /// Does the network duplicate packets? Then the detector no longer decides.
    disabled: bool,
}

/// A segment that was retransmitted.
#[derive(Clone, Copy, Debug)]
struct Retransmitted {
    start: Seq,
    end: Seq,
    /// The last episode in which it was retransmitted.
    episode: u32,
    retransmissions: u16,
    reported: bool,
}

impl Retransmitted {
    fn overlaps(&self, range: &DsackBlock) -> bool {
        self.start < range.end && range.start < self.end
    }
}

impl Dsack {
    /// Steps A.2 to A.4 for a D-SACK.
    fn take(&mut self, range: &DsackBlock, episode: &Episode) -> Verdict {
        let mut reported =
            self.segments.iter_mut().filter(|segment| segment.overlaps(range)).peekable();
        // A.4: the segment was never retransmitted.
        if reported.peek().is_none() {
            self.disabled = true;
            return Verdict::Inconclusive(Reason::NetworkDuplicates);
        }
        for segment in reported {
            // A.3: the segment was retransmitted several times.
            if segment.retransmissions > 1 && segment.episode == episode.number {
                return Verdict::Inconclusive(Reason::RetransmittedTwice);
            }
            // A.2: the segment was retransmitted once.
            segment.reported = true;
        }
        Verdict::Open
    }

    /// Step B: are all retransmissions of this window reported?
    fn all_reported(&self, episode: &Episode) -> bool {
        let mut these = self.segments.iter().filter(|segment| segment.episode == episode.number);
        episode.retransmissions > 0 && these.all(|segment| segment.reported)
    }
}

impl Detector for Dsack {
    fn on_retransmission(&mut self, sent: &Sent, episode: &Episode) {
        self.segments.retain(|segment| segment.episode + 1 >= episode.number);
        let retransmissions = sent.transmissions.saturating_sub(1);
        let known = self.segments.iter_mut().find(|segment| segment.start == sent.seq);
        let retransmitted = Retransmitted {
            start: sent.seq,
            end: sent.end(),
            episode: episode.number,
            retransmissions,
            reported: false,
        };
        match known {
            Some(segment) => *segment = retransmitted,
            None => self.segments.push(retransmitted),
        }
    }

    fn on_probe(&mut self, sent: &Sent, episode: &Episode) {
        self.on_retransmission(sent, episode);
    }

    fn on_ack(&mut self, ack: &AckFacts, episode: &Episode) -> Verdict {
        if self.disabled {
            return Verdict::Inconclusive(Reason::NetworkDuplicates);
        }
        if let Some(range) = &ack.dsack {
            // A.1: all acknowledgments of a window were lost, which also indicates congestion.
            if range.start == ack.una_before && ack.sacked_before + ack.newly_sacked == 0 {
                return Verdict::Genuine;
            }
            let verdict = self.take(range, episode);
            if verdict != Verdict::Open {
                return verdict;
            }
        }
        // The window is complete when the data outstanding at its begin is acknowledged.
        match ack.ack >= episode.max && self.all_reported(episode) {
            true => Verdict::Spurious,
            false => Verdict::Open,
        }
    }

    fn at_end(&mut self, episode: &Episode) -> Verdict {
        if episode.dsack_seen { Verdict::Open } else { Verdict::Inconclusive(Reason::NoDsack) }
    }
}
