//! By the causes of duplicates: Pan, Mark and Shen, "TCP Performance and Behaviors with Local
//! Retransmissions", section 5.3.
//!
//! A timeout or fast retransmit was spurious where each of its retransmissions is reported and
//! comes from reordering or from a premature timeout. Where acknowledgments were lost it was not:
//! that is a reason to slow down, as in step A.1 of RFC 3708. Duplicates that the network makes are
//! ignored, whereas RFC 3708 gives up for good at the first. The paper does not say whether all
//! retransmissions have to be reported; here they have to, as in RFC 3708 and Linux.

use super::duplicates::{DuplicateCause, Retransmissions};
use super::{Detector, Episode, Reason, Verdict};
use crate::flight::{AckFacts, Sent};

/// Waits until the duplicates of these causes are as many as the retransmissions in an episode.
#[derive(Clone, Debug, Default)]
pub struct DsackCauses {
    retransmissions: Retransmissions,
    /// The current episode.
    episode: Option<u32>,
    /// Retransmissions not yet reported.
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
