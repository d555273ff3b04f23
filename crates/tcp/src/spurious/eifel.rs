//! Eifel detection by timestamps: Ludwig and Katz, "The Eifel Algorithm: Making TCP Robust Against
//! Spurious Retransmissions", 2000, as report C-2002-07 section 5 used it.
//!
//! An acknowledgment that echoes an older timestamp than that of the retransmission answers the
//! original. Unlike RFC 3522 this variant has no further test. If all acknowledgments of the
//! originals are lost, it mistakes the acknowledgment of a duplicate for that of an original.

use super::{Detector, Episode, Reason, Verdict};
use crate::flight::{AckFacts, Cause, Sent};

/// Eifel detection by timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Eifel {
    /// RetransmitTS: the timestamp of the first retransmission of the episode.
    retransmitted_at: Option<u32>,
}

impl Eifel {
    /// Step 2 of RFC 3522 section 3.2: RetransmitTS is the timestamp `value` of the retransmission.
    /// A second one before any acknowledgment does not overwrite the first.
    pub fn on_timeout(&mut self, value: u32) {
        self.retransmitted_at.get_or_insert(value);
    }

    /// Steps 3 and 4: the first acceptable ACK shows a spurious timeout if its echo is smaller than
    /// RetransmitTS.
    pub fn on_ack(&mut self, ack: &AckFacts) -> Verdict {
        let (Some(retransmitted), true) = (self.retransmitted_at, ack.is_new()) else {
            return Verdict::Open;
        };
        self.retransmitted_at = None;
        match ack.echo {
            Some(echo) if (echo.wrapping_sub(retransmitted) as i32) < 0 => Verdict::Spurious,
            Some(_) => Verdict::Genuine,
            None => Verdict::Inconclusive(Reason::NoTimestamps),
        }
    }
}

impl Detector for Eifel {
    fn on_retransmission(&mut self, sent: &Sent, _: &Episode) {
        if matches!(sent.cause, Cause::Timeout | Cause::FastRetransmit) {
            self.on_timeout(sent.timestamp);
        }
    }

    fn on_ack(&mut self, ack: &AckFacts, _: &Episode) -> Verdict {
        self.on_ack(ack)
    }
}
