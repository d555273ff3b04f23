//! The virtual clock: the engine and its links on an event queue, exactly and repeatably.
#![forbid(unsafe_code)]

mod attend;
mod bench;
mod duplicates;
mod end;
mod error;
mod fetch;
mod flow;
mod judging;
mod lab;
mod links;
mod measure;
mod middle;
mod plan;
mod queue;
mod sim;
mod timeouts;
mod trace;
mod transit;
mod truth;

pub use error::Error;
pub use lab::{Lab, Observe};
pub use sim::{Branch, Counters, GoesOn, Ran, Sim};
