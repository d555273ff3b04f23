//! F-RTO: Sarolahti, Kojo and Raatikainen, "F-RTO: A New Recovery Algorithm for TCP
//! Retransmission Timeouts", report C-2002-07, section 3.
//!
//! After a timeout only the first segment is retransmitted. If the next two acknowledgments both
//! advance the window, the second of them is for a segment that was never retransmitted: it had
//! only been late, and so had the timeout's.

use super::{Verdict, Why};
use crate::flight::AckFacts;

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
