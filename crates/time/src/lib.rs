//! Time, rates and sizes with their units.
//!
//! All of rtolab counts time in whole nanoseconds since the start of a run and rates in whole
//! bits a second: integers, so that a run is the same on every machine.
#![forbid(unsafe_code)]
#![no_std]
#![deny(missing_docs)]

extern crate alloc;

mod instant;
mod quantity;
mod rate;
mod size;
#[cfg(test)]
mod tests;

pub use instant::{Duration, Instant};
pub use quantity::{Dimension, ParseError};
pub use rate::Rate;
pub use size::Bytes;
