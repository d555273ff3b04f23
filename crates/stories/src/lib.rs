//! What fuzzers try with arbitrary bytes. `fuzz/fuzz_targets` hands it to libFuzzer, which takes a nightly
//! Rust; what libFuzzer found, `fuzz/seeds`, is tried again by this crate's test.

mod channel;
mod files;
mod header;
mod segments;

pub use channel::channel;
pub use files::{capture, scenario};
pub use header::header;
pub use segments::segments;
