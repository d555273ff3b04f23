//! Early retransmit: RFC 5827.

use crate::config::{Algorithm, RecoveryConfig};
use crate::sender::Sender;

impl Sender {
    /// How many duplicate acknowledgments mean a loss now. Early retransmit (RFC 5827 section 2):
    /// with two or three segments outstanding and nothing new to send, one less than there are
    /// segments; with SACK, all but one of them must be selectively acknowledged.
    pub(super) fn dupthresh(&self) -> u32 {
        let RecoveryConfig { dupthresh, early_retransmit, algorithm, .. } = self.config.recovery;
        let (size, smss) = (self.flight.size(), self.window.smss);
        let missing = size - self.flight.sacked();
        let few = (2..=3).contains(&size.div_ceil(smss));
        if !early_retransmit || !few || self.can_send_new() {
            return dupthresh;
        }
        match algorithm {
            Algorithm::Sack if missing > smss => dupthresh,
            _ => dupthresh.min(size.div_ceil(smss) as u32 - 1),
        }
    }
}
