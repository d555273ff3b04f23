//! Eifel detection as RFC 3522 section 3.2 has it: by timestamps, for timeouts and fast
//! retransmits.
//!
//! Beyond the form of 2000 it asks in step 5 whether the acknowledgment may be that of a duplicate,
//! all acknowledgments of the originals having been lost: a D-SACK says so, and where the peer is
//! not known to send any, an acknowledgment of all that is outstanding is not trusted either.

use super::{Detector, Eifel, Episode, Verdict};
use crate::flight::{AckFacts, Sent};

/// The detection algorithm of RFC 3522.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rfc3522 {
    /// Steps 1 to 4.
    eifel: Eifel,
}

impl Detector for Rfc3522 {
    fn on_retransmission(&mut self, sent: &Sent, episode: &Episode) {
        self.eifel.on_retransmission(sent, episode);
    }

    fn on_ack(&mut self, ack: &AckFacts, episode: &Episode) -> Verdict {
        match self.eifel.on_ack(ack) {
            Verdict::Spurious if of_a_duplicate(ack, episode) => Verdict::Genuine,
            verdict => verdict,
        }
    }
}

/// Step 5: may this be the acknowledgment of a duplicate? It carries a D-SACK, or no D-SACK ever
/// came and it acknowledges all outstanding data.
pub(super) fn of_a_duplicate(ack: &AckFacts, episode: &Episode) -> bool {
    ack.dsack.is_some() || (!episode.dsack_seen && ack.ack == ack.max)
}
