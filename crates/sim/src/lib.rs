#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod detectors;
mod duplicates;
mod endpoint;
mod error;
mod flow;
mod in_network;
mod lab;
mod links;
mod outages;
mod per_end;
mod plan;
mod prefetch;
mod queue;
#[cfg(test)]
mod queue_tests;
mod rare;
mod retransmission_log;
mod sim;
mod splitting;
mod trace;
mod transit;

pub use error::SimError;
pub use lab::{Lab, Observe};
pub use rare::{RareEvent, RareQuantity};
pub use sim::{Branch, Counters, KeepRunning, RunStatus, Sim};
