#![doc = include_str!("../README.md")]
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
