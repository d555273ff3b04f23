//! The cause of a reported duplicate: Pan, Mark and Shen, "TCP Performance and Behaviors with Local
//! Retransmissions", section 5.3, by D-SACK (RFC 2883) and the history of what was sent.
//!
//! The network has made a duplicate of a segment that was never retransmitted. After a fast
//! retransmit the cause is reordering. After a timeout it is a premature timeout if the original is
//! acknowledged by now; otherwise the acknowledgments of the original were lost. With a receiver
//! that delays acknowledgments the last two may be confused: it may have had no reason yet to
//! acknowledge the original.

use alloc::collections::VecDeque;

use super::{Episode, EpisodeKind};
use crate::flight::{Cause, DuplicateRange, Sent};
use crate::seq::Seq;

/// Why a segment arrived twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicateCause {
    /// The network duplicated it: it was not retransmitted.
    Network,
    /// It arrived, but the acknowledgments that said so did not.
    AckLoss,
    /// The retransmission timer expired before it, or its acknowledgment, had arrived.
    PrematureTimeout,
    /// It arrived after segments that were sent later, which led to a fast retransmit.
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

/// How many duplicates were reported, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Duplicates {
    /// Duplicates that the network made.
    pub network: u32,
    /// Those of lost acknowledgments.
    pub ack_loss: u32,
    /// Those of premature timeouts.
    pub premature_timeout: u32,
    /// Those of fast retransmits for reordering.
    pub reordering: u32,
}

impl Duplicates {
    /// One more.
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

/// What was retransmitted and may still be reported as a duplicate.
#[derive(Clone, Debug, Default)]
pub(super) struct Retransmissions(VecDeque<Retransmitted>);

/// A segment that was retransmitted once.
#[derive(Clone, Copy, Debug)]
struct Retransmitted {
    start: Seq,
    end: Seq,
    /// What retransmitted it.
    kind: EpisodeKind,
    /// In which episode, if in any.
    episode: Option<u32>,
    reported: bool,
    /// Once more than this is acknowledged, no report is waited for.
    until: Seq,
}

/// What a D-SACK means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Report {
    pub cause: DuplicateCause,
    /// The episode of the retransmission, if it was one.
    pub episode: Option<u32>,
}

impl Retransmissions {
    /// A segment was retransmitted in this episode. A report may come until the data sent after it
    /// are acknowledged, and two windows more.
    pub fn note(&mut self, sent: &Sent, episode: &Episode) {
        let kind = match sent.cause {
            Cause::Timeout | Cause::GoBackN | Cause::Probe => EpisodeKind::Timeout,
            Cause::FastRetransmit | Cause::Recovery => EpisodeKind::FastRetransmit,
            Cause::New | Cause::Answer | Cause::Unknown => episode.kind,
        };
        self.push(sent, (kind, Some(episode.number)), episode.high);
    }

    /// A tail loss probe retransmitted a segment, in no episode.
    pub fn note_probe(&mut self, sent: &Sent, max: Seq) {
        self.push(sent, (EpisodeKind::Timeout, None), max);
    }

    fn push(&mut self, sent: &Sent, (kind, episode): (EpisodeKind, Option<u32>), max: Seq) {
        let (start, end) = (sent.seq, sent.end());
        let until = Seq::new(max.value().saturating_add(2 * max.since(start)));
        self.0.push_back(Retransmitted { start, end, kind, episode, reported: false, until });
    }

    /// The receiver reports `range` when all up to `una_before` was acknowledged. Each report
    /// counts for its first retransmission that was not reported.
    pub fn report(&mut self, range: &DuplicateRange, una_before: Seq) -> Report {
        let meant = |segment: &&mut Retransmitted| {
            !segment.reported && segment.start < range.end && range.start < segment.end
        };
        let Some(retransmitted) = self.0.iter_mut().find(meant) else {
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

    /// All up to `una` is acknowledged.
    pub fn forget(&mut self, una: Seq) {
        while self.0.front().is_some_and(|segment| segment.until < una) {
            self.0.pop_front();
        }
    }
}
