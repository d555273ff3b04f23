//! Eifel with the retransmissions of F-RTO. Report C-2002-07 section 6 expects that they "would
//! help the Eifel TCP to avoid problems in the scenarios involving ACK losses".
//!
//! The echo of an older timestamp is only a hint: if acknowledgments were lost, a duplicate may
//! have caused it (section 5.2). So the sender neither restores its window nor retransmits yet. It
//! sends two new segments as in F-RTO, and the second acknowledgment decides. If the ACK echoes the
//! retransmission, the sender needs no second one. The windows in between are those of RFC 5682.

use super::advice::{FrtoState, Outcome};
use super::{Advice, CanSend, Entry, Expiry, Resumption, Step2Window};
use crate::flight::AckFacts;
use crate::seq::Seq;
use crate::spurious::{Reason, Verdict};

/// The state of Eifel with the retransmissions of F-RTO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct EifelForward {
    /// The segment that timed out, and RetransmitTS: the timestamp of its first retransmission.
    retransmitted: Option<(Seq, u32)>,
}

impl EifelForward {
    /// Step 1. Another timeout of the same segment does not overwrite the timestamp (RFC 3522
    /// section 3.2 step 2).
    pub(super) fn enter(&mut self, expiry: &Expiry) -> Entry {
        let repeats = self.retransmitted.is_some_and(|(seq, _)| seq == expiry.una);
        if !repeats {
            self.retransmitted = Some((expiry.una, expiry.timestamp));
        }
        Entry::OneSegment
    }

    /// Step 2: compares the echo, as Eifel detection does.
    pub(super) fn first(&mut self, ack: &AckFacts, can_send: CanSend) -> Outcome {
        if !ack.is_new() {
            return Outcome::wait(FrtoState::AwaitingFirst);
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

    /// Step 3, as in F-RTO.
    pub(super) const fn second(ack: &AckFacts) -> Outcome {
        if ack.is_new() { Outcome::spurious(Resumption::Restored) } else { Outcome::genuine(3) }
    }

    /// Conventional recovery continues with the current window.
    const fn given_up(verdict: Verdict) -> Outcome {
        Outcome { next: FrtoState::Idle, advice: Advice::Continue, verdict }
    }
}
