//! DualRTT: Fu and Atiquzzaman, "DualRTT: Detecting Spurious Timeouts in Wireless Mobile
//! Environments", 2004, section IV.
//!
//! After a delay spike the delayed segments arrive back to back. The acknowledgment of an original
//! then arrives too soon after the retransmission to answer it.

mod config;
mod tau;

use rtolab_time::{Duration, Instant};

use super::{Detector, Episode, EpisodeKind, KnownPath, Reason, Verdict};
use crate::flight::{AckFacts, Cause, Sent};

pub use config::{DualRttConfig, FirstAck, Logarithm, PathParameter, Threshold};
use tau::Tau;

/// The threshold while the path is not known (section V-B).
const UNKNOWN_PATH_TAU: Tau = Tau::thousandths(100);

/// Finds a timeout spurious if a retransmitted segment is acknowledged within τ times the smallest
/// round trip of the connection (equation 1). It never finds one genuine; its verdict stays open.
#[derive(Clone, Copy, Debug, Default)]
pub struct DualRtt {
    config: DualRttConfig,
    /// Is the first new acknowledgment after a timeout still to come?
    first: bool,
}

impl DualRtt {
    /// DualRTT with these settings. The path is that of the [`Episode`].
    pub const fn new(config: DualRttConfig) -> Self {
        Self { config, first: false }
    }

    /// DualRTT with this threshold.
    pub const fn with(threshold: Threshold) -> Self {
        let path = KnownPath { rate: None, delay: None };
        Self::new(DualRttConfig { threshold, first: FirstAck::Definition, path })
    }

    /// DualRTT with a threshold τ in thousandths.
    pub const fn with_tau(thousandths: u32) -> Self {
        Self::with(Threshold::Fixed(thousandths))
    }

    /// The paper's NRTT: the time from the last retransmission of `newest`, the newest acknowledged
    /// segment, to its acknowledgment; `None` if the segment was sent once.
    fn nrtt(&self, newest: &Sent, at: Instant, first: bool) -> Option<Duration> {
        if !newest.was_retransmitted() {
            return None;
        }
        let from = match (first, self.config.first) {
            (true, FirstAck::Skip) => return None,
            (true, FirstAck::Original) => newest.first_sent,
            (_, FirstAck::Definition) | (false, _) => newest.last_sent,
        };
        Some(at.since(from))
    }

    /// Is the NRTT below the threshold for a segment of `segment` bytes?
    fn is_below_threshold(&self, nrtt: Duration, segment: u32, episode: &Episode) -> bool {
        let Some(min_rtt) = episode.min_rtt else { return false };
        let model = |path: KnownPath, logarithm| {
            Some(Tau::from_model(logarithm, (path.rate?, path.delay?), segment))
        };
        let tau = match self.config.threshold {
            Threshold::Physical => return is_within_spacing(nrtt, min_rtt, episode.spacing),
            Threshold::Fixed(thousandths) => Some(Tau::thousandths(thousandths)),
            Threshold::Paper(logarithm) => model(episode.known, logarithm),
            Threshold::Table => episode.known.rate.map(Tau::from_table),
            Threshold::Online => {
                Some(model(episode.estimated, Logarithm::Natural).unwrap_or(UNKNOWN_PATH_TAU))
            }
        };
        tau.is_some_and(|tau| tau.exceeds(nrtt, min_rtt))
    }
}

/// The test of [`Threshold::Physical`].
fn is_within_spacing(nrtt: Duration, min_rtt: Duration, spacing: Option<Duration>) -> bool {
    let tenths = |time: Duration, count: u32| u128::from(time.nanos()) * u128::from(count);
    spacing.is_some_and(|spacing| tenths(nrtt, 10) < tenths(spacing, 15).min(tenths(min_rtt, 9)))
}

impl Detector for DualRtt {
    fn on_retransmission(&mut self, sent: &Sent, _: &Episode) {
        self.first |= sent.cause == Cause::Timeout;
    }

    fn on_ack(&mut self, ack: &AckFacts, episode: &Episode) -> Verdict {
        if episode.kind != EpisodeKind::Timeout {
            return Verdict::Inconclusive(Reason::NotATimeout);
        }
        if episode.min_rtt.is_none() {
            return Verdict::Inconclusive(Reason::NoRoundTrip);
        }
        if self.config.threshold.missing_parameter(episode.known).is_some() {
            return Verdict::Inconclusive(Reason::PathUnknown);
        }
        if !ack.is_new() {
            return Verdict::Open;
        }
        let first = core::mem::take(&mut self.first);
        let Some(newest) = ack.newest_acked else { return Verdict::Open };
        match self.nrtt(&newest, ack.at, first) {
            Some(nrtt) if self.is_below_threshold(nrtt, newest.len, episode) => Verdict::Spurious,
            _ => Verdict::Open,
        }
    }
}
