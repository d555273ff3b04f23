//! DualRTT: Fu and Atiquzzaman, "DualRTT: Detecting Spurious Timeouts in Wireless Mobile
//! Environments", 2004, section IV.
//!
//! A delay spike releases what it held back to back, so the acknowledgment of an original arrives
//! impossibly soon after the retransmission that it seems to answer.

use rtolab_time::Duration;

use super::{Detector, Episode, EpisodeKind, Verdict, Why};
use crate::config::{DualRttConfig, FirstAck, Threshold};
use crate::flight::{AckFacts, Cause, Sent};

/// Calls a timeout spurious when a retransmitted segment is acknowledged within τ times the
/// connection's smallest round trip (equation 1). It never calls one genuine: what it does not
/// find stays open.
#[derive(Clone, Copy, Debug, Default)]
pub struct DualRtt {
    config: DualRttConfig,
    /// Is the first new acknowledgment after a timeout still to come?
    first: bool,
}

impl DualRtt {
    /// With these knobs.
    pub const fn new(config: DualRttConfig) -> Self {
        Self { config, first: false }
    }

    /// With a threshold τ of so many thousandths.
    pub const fn with_tau(thousandths: u32) -> Self {
        let threshold = Threshold::Fixed(thousandths);
        Self::new(DualRttConfig { threshold, first: FirstAck::Definition })
    }

    /// The paper's NRTT: from the most recent retransmission of the newest segment acknowledged to
    /// its acknowledgment. A segment that was sent once gives an ordinary round trip.
    fn nrtt(&self, ack: &AckFacts, first: bool) -> Option<Duration> {
        let newest = ack.newest_acked.filter(Sent::was_retransmitted)?;
        let from = match (first, self.config.first) {
            (true, FirstAck::Skip) => return None,
            (true, FirstAck::Original) => newest.first_sent,
            (_, FirstAck::Definition) | (false, _) => newest.last_sent,
        };
        Some(ack.at.since(from))
    }

    /// Is it below the threshold?
    fn too_soon(&self, nrtt: Duration, min_rtt: Duration, spacing: Option<Duration>) -> bool {
        let thousandths = |time: Duration, count: u32| u128::from(time.nanos()) * u128::from(count);
        let nrtt = thousandths(nrtt, 1000);
        match self.config.threshold {
            Threshold::Fixed(tau) => nrtt < thousandths(min_rtt, tau),
            Threshold::Physical => spacing.is_some_and(|spacing| {
                nrtt < thousandths(spacing, 1500).min(thousandths(min_rtt, 900))
            }),
        }
    }
}

impl Detector for DualRtt {
    fn on_retransmission(&mut self, sent: &Sent, _: &Episode) {
        self.first |= sent.cause == Cause::Timeout;
    }

    fn on_ack(&mut self, ack: &AckFacts, episode: &Episode) -> Verdict {
        if episode.kind != EpisodeKind::Timeout {
            return Verdict::Blind(Why::NotATimeout);
        }
        let Some(min_rtt) = episode.min_rtt else { return Verdict::Blind(Why::NoRoundTrip) };
        if !ack.is_new() {
            return Verdict::Open;
        }
        let first = core::mem::take(&mut self.first);
        match self.nrtt(ack, first) {
            Some(nrtt) if self.too_soon(nrtt, min_rtt, episode.spacing) => Verdict::Spurious,
            _ => Verdict::Open,
        }
    }
}
