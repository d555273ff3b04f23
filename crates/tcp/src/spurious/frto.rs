//! F-RTO: Sarolahti, Kojo and Raatikainen, "F-RTO: A New Recovery Algorithm for TCP
//! Retransmission Timeouts", report C-2002-07, section 3.
//!
//! After a timeout only the first segment is retransmitted. If the next two acknowledgments both
//! advance the window, the second is for a segment that was never retransmitted. It was only late,
//! and so was that of the timeout.
//!
//! The RFCs, Linux and ns-2 differ in when it is entered, what each acknowledgment must cover and
//! what follows: one file each, over one [`Frto`] machine.

mod eifel;
mod linux;
mod machine;
mod ns2;
mod passive;
mod rfc5682;
mod sack;

use crate::flight::AckFacts;

pub use machine::{
    Advice, CanSend, Entry, Expiry, Fallback, Frto, FrtoVariant, GoBack, Reopening, Resumption,
};
pub use passive::PassiveFrto;

use machine::{Outcome, Step};

/// Entered at every timeout, it has no state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Report;

impl Report {
    const fn enter() -> Entry {
        Entry::KeepsWindow
    }

    /// Step 2.
    fn first(ack: &AckFacts, can_send: CanSend) -> Outcome {
        // 2 ii: "duplicate ACK, set the congestion window to one segment"
        if !ack.is_new() {
            return Outcome::genuine(1);
        }
        match can_send {
            CanSend::Nothing => Outcome::nothing_new(),
            // 2 i
            CanSend::OneByWindow | CanSend::Freely => Outcome::send_two_new(Reopening::Ssthresh),
        }
    }

    /// Step 3.
    const fn second(ack: &AckFacts) -> Outcome {
        if ack.is_new() {
            Outcome::spurious(Resumption::Halved) // 3 i
        } else {
            Outcome::genuine(3) // 3 ii
        }
    }
}
