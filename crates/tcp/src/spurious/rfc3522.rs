//! Eifel detection by timestamps, for timeouts and fast retransmits (RFC 3522 section 3.2).
//!
//! In addition to the variant of 2000, step 5 tests whether the acknowledgment may answer a
//! duplicate because all acknowledgments of the originals were lost. A D-SACK shows this. If the
//! peer has never sent a D-SACK, an acknowledgment of all outstanding data does not count, either.

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

/// Step 5: may the acknowledgment answer a duplicate? It may if it carries a D-SACK, or if no
/// D-SACK was ever received and it acknowledges all outstanding data.
pub(super) fn of_a_duplicate(ack: &AckFacts, episode: &Episode) -> bool {
    ack.dsack.is_some() || (!episode.dsack_seen && ack.ack == ack.max)
}
