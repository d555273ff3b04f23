//! A sans-IO TCP engine: told of segments and of the time, it says what leaves and when it next
//! wants to be woken. It reads no clock, no socket and no random device.
#![forbid(unsafe_code)]
#![no_std]
#![deny(missing_docs)]

extern crate alloc;

pub mod config;
pub mod congestion;
pub mod connection;
pub mod event;
pub mod flight;
pub mod profile;
pub mod receiver;
mod recovery;
pub mod response;
pub mod rtt;
mod segment;
pub mod sender;
mod seq;
pub mod spurious;
pub mod sum;
pub mod wire;

pub use config::Config;
pub use connection::{Answer, Connection, Failure, Listener, Reply, State, refuse};
pub use event::{Event, Retransmission};
pub use flight::{AckFacts, Cause, Flight, Sent};
pub use segment::{Codepoint, Flags, MAX_SACK_BLOCKS, Segment, SynOptions, Timestamps};
pub use seq::Seq;
