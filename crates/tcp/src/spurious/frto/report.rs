//! F-RTO as first published: report C-2002-07 section 3.

use super::advice::Outcome;
use super::{CanSend, Entry, Resumption, Step2Window};
use crate::flight::AckFacts;

/// F-RTO of the report. It is entered at every timeout and has no state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Report;

impl Report {
    /// Step 1.
    pub const fn enter() -> Entry {
        Entry::KeepsWindow
    }

    /// Step 2.
    pub fn first(ack: &AckFacts, can_send: CanSend) -> Outcome {
        // 2 ii: "duplicate ACK, set the congestion window to one segment"
        if !ack.is_new() {
            return Outcome::genuine(1);
        }
        match can_send {
            CanSend::Nothing => Outcome::nothing_new(),
            // 2 i
            CanSend::OneByWindow | CanSend::Freely => Outcome::send_two_new(Step2Window::Ssthresh),
        }
    }

    /// Step 3.
    pub const fn second(ack: &AckFacts) -> Outcome {
        if ack.is_new() {
            Outcome::spurious(Resumption::Halved) // 3 i
        } else {
            Outcome::genuine(3) // 3 ii
        }
    }
}
