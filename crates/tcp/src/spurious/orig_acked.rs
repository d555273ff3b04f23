//! The sign that Linux 6.1 uses (`FLAG_ORIG_SACK_ACKED` of `net/ipv4/tcp_input.c`), whatever the
//! sender does: an ACK of a segment from before the timeout that was sent once and not reported
//! before. Not all was lost, so the segment that timed out is assumed to be late, too.

use super::{Detector, Episode, EpisodeKind, Reason, Verdict};
use crate::flight::AckFacts;

/// Waits for an acknowledgment of an original until all of before the timeout is acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct OrigAcked;

impl Detector for OrigAcked {
    fn on_ack(&mut self, ack: &AckFacts, episode: &Episode) -> Verdict {
        if episode.kind != EpisodeKind::Timeout {
            return Verdict::Inconclusive(Reason::NotATimeout);
        }
        // Without SACK one acknowledgment for an original and a retransmission may be the latter's.
        let proves = episode.sack || !ack.acks_retransmission;
        match ack.original {
            Some(end) if end <= episode.max && proves => Verdict::Spurious,
            _ if ack.ack >= episode.max => Verdict::Genuine,
            _ => Verdict::Open,
        }
    }
}
