#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![no_std]
#![deny(missing_docs)]

extern crate alloc;

mod ca_state;
pub mod config;
pub mod congestion;
pub mod connection;
mod episode;
mod estimate;
pub mod event;
pub mod flight;
pub mod profile;
pub mod receiver;
mod recovery;
mod reduction;
pub mod response;
pub mod rtt;
mod segment;
pub mod sender;
mod seq;
pub mod specification;
pub mod spurious;
mod timer;
mod validation;
pub mod wire;

pub use config::Config;
pub use connection::{Answer, Connection, Failure, Listener, Reply, State, refuse};
pub use event::{Event, Retransmission};
pub use flight::{AckFacts, Cause, Flight, Sent};
pub use rtolab_time::{Duration, Instant};
pub use segment::{Codepoint, Flags, MAX_SACK_BLOCKS, Segment, SynOptions, Timestamps};
pub use seq::Seq;
