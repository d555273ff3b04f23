//! The "bad retransmit" test of FreeBSD (`tcp_input.c`), after Allman and Paxson, "On Estimating
//! End-to-End Network Path Properties", 1999, section 2.8, with f = 1/2.
//!
//! An acknowledgment within SRTT / 2 of the retransmission is too early to answer it, so it answers
//! the original.

use rtolab_time::Instant;

use super::{Detector, Episode, EpisodeKind, Reason, Verdict};
use crate::flight::{AckFacts, Cause, Sent};

/// Finds a timeout spurious if new data is acknowledged within SRTT / 2 of its only retransmission.
#[derive(Clone, Copy, Debug, Default)]
pub struct BadRetransmit {
    window: Window,
}

/// The time in which an acknowledgment shows a spurious timeout.
#[derive(Clone, Copy, Debug, Default)]
enum Window {
    #[default]
    Closed,
    /// `badrxtwin`: until this instant.
    Until(Instant),
    /// The timer expired twice, or there is no round-trip sample.
    Unknown(Reason),
}

impl Detector for BadRetransmit {
    fn on_retransmission(&mut self, sent: &Sent, episode: &Episode) {
        if sent.cause != Cause::Timeout {
            return;
        }
        self.window = match episode.srtt {
            _ if episode.timeouts > 1 => Window::Unknown(Reason::RetransmittedTwice),
            Some(srtt) => Window::Until(sent.last_sent + srtt / 2),
            None => Window::Unknown(Reason::NoRoundTrip),
        };
    }

    fn on_ack(&mut self, ack: &AckFacts, episode: &Episode) -> Verdict {
        if episode.kind != EpisodeKind::Timeout {
            return Verdict::Inconclusive(Reason::NotATimeout);
        }
        if !ack.is_new() {
            return Verdict::Open;
        }
        match core::mem::take(&mut self.window) {
            Window::Closed => Verdict::Open,
            Window::Until(end) if ack.at < end => Verdict::Spurious,
            Window::Until(_) => Verdict::Genuine,
            Window::Unknown(reason) => Verdict::Inconclusive(reason),
        }
    }
}
