//! Fuzzing models: functions from arbitrary bytes to a checked run. libFuzzer calls them from
//! `fuzz/fuzz_targets`, and this crate's tests replay the inputs that it kept in `fuzz/seeds`.
//!
//! Each takes any bytes, ignores those that encode no input, and panics where a property fails.
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

/// The sender that as many of the first `terms` specify as fit together, over `base`.
fn sender(terms: [u8; 3], base: &Config) -> Option<Config> {
    let known: Vec<_> = specification::terms().collect();
    let named: Vec<_> = terms.iter().map(|term| known[usize::from(*term) % known.len()]).collect();
    (1..=3).rev().find_map(|count| specification::sender(&named[..count].join("+"), base).ok())
}
