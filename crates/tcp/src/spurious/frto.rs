//! F-RTO: Sarolahti, Kojo and Raatikainen, "F-RTO: A New Recovery Algorithm for TCP
//! Retransmission Timeouts", report C-2002-07, section 3.
//!
//! After a timeout F-RTO retransmits only the first segment. If the next two acknowledgments both
//! advance the window, the second one acknowledges a segment that was never retransmitted. So this
//! segment was only late, and the timeout was spurious.
//!
//! The RFCs, Linux and ns-2 differ in the condition of entry, the data that each acknowledgment
//! must cover, and the consequences. Each has a file; they share the [`Frto`] state machine.

mod advice;
mod eifel;
mod linux;
mod machine;
mod ns2;
mod passive;
mod report;
mod rfc5682;
mod sack;

pub use advice::{
    Advice, CanSend, Entry, Expiry, Fallback, FrtoVariant, GoBack, Resumption, Step2Window,
};
pub use machine::Frto;
pub use passive::PassiveFrto;
