#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod answer;
mod capture_points;
mod class;
mod closing;
mod collect;
mod conformance;
mod connection;
mod connection_key;
mod diagnosis;
mod duplicates;
mod episode;
mod evidence;
mod failure;
mod half_connection;
mod held_segments;
mod history;
mod infer;
mod loss_place;
mod missing_direction;
mod open_connections;
mod pair;
mod paired_verdict;
mod pauses;
mod rebound;
mod report;
mod rtt;
mod run;
mod second_pass;
mod silence;
mod stack;
mod summary;
pub mod tables;
mod timers;
mod totals;
mod trace;
mod translation;
mod trigger;
mod vantage;
mod watch;
mod what_if;

/// Figures in words, as answers have them.
pub mod words {
    pub use crate::answer::{bytes, counted, percent, seconds};
}

pub use answer::{CaptureAnswer, ConnectionAnswer, NetworkVerdict, Sentence};
pub use class::TimeoutClass;
pub use closing::ClosingSilence;
pub use conformance::ConformanceFinding;
pub use diagnosis::Diagnosis;
pub use evidence::{Necessity, kinds};
pub use failure::{ConnectionFailure, FailureKind};
pub use history::EvidenceKind;
pub use infer::{Assumptions, NotInferred};
pub use missing_direction::MissingDirection;
pub use pair::{NotPaired, Pair, PairDirection};
pub use report::{
    ConnectionReport, Cost, EpisodeReport, EvidenceReport, Options, RetransmissionReport,
    TimeoutReport, TimerReport, Translation,
};
pub use run::{Document, diagnose, diagnose_pair, diagnose_with_timers};
pub use silence::{IdleTimeout, Silence, Wait};
pub use stack::Guess;
pub use summary::{SkippedPackets, Summary};
pub use timers::MINIMUM_RTOS_MS;
pub use totals::{CaptureTotals, FailedConnections, LossRate, Waits};
pub use trace::{TracedPacket, trace};
pub use trigger::Trigger;
pub use vantage::Vantage;
pub use watch::{SettledLine, SettledRow, Watch, WatchLimits, WatchTotals};
pub use what_if::{infer_scenario, what_if};
