//! F-RTO: Sarolahti, Kojo and Raatikainen, "F-RTO: A New Recovery Algorithm for TCP
//! Retransmission Timeouts", report C-2002-07, section 3.
//!
//! After a timeout only the first segment is retransmitted. If the next two acknowledgments both
//! advance the window, the second of them is for a segment that was never retransmitted: it had
//! only been late, and so had the timeout's.

use super::{Detector, Episode, EpisodeKind, Verdict, Why};
use crate::flight::{AckFacts, Cause, Sent};

/// What F-RTO wants its sender to do; a judge ignores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Whatever the sender would do without F-RTO.
    Usual,
    /// Send nothing.
    Hold,
    /// Step 2 i: send two new segments, then set the window to `ssthresh`.
    SendTwoNew,
    /// Retransmit from SND.UNA in slow start, with a window of so many segments.
    GoBackN {
        /// The congestion window in segments.
        cwnd: u32,
    },
    /// Step 3 i: go on with new data in congestion avoidance; `send_high` no longer counts.
    Resume,
}

/// The algorithm between a timeout and the second acknowledgment after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Frto {
    /// No timeout is in question.
    #[default]
    Idle,
    /// The first segment was retransmitted; its acknowledgment, or a late one, is awaited.
    AwaitingFirst,
    /// The first acknowledgment advanced the window and two new segments were sent.
    AwaitingSecond,
}

impl Frto {
    /// Step 1: the timer expired, and the first segment is retransmitted. Every timeout counts,
    /// also one during step 2 or 3.
    pub fn on_timeout(&mut self) -> Advice {
        *self = Self::AwaitingFirst;
        Advice::Hold
    }

    /// Steps 2 and 3. `can_send_new` says whether data and the advertised window allow a new
    /// segment.
    pub fn on_ack(&mut self, ack: &AckFacts, can_send_new: bool) -> (Advice, Verdict) {
        let (next, advice, verdict) = match *self {
            Self::Idle => return (Advice::Usual, Verdict::Open),
            // Neither new nor duplicate, a window update say: nothing is learnt.
            _ if !ack.is_new() && !ack.duplicate => return (Advice::Hold, Verdict::Open),
            // 2 i
            Self::AwaitingFirst if ack.is_new() && can_send_new => {
                (Self::AwaitingSecond, Advice::SendTwoNew, Verdict::Open)
            }
            Self::AwaitingFirst if ack.is_new() => {
                let blind = Verdict::Blind(Why::NothingNewToSend);
                (Self::Idle, Advice::GoBackN { cwnd: 2 }, blind)
            }
            // 2 ii
            Self::AwaitingFirst => (Self::Idle, Advice::GoBackN { cwnd: 1 }, Verdict::Genuine),
            // 3 i
            Self::AwaitingSecond if ack.is_new() => (Self::Idle, Advice::Resume, Verdict::Spurious),
            // 3 ii
            Self::AwaitingSecond => (Self::Idle, Advice::GoBackN { cwnd: 3 }, Verdict::Genuine),
        };
        *self = next;
        (advice, verdict)
    }
}

/// F-RTO as a judge: the sender need not have heard of it. Where the sender does not what F-RTO
/// would, the acknowledgments that follow tell nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrtoJudge {
    machine: Frto,
    /// Did the sender retransmit more than the segment that timed out?
    went_back: bool,
    /// How many new segments it had sent when the first acknowledgment came.
    new_before: u32,
}

impl FrtoJudge {
    /// Did the sender do otherwise, up to the acknowledgment that comes now?
    const fn disobeyed(self, episode: &Episode) -> bool {
        match self.machine {
            Frto::Idle => false,
            Frto::AwaitingFirst => self.went_back || episode.new_segments > self.new_before,
            Frto::AwaitingSecond => self.went_back || episode.new_segments == self.new_before,
        }
    }
}

impl Detector for FrtoJudge {
    fn on_retransmission(&mut self, sent: &Sent, episode: &Episode) {
        match sent.cause {
            Cause::Timeout => {
                self.machine.on_timeout();
                (self.went_back, self.new_before) = (false, episode.new_segments);
            }
            _ => self.went_back = true,
        }
    }

    fn on_ack(&mut self, ack: &AckFacts, episode: &Episode) -> Verdict {
        if episode.kind != EpisodeKind::Timeout {
            return Verdict::Blind(Why::NotATimeout);
        }
        if (ack.is_new() || ack.duplicate) && self.disobeyed(episode) {
            self.machine = Frto::Idle;
            return Verdict::Blind(Why::DidOtherwise);
        }
        // What the sender could send shows in what it sends next.
        let (_, verdict) = self.machine.on_ack(ack, true);
        if self.machine == Frto::AwaitingSecond && ack.is_new() {
            self.new_before = episode.new_segments;
        }
        verdict
    }
}
