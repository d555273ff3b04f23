//! Time and rates with their units.
//!
//! All of rtolab counts time in whole nanoseconds since the start of a run and rates in whole
//! bits a second: integers, so that a run is the same on every machine.
#![no_std]

mod instant;
mod rate;

pub use instant::{Duration, Instant};
pub use rate::Rate;
