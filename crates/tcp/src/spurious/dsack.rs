//! RFC 3708 section 3: the receiver reports by D-SACK (RFC 2883) each segment that it got twice. If
//! it reports every segment that was retransmitted, and each was retransmitted once, then none was
//! lost.

use alloc::vec::Vec;

use super::{Detector, Episode, Reason, Verdict};
use crate::flight::{AckFacts, DuplicateRange, Sent};
use crate::seq::Seq;

/// Waits until every retransmission of an episode is reported as a duplicate.
#[derive(Clone, Debug, Default)]
pub struct Dsack {
    /// What was retransmitted in this episode and the one before.
    segments: Vec<Retransmitted>,
    /// Does the network duplicate packets? Then it cannot decide any more.
    disabled: bool,
}

/// A segment that was retransmitted.
#[derive(Clone, Copy, Debug)]
struct Retransmitted {
    start: Seq,
    end: Seq,
    /// The last episode in which it was.
    episode: u32,
    retransmissions: u16,
    reported: bool,
}

impl Retransmitted {
    fn overlaps(&self, range: &DuplicateRange) -> bool {
        self.start < range.end && range.start < self.end
    }
}

impl Dsack {
    /// Steps A.2 to A.4: what the report means.
    fn take(&mut self, range: &DuplicateRange, episode: &Episode) -> Verdict {
        let mut meant =
            self.segments.iter_mut().filter(|segment| segment.overlaps(range)).peekable();
        // A.4: it was never retransmitted.
        if meant.peek().is_none() {
            self.disabled = true;
            return Verdict::Inconclusive(Reason::NetworkDuplicates);
        }
        for segment in meant {
            // A.3
            if segment.retransmissions > 1 && segment.episode == episode.number {
                return Verdict::Inconclusive(Reason::RetransmittedTwice);
            }
            // A.2
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
            // A.1: all acknowledgments of a window were lost, which is a reason to slow down, too.
            if range.start == ack.una_before && ack.sacked_before + ack.newly_sacked == 0 {
                return Verdict::Genuine;
            }
            let verdict = self.take(range, episode);
            if verdict != Verdict::Open {
                return verdict;
            }
        }
        // The window is complete when all that was outstanding is acknowledged.
        match ack.ack >= episode.max && self.all_reported(episode) {
            true => Verdict::Spurious,
            false => Verdict::Open,
        }
    }

    fn at_end(&mut self, episode: &Episode) -> Verdict {
        if episode.dsack_seen { Verdict::Open } else { Verdict::Inconclusive(Reason::NoDsack) }
    }
}
