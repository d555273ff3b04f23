//! The "bad retransmit" test of FreeBSD (`tcp_input.c`), after Allman and Paxson, "On Estimating
//! End-to-End Network Path Properties", 1999, section 2.8, with f = 1/2.
//!
//! Half a smoothed round trip after a timeout no answer to the retransmission can be back.

use rtolab_time::Instant;

use super::{Detector, Episode, EpisodeKind, Reason, Verdict};
use crate::flight::{AckFacts, Cause, Sent};

/// Calls a timeout spurious when new data are acknowledged within half a smoothed round trip of its
/// only retransmission.
#[derive(Clone, Copy, Debug, Default)]
pub struct BadRetransmit {
    window: Window,
}

/// The time in which an acknowledgment tells.
#[derive(Clone, Copy, Debug, Default)]
enum Window {
    #[default]
    Closed,
    /// `badrxtwin`: up to here.
    Until(Instant),
    /// The timer expired again, or there was no round trip yet.
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
            Window::Unknown(why) => Verdict::Inconclusive(why),
        }
    }
}
