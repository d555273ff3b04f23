//! DualRTT: Fu and Atiquzzaman, "DualRTT: Detecting Spurious Timeouts in Wireless Mobile
//! Environments", 2004, section IV.
//!
//! A delay spike releases what it held back to back, so the acknowledgment of an original arrives
//! impossibly soon after the retransmission that it seems to answer.

use super::{Detector, Episode, EpisodeKind, Verdict, Why};
use crate::flight::AckFacts;

/// The threshold that the paper advises where nothing is known of the path (section V).
const DEFAULT_TAU: u32 = 100;

/// Calls a timeout spurious when a retransmitted segment is acknowledged within τ times the
/// connection's smallest round trip (equation 1). It never calls one genuine: what it does not
/// find stays open.
#[derive(Clone, Copy, Debug)]
pub struct DualRtt {
    /// τ in thousandths.
    tau: u32,
}

impl DualRtt {
    /// With a threshold τ of so many thousandths.
    pub const fn with_tau(thousandths: u32) -> Self {
        Self { tau: thousandths }
    }
}

impl Default for DualRtt {
    fn default() -> Self {
        Self::with_tau(DEFAULT_TAU)
    }
}

impl Detector for DualRtt {
    fn on_ack(&mut self, ack: &AckFacts, episode: &Episode) -> Verdict {
        if episode.kind != EpisodeKind::Timeout {
            return Verdict::Blind(Why::NotATimeout);
        }
        let Some(min_rtt) = episode.min_rtt else { return Verdict::Blind(Why::NoRoundTrip) };
        match ack.newest_acked {
            // The paper's NRTT: from the most recent retransmission of the segment to its ACK.
            Some(newest) if newest.was_retransmitted() => {
                let nrtt = u128::from(ack.at.since(newest.last_sent).nanos());
                let limit = u128::from(min_rtt.nanos()) * u128::from(self.tau);
                if nrtt * 1000 < limit { Verdict::Spurious } else { Verdict::Open }
            }
            _ => Verdict::Open,
        }
    }
}
