//! Fuzzing models: functions that decode arbitrary bytes to an input, run it and check properties.
//! libFuzzer calls them from `fuzz/fuzz_targets`. This crate's tests replay the inputs that
//! libFuzzer has stored in `fuzz/seeds`.
//!
//! A model ignores bytes that encode no input, and panics if a property fails.
#![forbid(unsafe_code)]

use rtolab_tcp::{Config, specification};

mod channel;
mod files;
mod flight;
mod header;
mod receiver;
mod segments;

pub use channel::channel;
pub use files::{capture, scenario};
pub use flight::{FlightOp, flight, flight_ops};
pub use header::header;
pub use receiver::{ReceiverOp, ReceiverSetup, receiver, receiver_ops};
pub use segments::segments;

/// A sender with the first of the `terms`, as many as are compatible, and the defaults of `base`;
/// `None` if the first term is invalid.
fn sender(terms: [u8; 3], base: &Config) -> Option<Config> {
    let known: Vec<_> = specification::terms().collect();
    let named: Vec<_> = terms.iter().map(|term| known[usize::from(*term) % known.len()]).collect();
    (1..=3).rev().find_map(|count| specification::sender(&named[..count].join("+"), base).ok())
}
