//! The cause of a reported duplicate, from D-SACK (RFC 2883) and the history of the retransmissions
//! (Pan, Mark and Shen, "TCP Performance and Behaviors with Local Retransmissions", section 5.3).
//!
//! If the segment was never retransmitted, the network duplicated it. After a fast retransmit the
//! cause is reordering. After a timeout it is a premature timeout if the original was acknowledged
//! before the D-SACK; otherwise the acknowledgments of the original were lost. Delayed
//! acknowledgments can confuse the last two, because the receiver may not have acknowledged the
//! original yet.

use alloc::collections::VecDeque;

use super::{Episode, EpisodeKind};
use crate::flight::{Cause, DsackBlock, Sent};
use crate::seq::Seq;

/// Why a segment arrived twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicateCause {
    /// The network duplicated it: it was not retransmitted.
    Network,
    /// The original arrived, but its acknowledgments were lost.
    AckLoss,
    /// The retransmission timer expired before it, or its acknowledgment, had arrived.
    PrematureTimeout,
    /// It arrived after segments that were sent later, which triggered a fast retransmit.
    Reordering,
}

impl DuplicateCause {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::AckLoss => "ack loss",
            Self::PrematureTimeout => "premature timeout",
            Self::Reordering => "reordering",
        }
    }
}

/// The number of reported duplicates, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Duplicates {
    /// By duplication in the network.
    pub network: u32,
    /// By lost acknowledgments.
    pub ack_loss: u32,
    /// By premature timeouts.
    pub premature_timeout: u32,
    /// By fast retransmits due to reordering.
    pub reordering: u32,
}

impl Duplicates {
    /// Counts a duplicate.
    pub(super) const fn count(&mut self, cause: DuplicateCause) {
        let count = match cause {
            DuplicateCause::Network => &mut self.network,
            DuplicateCause::AckLoss => &mut self.ack_loss,
            DuplicateCause::PrematureTimeout => &mut self.premature_timeout,
            DuplicateCause::Reordering => &mut self.reordering,
        };
        *count = count.saturating_add(1);
    }
}

/// The retransmitted segments that may still be reported as duplicates.
#[derive(Clone, Debug, Default)]
pub(super) struct Retransmissions(VecDeque<Retransmitted>);

/// A segment that was retransmitted once.
#[derive(Clone, Copy, Debug)]
struct Retransmitted {
    start: Seq,
    end: Seq,
    /// Whether a timeout or a fast retransmit caused it.
    kind: EpisodeKind,
    /// The number of the episode, if there was one.
    episode: Option<u32>,
    reported: bool,
    /// Once more than this is acknowledged, no report is expected any more.
    until: Seq,
}

/// The meaning of a D-SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Report {
    pub cause: DuplicateCause,
    /// The episode of the retransmission, if it was one.
    pub episode: Option<u32>,
}

impl Retransmissions {
    /// Records a retransmission in this episode. A report is expected until the data sent before
    /// it, and two more windows, are acknowledged.
    pub fn note(&mut self, sent: &Sent, episode: &Episode) {
        let kind = match sent.cause {
            Cause::Timeout | Cause::GoBackN | Cause::Probe => EpisodeKind::Timeout,
            Cause::FastRetransmit | Cause::Recovery => EpisodeKind::FastRetransmit,
            Cause::New | Cause::SynAnswer | Cause::Unknown => episode.kind,
        };
        self.push(sent, (kind, Some(episode.number)), episode.high);
    }

    /// Records the retransmission of a tail loss probe outside of an episode.
    pub fn note_probe(&mut self, sent: &Sent, max: Seq) {
        self.push(sent, (EpisodeKind::Timeout, None), max);
    }

    fn push(&mut self, sent: &Sent, (kind, episode): (EpisodeKind, Option<u32>), max: Seq) {
        let (start, end) = (sent.seq, sent.end());
        let until = Seq::new(max.value().saturating_add(2 * max.since(start)));
        self.0.push_back(Retransmitted { start, end, kind, episode, reported: false, until });
    }

    /// The meaning of a D-SACK for `range`; SND.UNA was `una_before`. A report counts for the first
    /// matching retransmission that is not reported yet.
    pub fn report(&mut self, range: &DsackBlock, una_before: Seq) -> Report {
        let matches = |segment: &&mut Retransmitted| {
            !segment.reported && segment.start < range.end && range.start < segment.end
        };
        let Some(retransmitted) = self.0.iter_mut().find(matches) else {
            return Report { cause: DuplicateCause::Network, episode: None };
        };
        retransmitted.reported = true;
        let cause = match retransmitted.kind {
            EpisodeKind::FastRetransmit => DuplicateCause::Reordering,
            EpisodeKind::Timeout if range.end <= una_before => DuplicateCause::PrematureTimeout,
            EpisodeKind::Timeout => DuplicateCause::AckLoss,
        };
        Report { cause, episode: retransmitted.episode }
    }

    /// Removes the retransmissions for which no report is expected once `una` is acknowledged.
    pub fn forget(&mut self, una: Seq) {
        while self.0.front().is_some_and(|segment| segment.until < una) {
            self.0.pop_front();
        }
    }
}
