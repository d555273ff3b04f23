//! What fuzzers found of ways through the code: each is gone again, and ends well.

use std::fs;
use std::path::Path;

use rtolab_stories::{capture, channel, flight, header, receiver, scenario, segments};

/// Tries all seeds of a kind; there are some.
fn replay(kind: &str, story: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(kind);
    let mut count = 0;
    for entry in fs::read_dir(&folder).expect("a folder of seeds") {
        let path = entry.expect("a seed").path();
        println!("{}", path.display());
        story(&fs::read(&path).expect("a file"));
        count += 1;
    }
    assert!(count >= 10, "{count} seeds in {}", folder.display());
}

#[test]
fn seeds_of_headers() {
    replay("header", header);
}

#[test]
fn seeds_of_segments() {
    replay("segments", segments);
}

#[test]
fn seeds_of_channels() {
    replay("channel", channel);
}

#[test]
fn seeds_of_captures() {
    replay("capture", capture);
}

#[test]
fn seeds_of_scenarios() {
    replay("scenario", scenario);
}

#[test]
fn seeds_of_flights() {
    replay("flight", flight);
}

#[test]
fn seeds_of_receivers() {
    replay("receiver", receiver);
}
