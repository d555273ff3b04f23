//! F-RTO: Sarolahti, Kojo and Raatikainen, "F-RTO: A New Recovery Algorithm for TCP
//! Retransmission Timeouts", report C-2002-07, section 3.
//!
//! After a timeout only the first segment is retransmitted. If the next two acknowledgments both
//! advance the window, the second is for a segment that was never retransmitted. It was only late,
//! and so was that of the timeout.
//!
//! The RFCs, Linux and ns-2 differ in when it is entered, what each acknowledgment must cover and
//! what follows: one file each, over one [`Frto`] machine.

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
