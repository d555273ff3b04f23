//! The simulator: the engine and its links on an event queue and a virtual clock. A run is exactly
//! reproducible.
#![forbid(unsafe_code)]

mod detectors;
mod duplicates;
mod endpoint;
mod error;
mod flow;
mod lab;
mod links;
mod plan;
mod prefetch;
mod queue;
mod sim;
mod timeouts;
mod trace;
mod transit;

pub use error::SimError;
pub use lab::{Lab, Observe};
pub use sim::{Branch, Counters, KeepRunning, RunStatus, Sim};
