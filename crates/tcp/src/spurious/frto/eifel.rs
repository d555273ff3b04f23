//! Eifel with F-RTO's retransmissions: what report C-2002-07 section 6 believes "would help the
//! Eifel TCP to avoid problems in the scenarios involving ACK losses".
//!
//! The echo of an older timestamp is only a hint: where acknowledgments were lost, it may be that
//! of a duplicate (section 5.2). So the sender neither restores its window yet nor retransmits, but
//! sends two new segments as F-RTO does, and the second acknowledgment decides. The echo of the
//! retransmission needs no second one. The windows in between are those of RFC 5682.

use super::advice::{Outcome, Step};
use super::{Advice, CanSend, Entry, Expiry, Resumption, Step2Window};
use crate::flight::AckFacts;
use crate::seq::Seq;
use crate::spurious::{Reason, Verdict};

/// Its state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct EifelForward {
    /// Which segment timed out, and RetransmitTS: the timestamp of its first retransmission.
    retransmitted: Option<(Seq, u32)>,
}

impl EifelForward {
    /// Another timeout of the same segment does not overwrite the timestamp (RFC 3522 section 3.2
    /// step 2).
    pub(super) fn enter(&mut self, expiry: &Expiry) -> Entry {
        let repeats = self.retransmitted.is_some_and(|(seq, _)| seq == expiry.una);
        if !repeats {
            self.retransmitted = Some((expiry.una, expiry.timestamp));
        }
        Entry::OneSegment
    }

    /// Before new segments were sent: Eifel's own question.
    pub(super) fn first(&mut self, ack: &AckFacts, can_send: CanSend) -> Outcome {
        if !ack.is_new() {
            return Outcome::wait(Step::AwaitingFirst);
        }
        let (Some((_, retransmitted)), Some(echo)) = (self.retransmitted.take(), ack.echo) else {
            return Self::given_up(Verdict::Inconclusive(Reason::NoTimestamps));
        };
        if (echo.wrapping_sub(retransmitted) as i32) >= 0 {
            return Self::given_up(Verdict::Genuine);
        }
        match can_send {
            CanSend::Nothing => Self::given_up(Verdict::Inconclusive(Reason::NothingNewToSend)),
            CanSend::OneByWindow | CanSend::Freely => Outcome::send_two_new(Step2Window::Two),
        }
    }

    /// Afterwards: F-RTO's.
    pub(super) const fn second(ack: &AckFacts) -> Outcome {
        if ack.is_new() { Outcome::spurious(Resumption::Restored) } else { Outcome::genuine(3) }
    }

    /// Conventional recovery goes on with the window that it has.
    const fn given_up(verdict: Verdict) -> Outcome {
        Outcome { next: Step::Idle, advice: Advice::Usual, verdict }
    }
}
