//! The report of a connection: its rows, and how they are made and written.

mod assemble;
mod rows;
mod story;

pub(crate) use assemble::report;
pub use rows::{
    ConnectionReport, Cost, EpisodeReport, EvidenceReport, Options, RetransmissionReport,
    TimeoutReport,
};
