//! Detection by the causes of duplicates (Pan, Mark and Shen, "TCP Performance and Behaviors with
//! Local Retransmissions", section 5.3).
//!
//! A timeout or fast retransmit was spurious if each of its retransmissions is reported and the
//! cause is reordering or a premature timeout. If acknowledgments were lost it was genuine, because
//! that indicates congestion, as in step A.1 of RFC 3708. Duplicates from the network are ignored;
//! RFC 3708 stops for good at the first. The paper does not specify whether all retransmissions
//! must be reported. We require it, as RFC 3708 and Linux do.

use super::duplicates::{DuplicateCause, Retransmissions};
use super::{Detector, Episode, Reason, Verdict};
use crate::flight::{AckFacts, Sent};

/// Counts the retransmissions of an episode, and the duplicates by these causes.
#[derive(Clone, Debug, Default)]
pub struct DsackCauses {
    retransmissions: Retransmissions,
    /// The current episode.
    episode: Option<u32>,
    /// The number of retransmissions not yet reported.
    unreported: u32,
}

impl Detector for DsackCauses {
    fn on_retransmission(&mut self, sent: &Sent, episode: &Episode) {
        if self.episode.replace(episode.number) != Some(episode.number) {
            self.unreported = 0;
        }
        self.unreported += 1;
        self.retransmissions.note(sent, episode);
    }

    fn on_probe(&mut self, sent: &Sent, episode: &Episode) {
        self.on_retransmission(sent, episode);
    }

    fn on_ack(&mut self, ack: &AckFacts, episode: &Episode) -> Verdict {
        self.retransmissions.forget(ack.una_before);
        let Some(range) = &ack.dsack else { return Verdict::Open };
        let report = self.retransmissions.report(range, ack.una_before);
        if report.episode != Some(episode.number) {
            return Verdict::Open;
        }
        self.unreported = self.unreported.saturating_sub(1);
        match report.cause {
            DuplicateCause::AckLoss => Verdict::Genuine,
            DuplicateCause::PrematureTimeout | DuplicateCause::Reordering
                if self.unreported == 0 =>
            {
                Verdict::Spurious
            }
            _ => Verdict::Open,
        }
    }

    fn at_end(&mut self, episode: &Episode) -> Verdict {
        if episode.dsack_seen { Verdict::Open } else { Verdict::Inconclusive(Reason::NoDsack) }
    }
}
