//! What now? What a verdict of Spurious restores of what a timeout or fast retransmit had changed.
//!
//! | response         | window                        | ssthresh                | goes on with     |
//! |------------------|-------------------------------|-------------------------|------------------|
//! | `none`           | as the timeout left it        | halved                  | go-back-N        |
//! | `stop-gbn`       | as the timeout left it        | halved                  | new data         |
//! | `half`           | ssthresh                      | halved                  | new data         |
//! | `full`           | as before                     | as before               | new data         |
//! | `full:scaled`    | as before, or half of it      | as before, or so        | new data         |
//! | `ns2:full`       | FlightSize before ACK + SMSS  | max(window, ssthresh)   | new data         |
//! | `ns2:half`       | ssthresh                      | max(window, ssthresh)   | new data         |
//! | `ns2:slow-start` | one segment                   | max(window, ssthresh)   | new data         |
//! | `rfc4015`        | FlightSize + min(acked, IW)   | max(flight, ssthresh)   | new data         |
//! | `linux`          | at least as before            | at least as before      | new data         |
//! | `bsd`            | as before                     | as before               | what was going on |
//!
//! And those of Linux 2.6 (`tcp_input.c` from 2.6.22, `tcp_frto_response`, until 3.10):
//!
//! | response                | window                                | ssthresh                   |
//! |-------------------------|---------------------------------------|----------------------------|
//! | `linux2.6:halving`      | FlightSize + SMSS, by rate halving to | halved                     |
//! |                         | ssthresh within a window              |                            |
//! | `linux2.6:conservative` | min(FlightSize before ACK, ssthresh,  | halved                     |
//! |                         | FlightSize + `dupthresh` segments)    |                            |
//! | `linux2.6:undo`         | max(FlightSize before ACK, 2 *        | max(ssthresh, 3/4 of the   |
//! |                         | ssthresh); the first if ECE is echoed | window, both as before)    |
//!
//! Their FlightSize before the ACK stands for the window, which F-RTO of that time kept: a segment
//! more than what was outstanding at the timeout, two more at the first acknowledgment.
//!
//! What was before is noted when an episode begins, not when its timer expires again, and restored
//! once at most. But the threshold of `ns2:half` is what the larger of both was when the timer
//! expired last.

mod own;

use alloc::boxed::Box;

use crate::config::{RecoverOnUndo, Response};
use crate::congestion::Window;
use crate::flight::AckFacts;
use crate::recovery::Recovery;
use crate::reduction::WindowReduction;
use crate::rtt::Estimate;
use crate::sender::{Sender, Settled};
use crate::seq::Seq;
use crate::spurious::{DetectorId, Episode, EpisodeKind, Family, Resumption};

pub use own::{
    Answer, CloneResponder, Growth, Posture, Prototype, Reduction, Responder, Situation,
};

/// The state before a timeout or fast retransmit changed it, and what was made of it since.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saved {
    cwnd: u64,
    ssthresh: u64,
    /// The greater of both at the last timeout, also where that repeats one (`pipe_prev_` of ns-2).
    pub pipe: u64,
    /// FlightSize.
    flight: u64,
    recovery: Recovery,
    reduction: WindowReduction,
    estimate: Option<Estimate>,
    /// SND.MAX.
    max: Seq,
    /// Has the peer echoed congestion since?
    pub congestion_echoed: bool,
    answered: Answered,
}

/// What the first verdict of Spurious led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answered {
    NotYet,
    /// The reduction stands.
    Reduced,
    Restored,
}

/// A verdict of Spurious.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detection {
    /// Which detector.
    pub detector: DetectorId,
    /// Of which episode; as it was before the acknowledgment.
    pub episode: Option<Episode>,
    /// What F-RTO advises, where it is the detector.
    pub resumption: Option<Resumption>,
}

impl Detection {
    /// What the detector's own publication does once it has found a timeout spurious, or what stacks
    /// that have it do.
    fn default_response(&self) -> Response {
        match (self.resumption, self.detector.acting()) {
            // Whatever it would restore: see `losses_were_under_way`.
            (Some(Resumption::FromOne), _) | (_, None) => Response::Full,
            (_, Some(acting)) => acting.response,
        }
    }

    /// Is F-RTO asked before a sender acts on it?
    pub fn waits_for_frto(&self) -> bool {
        self.detector.acting().is_some_and(|acting| acting.family == Family::Dsack)
    }

    fn is_of_fast_retransmit(&self) -> bool {
        self.episode.is_some_and(|episode| episode.kind == EpisodeKind::FastRetransmit)
    }

    /// RFC 5682 section 6: F-RTO says nothing of the losses that the timeout interrupted.
    const fn losses_were_under_way(&self, saved: &Saved) -> bool {
        match self.resumption {
            Some(Resumption::FromOne) => true,
            Some(Resumption::Halved) => saved.recovery.is_fast(),
            Some(Resumption::TowardsPipe | Resumption::Undone | Resumption::Restored) | None => {
                false
            }
        }
    }
}

/// The estimate of before a spurious timeout, which the first round trip of new data must not lower
/// (RFC 4015 section 3.2 step 11).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adapting {
    /// SRTT and RTTVAR of before; SRTT with twice the granularity added.
    pub before: Estimate,
    /// Data from here on were first sent after the timeout.
    pub from: Seq,
}

/// Duplicate acknowledgments to come, of which it is known that a needless retransmission caused
/// them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Discount {
    left: u32,
    /// Once more than this is acknowledged, all retransmissions have been answered.
    until: Seq,
}

impl Default for Discount {
    fn default() -> Self {
        Self { left: 0, until: Seq::FIRST }
    }
}

impl Discount {
    /// Are there any that would not count?
    pub const fn is_under_way(&self) -> bool {
        self.left > 0
    }

    /// Is this a duplicate acknowledgment that does not count? What SACKs something new came from
    /// another segment.
    pub fn takes(&mut self, facts: &AckFacts) -> bool {
        if facts.ack > self.until {
            self.left = 0;
        }
        let taken = self.left > 0 && facts.duplicate && facts.newly_sacked == 0;
        self.left -= u32::from(taken);
        taken
    }
}

impl Response {
    /// Does it take the reduction of the window back?
    const fn restores(self) -> bool {
        match self {
            Self::None
            | Self::StopGbn
            | Self::Half
            | Self::Linux26Halving
            | Self::Linux26Conservative => false,
            Self::Full
            | Self::FullScaled
            | Self::Ns2Full
            | Self::Ns2Half
            | Self::Ns2SlowStart
            | Self::Rfc4015
            | Self::Linux
            | Self::Linux26Undo
            | Self::Bsd => true,
        }
    }

    /// What it comes to after as many timeouts of one segment.
    fn scaled(self, detection: &Detection) -> Self {
        match (self, detection.episode.map_or(1, |episode| episode.timeouts)) {
            (Self::FullScaled, 0 | 1) => Self::Full,
            (Self::FullScaled, 2) => Self::FullScaled,
            (Self::FullScaled, _) => Self::StopGbn,
            (response, _) => response,
        }
    }
}

/// What was outstanding before an acknowledgment, in bytes.
fn outstanding_before(facts: &AckFacts) -> u64 {
    facts.max.since(facts.una_before)
}

impl Sender {
    /// The state as it is now.
    pub(crate) fn state_to_save(&self) -> Saved {
        let Window { cwnd, ssthresh, .. } = self.window;
        Saved {
            cwnd,
            ssthresh,
            pipe: cwnd.max(ssthresh),
            flight: self.flight.size(),
            recovery: self.recovery,
            reduction: self.reduction,
            estimate: self.rtt.estimate(),
            max: self.flight.max(),
            congestion_echoed: self.is_answering_echo(),
            answered: Answered::NotYet,
        }
    }

    /// A timeout or fast retransmit begins an episode.
    pub(crate) fn save(&mut self, before: Saved) {
        match &mut self.saved {
            Some(saved) => **saved = before,
            None => self.saved = Some(Box::new(before)),
        }
    }

    /// The peer echoes congestion.
    #[cold]
    pub(crate) fn note_congestion_echo(&mut self) {
        if let Some(saved) = &mut self.saved {
            saved.congestion_echoed = true;
        }
    }

    /// A timeout or fast retransmit was spurious.
    pub(crate) fn respond(&mut self, detection: &Detection, facts: &AckFacts) -> Settled {
        if self.responder.is_some() {
            return self.respond_by_own(detection, facts);
        }
        let response = self.config.response.unwrap_or_else(|| detection.default_response());
        let Some(saved) = &mut self.saved else { return Settled::No };
        // One reversal an episode; but what was only stopped may still be reversed.
        saved.answered = match (saved.answered, response.restores()) {
            (Answered::Restored, _) | (Answered::Reduced, false) => return Settled::No,
            (_, true) => Answered::Restored,
            (_, false) => Answered::Reduced,
        };
        let saved = **saved;
        let timeout = !detection.is_of_fast_retransmit();
        let outgrown = self.keeps_window(saved.cwnd);
        match response {
            Response::None => return Settled::No,
            // RFC 4015 section 3.2 is for timeouts.
            Response::Rfc4015 if !timeout => return Settled::No,
            _ => self.resume(detection),
        }
        if !timeout {
            self.flight.clear_losses();
        }
        match response.scaled(detection) {
            Response::None | Response::StopGbn => Settled::Resumed,
            Response::Half => {
                self.window.cwnd = self.window.ssthresh;
                Settled::Resumed
            }
            Response::Linux26Halving => {
                self.begin_window_reduction(outstanding_before(facts));
                Settled::Resumed
            }
            Response::Linux26Conservative => {
                self.conserve(outstanding_before(facts));
                Settled::Resumed
            }
            Response::Linux26Undo if saved.congestion_echoed => {
                self.begin_window_reduction(outstanding_before(facts));
                Settled::Resumed
            }
            _ if detection.losses_were_under_way(&saved) => {
                self.window.set_segments(1);
                Settled::Restored
            }
            // The reduction was due after all, or has long been made up for.
            _ if saved.congestion_echoed || outgrown => Settled::Restored,
            response => {
                self.restore(response, &saved, facts);
                self.undo_reduction();
                match response {
                    // It grows for this acknowledgment as for any other.
                    Response::Linux26Undo => Settled::Resumed,
                    _ => Settled::Restored,
                }
            }
        }
    }

    /// `tcp_conservative_spur_to_response` and its `tcp_moderate_cwnd`, by which a burst is
    /// `reordering` at most.
    fn conserve(&mut self, window: u64) {
        let Window { smss, ssthresh, .. } = self.window;
        let burst = u64::from(self.config.recovery.dupthresh) * smss;
        let moderate = self.outstanding() + burst;
        self.window.cwnd = window.min(ssthresh).min(moderate).max(smss);
    }

    fn restore(&mut self, response: Response, saved: &Saved, facts: &AckFacts) {
        let before_the_ack = outstanding_before(facts);
        let (cwnd, ssthresh) = match response {
            Response::None
            | Response::StopGbn
            | Response::Half
            | Response::Linux26Halving
            | Response::Linux26Conservative => return,
            Response::Full => (saved.cwnd, saved.ssthresh),
            Response::FullScaled => (saved.cwnd / 2, (saved.cwnd / 2).max(2 * self.window.smss)),
            // `tcp_undo_cwr`, and `tcp_current_ssthresh` for what was before.
            Response::Linux26Undo => {
                let window = if saved.recovery.is_fast() { 0 } else { saved.cwnd / 4 * 3 };
                let prior = saved.ssthresh.max(window);
                let ssthresh = self.window.ssthresh;
                (before_the_ack.max(ssthresh.saturating_mul(2)), ssthresh.max(prior))
            }
            // `recover` is as before, too. What this acknowledgment has completed does not go on.
            Response::Bsd if facts.ack >= saved.recovery.recover => {
                self.recovery.recover = saved.recovery.recover;
                (saved.recovery.deflated(saved.cwnd), saved.ssthresh)
            }
            Response::Bsd => {
                self.recovery = saved.recovery;
                if saved.recovery.is_fast() {
                    self.reduction.resume(saved.reduction);
                }
                (saved.cwnd, saved.ssthresh)
            }
            Response::Linux => {
                (self.window.cwnd.max(saved.cwnd), self.window.ssthresh.max(saved.ssthresh))
            }
            // `t_seqno_ - prev_highest_ack_`: from the last segment acknowledged to the next to leave.
            Response::Ns2Full => {
                (before_the_ack + self.window.smss, saved.cwnd.max(saved.ssthresh))
            }
            Response::Ns2Half => (self.window.ssthresh, saved.pipe),
            Response::Ns2SlowStart => (self.window.smss, saved.cwnd.max(saved.ssthresh)),
            Response::Rfc4015 => {
                self.adapting = self.adaptation(saved).map(Box::new);
                self.validate_anew(facts.at);
                let new = facts.advanced.min(self.initial_window());
                (self.flight.size() + new, saved.flight.max(saved.ssthresh))
            }
        };
        // A last, short segment is less than the smallest window.
        (self.window.cwnd, self.window.ssthresh) = (cwnd.max(self.window.smss), ssthresh);
    }

    /// RFC 4015 section 3.2 steps 0 and 11.
    fn adaptation(&self, saved: &Saved) -> Option<Adapting> {
        let mut before = saved.estimate?;
        before.srtt += self.config.rto.granularity * 2;
        Some(Adapting { before, from: saved.max })
    }

    /// Nothing more is retransmitted for what was spurious, and duplicate acknowledgments mean
    /// again what they did. Another timeout of the same segment is none that repeats: it reduces the
    /// windows as any, and may be undone as any (`tcp_try_undo_loss` of Linux 6.1, which forgets
    /// `icsk_retransmits` and returns to `TCP_CA_Open`).
    fn resume(&mut self, detection: &Detection) {
        self.stop_frto();
        self.timed_out_at = None;
        self.nxt = self.flight.max();
        self.recovery.leave();
        self.reduction.end_prr();
        self.forget_rack_losses();
        let una = self.flight.una();
        match self.config.recover_on_undo {
            RecoverOnUndo::Keep => {}
            RecoverOnUndo::Reset => self.recovery.recover = una - 1,
            RecoverOnUndo::Discount => {
                self.recovery.recover = una - 1;
                let left = detection.episode.map_or(0, |episode| episode.retransmissions);
                self.discount = Discount { left, until: self.flight.max() };
            }
        }
    }
}
