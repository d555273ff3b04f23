#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod ask;
mod conformance;
mod connection;
mod diagnosis;
mod duplicates;
mod episode;
mod evidence;
mod half_connection;
mod history;
mod infer;
mod report;
mod rtt;
mod run;
mod second_pass;
mod stack;
pub mod tables;
mod trace;
mod trigger;
mod vantage;
mod what_if;

pub use conformance::ConformanceFinding;
pub use diagnosis::Diagnosis;
pub use evidence::{Necessity, kinds};
pub use history::Kind;
pub use infer::{NotInferred, Reading};
pub use report::{
    Class, ConnectionReport, Cost, EpisodeReport, EvidenceReport, Options, RetransmissionReport,
    Summary, TimeoutReport,
};
pub use run::{Document, PassedOver, diagnose};
pub use stack::Guess;
pub use trace::{Passed, trace};
pub use trigger::Trigger;
pub use vantage::Vantage;
pub use what_if::{infer_scenario, what_if};
