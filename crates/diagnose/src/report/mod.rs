//! The report of a connection: its rows, and how they are made and written.

mod assemble;
mod rows;
mod story;

pub(crate) use assemble::{name, report};
pub use rows::{
    Class, ConnectionReport, Cost, EpisodeReport, EvidenceReport, Options, RetransmissionReport,
    Summary, TimeoutReport,
};
