//! The engine as a library: two ends exchange segments in memory, beside smoltcp on the same work.
//! Prints a line of JSON for each library.

mod engine;
mod heap;
mod peer;
mod socket;

use std::time::Instant;

/// Payload of a segment, in bytes.
const MSS: usize = 1_000;

/// Send and receive buffers, in bytes.
const BUFFER: usize = 65_535;

/// A connection between two ends without delay, with everything needed to run it.
trait Pair {
    /// The name of the library in the table.
    const NAME: &str;

    /// Both ends, established.
    fn connected() -> Self;

    /// Transfers at least `bytes` in one direction.
    ///
    /// Returns the number of segments with data.
    fn transfer(&mut self, bytes: usize) -> usize;
}

/// Measures a library: the fastest of nine transfers, and the memory of an idle end.
fn measure<P: Pair>(bytes: usize) {
    const PAIRS: usize = 200;
    let before = heap::live();
    let pairs: Vec<P> = (0..PAIRS).map(|_| P::connected()).collect();
    let state = (heap::live() - before) / (2 * PAIRS);
    drop(pairs);

    let mut pair = P::connected();
    pair.transfer(bytes / 10);
    let mut fastest = f64::INFINITY;
    let mut segments = 0;
    for _ in 0..9 {
        let start = Instant::now();
        segments = pair.transfer(bytes);
        fastest = fastest.min(start.elapsed().as_secs_f64() / segments as f64);
    }
    println!(
        r#"{{"library": "{}", "segments": {segments}, "ns_a_segment": {:.1}, "state_bytes": {state}}}"#,
        P::NAME,
        fastest * 1e9,
    );
}

fn main() {
    let bytes = 100_000_000;
    measure::<engine::Engine>(bytes);
    measure::<socket::Sockets>(bytes);
    measure::<peer::Smoltcp>(bytes);
}
