//! The detector of docs/detector.md: the code on the page is compiled and run here.

#[path = "walkthrough/early.rs"]
mod early;
#[path = "it/script/mod.rs"]
mod script;

use early::Early;
use rtolab_tcp::AckFacts;
use rtolab_tcp::config::Response;
use rtolab_tcp::spurious::{self, DetectorKind, Family, Verdict};
use script::{Script, Setup};

const PAGE: &str = include_str!("../../../docs/detector.md");

const EARLY: DetectorKind = include!("walkthrough/detectors_row.rs");

/// Segments 1 to 4 are on a path whose smallest round trip is 100 ms.
fn held_up() -> Script {
    let setup: Setup = Script::sender("newreno").unlisted(EARLY);
    setup.cwnd(4).ssthresh(4).handshake_takes(100).sent(1..=4)
}

include!("walkthrough/early_tests.rs");

#[test]
fn the_page_shows_what_is_compiled_here() {
    let shown: Vec<_> =
        PAGE.split("```rust\n").skip(1).map(|rest| rest.split("```").next()).collect();
    let compiled = [
        include_str!("walkthrough/early.rs"),
        include_str!("walkthrough/detectors_row.rs"),
        include_str!("walkthrough/early_tests.rs"),
    ];
    for (shown, compiled) in shown.iter().zip(compiled) {
        assert_eq!(shown.unwrap_or_default(), compiled);
    }
    assert_eq!(shown.len(), compiled.len());
}
