//! The report of a connection: its rows, and how they are made and written.

mod assemble;
mod episodes;
mod never_arrived;
mod not_accepted;
mod queue;
mod rows;
#[cfg(test)]
pub(crate) mod samples;
mod timers;
mod windows;

pub(crate) use assemble::report;
pub(crate) use never_arrived::NeverArrived;
pub use rows::{
    ConnectionReport, Cost, EpisodeReport, EvidenceReport, Options, RetransmissionReport,
    TimeoutReport, TimerReport, Translation,
};
