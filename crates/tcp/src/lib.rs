//! A sans-IO TCP engine: told of segments and of the time, it says what leaves and when it next
//! wants to be woken. It reads no clock, no socket and no random device.
#![no_std]

extern crate alloc;

pub mod config;
mod segment;
mod seq;
pub mod sum;
pub mod wire;

pub use config::Config;
pub use segment::{Flags, MAX_SACK_BLOCKS, Segment, SynOptions, Timestamps};
pub use seq::Seq;
