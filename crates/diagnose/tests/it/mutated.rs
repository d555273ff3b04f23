//! Tests with stored captures that are damaged at random. Nothing panics, all packets before the
//! damage are reported, and errors have its place.
//!
//! This runs for hours:
//! `RTOLAB_ROUNDS=1000000 cargo test --release -p rtolab-diagnose --test it mutated`

use std::convert::Infallible;
use std::fs::{File, read_dir};
use std::io::Read;
use std::path::PathBuf;

use rtolab_capture::unpacked;
use rtolab_diagnose::{Document, diagnose};

/// The default number of rounds.
const ROUNDS: u64 = 120;
/// The length of the damaged part of a record, in bytes. It begins with the headers.
const HEADER_BYTES: u64 = 120;

/// SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// A stored capture.
struct StoredCapture {
    bytes: Vec<u8>,
    /// The offsets of its records.
    records: Vec<usize>,
}

fn stored_captures() -> Vec<StoredCapture> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures");
    let files =
        read_dir(folder).expect("stored captures").map(|entry| entry.expect("a file").path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.to_string_lossy().ends_with(".pcapng.gz")).collect();
    files.sort();
    assert!(!files.is_empty());
    files.into_iter().map(StoredCapture::read).collect()
}

impl StoredCapture {
    fn read(path: PathBuf) -> Self {
        let mut bytes = Vec::new();
        let mut input = unpacked(File::open(path).expect("a file")).expect("gzip");
        input.read_to_end(&mut bytes).expect("whole");
        let mut records = Vec::new();
        let mut at = 0;
        while let Some(length) = bytes.get(at + 4..at + 8) {
            records.push(at);
            at += u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
        }
        Self { bytes, records }
    }

    /// The offset of a random byte near the beginning of a random record.
    fn header(&self, numbers: &mut Random) -> usize {
        let record = self.records[numbers.below(self.records.len())];
        (record + numbers.below(HEADER_BYTES as usize)).min(self.bytes.len() - 1)
    }

    /// A damaged copy, and the offset of the first byte that differs.
    fn damaged(&self, numbers: &mut Random, other: &Self) -> (Vec<u8>, usize) {
        let mut bytes = self.bytes.clone();
        let mut first = bytes.len();
        for _ in 0..=numbers.below(8) {
            let at = self.header(numbers).min(bytes.len() - 1);
            first = first.min(at);
            let word = at..(at + 4).min(bytes.len());
            match numbers.below(9) {
                0 => bytes[at] ^= 1 << numbers.below(8),
                1 => bytes[at] = numbers.next() as u8,
                2 => bytes[word].fill(0xff),
                3 => bytes[word].fill(0),
                4 => bytes.truncate(at.max(1)),
                5 => drop(bytes.drain(at..(at + numbers.below(400)).min(bytes.len()))),
                6 => {
                    let copy = bytes[at..(at + numbers.below(2000)).min(bytes.len())].to_vec();
                    bytes.splice(at..at, copy);
                }
                7 => {
                    let from = other.header(numbers);
                    let end = (from + numbers.below(5000)).min(other.bytes.len());
                    bytes.splice(at..at, other.bytes[from..end].iter().copied());
                }
                _ => self.swap_records(&mut bytes, numbers, &mut first),
            }
        }
        (bytes, first)
    }

    /// Swaps two records, so that packets are out of order.
    fn swap_records(&self, bytes: &mut [u8], numbers: &mut Random, first: &mut usize) {
        if bytes.len() != self.bytes.len() {
            return;
        }
        let mut index = || 2 + numbers.below(self.records.len() - 3);
        let (one, two) = (index(), index());
        let (one, two) = (one.min(two), one.max(two));
        let record = |at: usize| bytes[self.records[at]..self.records[at + 1]].to_vec();
        let swapped = [record(two), record(one)];
        if one == two || swapped[0].len() != swapped[1].len() {
            return;
        }
        for (at, record) in [one, two].into_iter().zip(swapped) {
            bytes[self.records[at]..self.records[at] + record.len()].copy_from_slice(&record);
        }
        *first = (*first).min(self.records[one]);
    }
}

fn read(bytes: &[u8]) -> Document {
    let Ok(document) = diagnose::<_, Infallible>(bytes, |_| Ok(()));
    document
}

#[test]
fn packets_before_the_damage_are_reported() {
    let captures = stored_captures();
    let rounds = std::env::var("RTOLAB_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let from = std::env::var("RTOLAB_FIRST").ok().and_then(|first| first.parse().ok());
    let from: u64 = from.unwrap_or(0);
    for round in from..from + rounds.unwrap_or(ROUNDS) {
        let mut numbers = Random(round);
        let [one, other] = [0; 2].map(|_| &captures[numbers.below(captures.len())]);
        let (bytes, first) = one.damaged(&mut numbers, other);
        let start = std::time::Instant::now();
        let document = read(&bytes);
        assert!(start.elapsed().as_secs() < 300, "round {round} takes too long");
        let before = one.records.partition_point(|&start| start <= first) - 1;
        let whole = (before as u64).saturating_sub(2);
        assert!(document.summary.packets >= whole.min(1), "round {round}");
        let counted = document.summary.packets
            + document.skipped.other
            + document.skipped.malformed
            + document.skipped.overlapping
            + document.skipped.untimed
            + document.skipped.fragments
            + document.skipped.unknown_link;
        assert!(counted >= whole, "round {round}: {counted} of {whole}");
        if let Some(error) = document.error {
            assert!(error.contains("byte") || error.contains("pcap"), "round {round}: {error}");
        }
        let all = document.connections.iter().flat_map(|one| &one.retransmissions);
        assert!(all.into_iter().all(|one| (0.0..=1.0).contains(&one.confidence)), "round {round}");
    }
}
