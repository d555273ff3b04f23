#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod answer;
mod burst;
mod connection;
mod event;
mod lenient;
mod log;
mod loss_class;
mod order;
mod pair;
mod probes;
mod reader;
mod recovery;
mod report;
mod rtt;
mod run;
mod streams;
pub mod tables;
mod totals;

pub use answer::LogAnswer;
pub use loss_class::LossClass;
pub use reader::{LogItem, LogReadError, LogReader};
pub use report::{LogReport, LossReport, ProbeReport, RecoveryReport};
pub use run::{LogDocument, diagnose, diagnose_pair, is_log};
pub use totals::{LogSummary, LogTotals};
