//! An acknowledgment that comes too early. No answer to a retransmission can arrive within a
//! quarter of the smallest round trip, so the acknowledgment is for the original.

use crate::AckFacts;
use crate::spurious::{Detector, Episode, EpisodeKind, Reason, Verdict};

/// A timeout is spurious if new data is acknowledged within a quarter of the smallest round trip
/// after it, and genuine if new data is acknowledged later.
#[derive(Clone, Copy, Debug)]
pub struct Early;

impl Detector for Early {
    fn on_ack(&mut self, ack: &AckFacts, episode: &Episode) -> Verdict {
        if episode.kind != EpisodeKind::Timeout {
            return Verdict::Inconclusive(Reason::NotATimeout);
        }
        if episode.timeouts > 1 {
            return Verdict::Inconclusive(Reason::RetransmittedTwice);
        }
        let Some(min_rtt) = episode.min_rtt else {
            return Verdict::Inconclusive(Reason::NoRoundTrip);
        };
        if !ack.is_new() {
            return Verdict::Open;
        }
        match ack.at.since(episode.began) < min_rtt / 4 {
            true => Verdict::Spurious,
            false => Verdict::Genuine,
        }
    }
}
