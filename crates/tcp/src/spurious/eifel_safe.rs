//! The safe variant of Eifel detection: RFC 3522 section 3.4.
//!
//! Only the echo of the timestamp of the original shows that the acknowledgment answers it. If this
//! acknowledgment is lost, the detector misses the spurious retransmission, because the next one
//! echoes another segment.

use super::{Detector, Episode, Reason, Verdict, rfc3522};
use crate::flight::{AckFacts, Cause, Sent};

/// The Eifel detection algorithm with the stricter step 4 of RFC 3522 section 3.4.
#[derive(Clone, Copy, Debug, Default)]
pub struct EifelSafe {
    /// The timestamps of the original and of its first retransmission.
    timestamps: Option<(u32, u32)>,
}

impl Detector for EifelSafe {
    fn on_retransmission(&mut self, sent: &Sent, _: &Episode) {
        if matches!(sent.cause, Cause::Timeout | Cause::FastRetransmit) {
            self.timestamps.get_or_insert((sent.first_timestamp, sent.timestamp));
        }
    }

    fn on_ack(&mut self, ack: &AckFacts, episode: &Episode) -> Verdict {
        let (Some((original, retransmitted)), true) = (self.timestamps, ack.is_new()) else {
            return Verdict::Open;
        };
        self.timestamps = None;
        match ack.echo {
            None => Verdict::Inconclusive(Reason::NoTimestamps),
            Some(_) if rfc3522::of_a_duplicate(ack, episode) => Verdict::Genuine,
            // Equal timestamps do not distinguish the original from the retransmission.
            Some(echo) if echo == original && original != retransmitted => Verdict::Spurious,
            Some(_) => Verdict::Genuine,
        }
    }
}
