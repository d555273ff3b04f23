//! The evidence that Linux 6.1 uses (`FLAG_ORIG_SACK_ACKED` of `net/ipv4/tcp_input.c`), for any
//! sender: the first ACK or SACK of a segment that was sent before the timeout and never
//! retransmitted. Since this segment was not lost, the one that timed out is assumed to be late,
//! too.

use super::{Detector, Episode, EpisodeKind, Reason, Verdict};
use crate::flight::AckFacts;

/// Decides by whether an original is acknowledged before all data sent before the timeout is.
#[derive(Clone, Copy, Debug)]
pub struct OrigAcked;

impl Detector for OrigAcked {
    fn on_ack(&mut self, ack: &AckFacts, episode: &Episode) -> Verdict {
        if episode.kind != EpisodeKind::Timeout {
            return Verdict::Inconclusive(Reason::NotATimeout);
        }
        // Without SACK, an ACK that covers an original and a retransmission may answer the latter.
        let proves = episode.sack || !ack.acks_retransmission;
        match ack.original {
            Some(end) if end <= episode.max && proves => Verdict::Spurious,
            _ if ack.ack >= episode.max => Verdict::Genuine,
            _ => Verdict::Open,
        }
    }
}
