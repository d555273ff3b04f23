//! What fuzzers try with arbitrary bytes. `fuzz/fuzz_targets` hands it to libFuzzer, which takes a nightly
//! Rust; what libFuzzer found, `fuzz/seeds`, is tried again by this crate's test.
#![forbid(unsafe_code)]

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
